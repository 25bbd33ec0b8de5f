/**
 * The spend that the spend trackers of contracts have counted in the present billing period
 * (docs/explanation/thresholds.md).
 */
import { type Decimal, divideTo20Places, ZERO } from '../../core/decimal.ts';
import { groupBy } from '../../core/group-by.ts';
import type { Commit } from '../../core/terms/commits.ts';
import type { Contract } from '../../core/terms/contract.ts';
import type { SpendTracker } from '../../core/terms/thresholds.ts';
import type { Instant, Interval } from '../../core/time.ts';
import { periodContaining } from '../../rating/periods/billing-periods.ts';
import { countedSpend, type Purchase } from '../../rating/thresholds/spend-trackers.ts';
import { loadCommits } from '../../store/balances/commits.ts';
import { loadPaymentOutcomes } from '../../store/balances/payment-outcomes.ts';
import type { Database, Transaction } from '../../store/base/database.ts';
import { loadInvoicedItems } from '../../store/invoices/invoiced-items.ts';
import { loadRateCards, type RateCard } from '../../store/rate-cards/rate-cards.ts';
import { loadThresholdCharges, type ThresholdCharge } from '../../store/thresholds/threshold-charges.ts';
import { periodTerms } from '../invoice-queue/usage-periods.ts';

interface TrackedContract {
  readonly contract: Contract;
  readonly spendTrackers: readonly SpendTracker[];
}

export interface AccumulatedSpend {
  /** In the unit of the tracker. */
  readonly amount: Decimal;
  readonly period: Interval;
}

/** By alias, by contract; contracts without trackers, and those that are not active, are absent. */
export async function accumulatedSpends(
  db: Database | Transaction,
  contracts: readonly TrackedContract[],
  now: Instant,
): Promise<Map<string, ReadonlyMap<string, AccumulatedSpend>>> {
  const tracked = contracts.flatMap(({ contract, spendTrackers }) => {
    const period = spendTrackers.length === 0 ? null : periodContaining(periodTerms(contract), now);
    return period === null ? [] : [{ contract, spendTrackers, period }];
  });
  if (tracked.length === 0) return new Map();
  const purchasesOf = await loadPurchases(
    db,
    tracked.map(({ contract }) => contract),
    now,
  );
  return new Map(
    tracked.map(({ contract, spendTrackers, period }) => [
      contract.id,
      new Map(
        spendTrackers.map(({ alias, creditTypeId, specifiers }) => {
          const purchases = purchasesOf(contract, creditTypeId);
          return [alias, { amount: countedSpend(specifiers, purchases, period), period }];
        }),
      ),
    ]),
  );
}

/** The purchases up to now that are invoiced on a contract, in a unit. Voided and unpaid ones are none. */
async function loadPurchases(
  db: Database | Transaction,
  contracts: readonly Contract[],
  now: Instant,
): Promise<(contract: Contract, creditTypeId: string) => Purchase[]> {
  const ids = contracts.map(({ id }) => id);
  const commits = (await loadCommits(db, { invoicedOn: ids, includeArchived: false })).filter(isPurchase);
  const items = commits.flatMap(({ invoiceSchedule }) => invoiceSchedule?.items ?? []);
  const invoiced = await loadInvoicedItems(
    db,
    items.map(({ id }) => id),
  );
  const outcomes = await loadPaymentOutcomes(
    db,
    commits.map(({ id }) => id),
  );
  const charges = new Map((await loadThresholdCharges(db, ids)).map((charge) => [charge.commitId, charge]));
  const cards = await loadRateCards(
    db,
    contracts.flatMap(({ rateCardId }) => rateCardId ?? []),
  );
  const isMade = (item: { readonly id: string; readonly timestamp: Instant }) =>
    item.timestamp <= now && invoiced.get(item.id)?.status !== 'VOID';
  const paid = commits.filter(({ id }) => outcomes.get(id) !== 'FAILED');
  const byContract = groupBy(paid, ({ contractId, invoiceContractId }) => contractId ?? invoiceContractId);
  return ({ id, rateCardId }, creditTypeId) =>
    (byContract.get(id) ?? []).flatMap((commit) => {
      const perUnit = fiatPerUnit(commit, creditTypeId, cards.get(rateCardId ?? ''));
      if (perUnit === null) return [];
      const made = (commit.invoiceSchedule?.items ?? []).filter(isMade);
      return made.map(({ timestamp, amount }) =>
        inUnit({ at: timestamp, amount, ...kindOf(commit, amount, charges.get(commit.id)) }, perUnit),
      );
    });
}

/** Children of recurring commits are neither bought by hand nor by a threshold. */
function isPurchase({ type, invoiceSchedule, recurringCommitId }: Commit): boolean {
  return (
    type === 'PREPAID' &&
    recurringCommitId === null &&
    invoiceSchedule !== null &&
    !invoiceSchedule.doNotInvoice
  );
}

function kindOf(
  { countsAsDiscounted }: Commit,
  amount: Decimal,
  charge: ThresholdCharge | undefined,
): Pick<Purchase, 'source' | 'discounted'> {
  if (charge !== undefined) return { source: 'THRESHOLD_RECHARGE', discounted: charge.discountedAmount };
  return { source: 'MANUAL', discounted: countsAsDiscounted === true ? amount : ZERO };
}

/** `same` where it is invoiced in the unit; the conversion rate where it grants the custom unit; null: not counted. */
function fiatPerUnit(
  { accessSchedule, invoiceSchedule }: Commit,
  creditTypeId: string,
  card: RateCard | undefined,
): Decimal | 'same' | null {
  if (invoiceSchedule?.creditTypeId === creditTypeId) return 'same';
  if (accessSchedule.creditTypeId !== creditTypeId) return null;
  if (card === undefined || invoiceSchedule?.creditTypeId !== card.fiatCreditTypeId) return null;
  const conversion = card.conversions.find((one) => one.customCreditTypeId === creditTypeId);
  return conversion?.fiatPerCustomCredit.gt(ZERO) ? conversion.fiatPerCustomCredit : null;
}

function inUnit(purchase: Purchase, perUnit: Decimal | 'same'): Purchase {
  if (perUnit === 'same') return purchase;
  return {
    ...purchase,
    amount: divideTo20Places(purchase.amount, perUnit),
    discounted: divideTo20Places(purchase.discounted, perUnit),
  };
}

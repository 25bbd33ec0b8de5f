/** Loads the contracts whose thresholds are evaluated. */
import { USD_CENTS } from '../../core/credit-types.ts';
import { type Decimal, ONE } from '../../core/decimal.ts';
import type { PrepaidBalanceThreshold, SpendThreshold, SpendTracker } from '../../core/terms/thresholds.ts';
import type { Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../../store/base/database.ts';
import {
  loadPrepaidBalanceThresholds,
  loadSpendThresholds,
  loadSpendTrackers,
} from '../../store/contracts/contract-settings.ts';
import { type Contract, loadContracts } from '../../store/contracts/contracts.ts';
import { loadRateCards } from '../../store/rate-cards/rate-cards.ts';

/** An active contract with an enabled threshold. Plain values, so that two states can be compared as JSON. */
export interface ThresholdContract {
  readonly contract: Contract;
  /** Null: the contract has none, or it is disabled. */
  readonly prepaidBalance: PrepaidBalanceThreshold | null;
  readonly spend: SpendThreshold | null;
  readonly spendTrackers: readonly SpendTracker[];
  /** The currency of its rate card. */
  readonly fiatCreditTypeId: string;
  /** The value of one unit of a custom pricing unit in the currency. */
  readonly conversions: readonly (readonly [customCreditTypeId: string, fiat: Decimal])[];
}

/** A fixed number of queries for any number of customers. */
export async function loadThresholdContracts(
  db: Database | Transaction,
  customerIds: readonly string[],
  now: Instant,
): Promise<ThresholdContract[]> {
  const contracts = await loadContracts(db, { customerIds, coveringDate: now });
  const ids = contracts.map(({ id }) => id);
  const prepaid = await loadPrepaidBalanceThresholds(db, ids);
  const spend = await loadSpendThresholds(db, ids);
  const enabled = contracts.filter(({ id }) => [prepaid, spend].some((all) => all.get(id)?.isEnabled));
  const trackers = await loadSpendTrackers(
    db,
    enabled.map(({ id }) => id),
  );
  const cards = await loadRateCards(
    db,
    enabled.flatMap(({ rateCardId }) => rateCardId ?? []),
  );
  return enabled.map((contract) => {
    const card = cards.get(contract.rateCardId ?? '');
    return {
      contract,
      prepaidBalance: ifEnabled(prepaid.get(contract.id)),
      spend: ifEnabled(spend.get(contract.id)),
      spendTrackers: trackers.get(contract.id) ?? [],
      fiatCreditTypeId: card?.fiatCreditTypeId ?? USD_CENTS.id,
      conversions: (card?.conversions ?? []).map(
        ({ customCreditTypeId, fiatPerCustomCredit }) => [customCreditTypeId, fiatPerCustomCredit] as const,
      ),
    };
  });
}

function ifEnabled<Threshold extends { readonly isEnabled: boolean }>(
  threshold: Threshold | undefined,
): Threshold | null {
  return threshold?.isEnabled ? threshold : null;
}

/** The value of one unit in the currency of the contract; null where its rate card has none. */
export function worthOf(
  { fiatCreditTypeId, conversions }: Pick<ThresholdContract, 'fiatCreditTypeId' | 'conversions'>,
  creditTypeId: string,
): Decimal | null {
  if (creditTypeId === fiatCreditTypeId) return ONE;
  return conversions.find(([unit]) => unit === creditTypeId)?.[1] ?? null;
}

/**
 * Charges of subscriptions on an issued usage invoice as its composites counted them: before balances paid. A line that a
 * balance pays for has the price of its payer, so such charges are priced again by the terms kept with the invoice.
 */
import { sum } from '../../../core/decimal.ts';
import { assert } from '../../../core/errors.ts';
import { groupBy } from '../../../core/group-by.ts';
import { type Invoice, isSubscriptionLine, type SubscriptionInvoiceLine } from '../../../core/invoice.ts';
import type { InvoiceTerms } from '../../../core/invoice-terms.ts';
import type { ChargeTermsOf } from '../../../rating/explain/charge-terms.ts';
import { isPaidByBalance } from '../../../rating/explain/explain-share.ts';
import type { RatedSubscriptionLine } from '../../../rating/lines/types.ts';
import { unpaidChargeTotal } from '../../../rating/subscriptions/unpaid-charge.ts';
import type { Database, Transaction } from '../../../store/base/database.ts';
import { finalizedUsageInvoices } from '../../../store/invoices/invoice-lists.ts';
import { loadInvoiceTerms } from '../../../store/invoices/invoice-terms.ts';
import { withLines } from '../../../store/invoices/whole-invoices.ts';
import { inLastHour, type JoinedSchedule, NOTHING_JOINED } from '../scheduled/joined-lines.ts';
import { readChargeTerms } from './explained-charges.ts';
import { cardOf, type InvoiceContext, termsOf, type UsageTarget } from './invoice-context.ts';

/** The context of the invoice with the charges that its composites counted. */
export async function withCountedCharges(
  db: Database | Transaction,
  context: InvoiceContext,
  invoice: Invoice,
  terms: InvoiceTerms,
): Promise<InvoiceContext> {
  const countedCharges = await issuedChargesToCount(db, invoice, terms);
  if (countedCharges.length === 0) return context;
  return withJoined(context, invoice.contractId, { countedCharges });
}

/**
 * The context with the charges on earlier invoices of the billing periods of these targets: composites continue where
 * they stopped. No query where no target begins inside its billing period.
 */
export async function withEarlierCharges(
  db: Database | Transaction,
  context: InvoiceContext,
  targets: readonly UsageTarget[],
): Promise<InvoiceContext> {
  let found = context;
  for (const { contract, period } of targets) {
    if (period.countedFrom === period.start) continue;
    const { composites } = cardOf(context, contract);
    if (composites.length === 0 || !termsOf(context, contract).compositesCountSubscriptions) continue;
    const heads = await finalizedUsageInvoices(db, [contract.id], period.countedFrom);
    const issued = await withLines(
      db,
      heads.filter((head) => head.period.end <= period.start),
    );
    const earlier: RatedSubscriptionLine[] = [...(found.joined.get(contract.id)?.earlierCharges ?? [])];
    for (const invoice of issued) {
      if (invoice.frozen === null) continue;
      const terms = await loadInvoiceTerms(db, invoice.frozen);
      earlier.push(...inLastHour(await issuedChargesToCount(db, invoice, terms), invoice.period));
    }
    if (earlier.length > 0) found = withJoined(found, contract.id, { earlierCharges: earlier });
  }
  return found;
}

function withJoined(
  context: InvoiceContext,
  contractId: string,
  charges: Pick<JoinedSchedule, 'countedCharges' | 'earlierCharges'>,
): InvoiceContext {
  const joined = { ...(context.joined.get(contractId) ?? NOTHING_JOINED), ...charges };
  return { ...context, joined: new Map([...context.joined, [contractId, joined]]) };
}

async function issuedChargesToCount(
  db: Database | Transaction,
  invoice: Invoice,
  terms: InvoiceTerms,
): Promise<readonly SubscriptionInvoiceLine[]> {
  if (terms.card.composites.length === 0 || !terms.contract.compositesCountSubscriptions) return [];
  const lines = invoice.lines.filter(isSubscriptionLine).filter(({ type }) => type === 'subscription');
  if (!lines.some(isPaidByBalance)) return lines;
  // The instant matters only if no terms are stored.
  const termsOf = await readChargeTerms(db, invoice, terms, invoice.issuedAt);
  const charges = groupBy(lines, ({ scheduleItemId }) => scheduleItemId);
  return [...charges.values()].flatMap((own) => (own.some(isPaidByBalance) ? unpaid(own, termsOf) : own));
}

/** A charge as one line; if its terms are no longer known, its unchanged lines. */
function unpaid(
  own: readonly SubscriptionInvoiceLine[],
  termsOf: ChargeTermsOf,
): readonly SubscriptionInvoiceLine[] {
  const [first] = own;
  assert(first !== undefined, 'a charge has a line');
  const terms = termsOf(first);
  const prices = terms?.pricesFor(null);
  if (terms === null || !prices || first.unitsBelow === null) return own;
  const quantity = sum(own.map((line) => line.quantity));
  const bands = prices.bandsFor(first.unitsBelow.plus(quantity));
  const total = unpaidChargeTotal({ ...first, unitsBelow: first.unitsBelow, quantity }, bands, terms);
  return [{ ...first, payer: null, quantity, total }];
}

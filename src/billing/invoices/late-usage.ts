/**
 * Usage of a billing period that arrived after its invoice was issued (docs/invoices.md, "Late usage"): the
 * invoice is recomputed from today's events under its stored terms, and compared with the issued one.
 */
import { assert, Refusal } from '../../core/errors.ts';
import type { InvoiceTerms } from '../../core/invoice-terms.ts';
import type { ClickHouse } from '../../metering/client/clickhouse.ts';
import { type LateUsage, lateUsage } from '../../rating/invoice/late-usage.ts';
import { customerRefs } from '../../store/customers.ts';
import type { Database } from '../../store/database.ts';
import { loadInvoiceTerms } from '../../store/invoice-terms.ts';
import { loadInvoiceWarnings } from '../../store/invoice-warnings.ts';
import type { IssuedInvoice } from '../../store/invoices.ts';
import { type InvoiceContext, invoiceContext, type UsageTarget } from './invoice-context.ts';
import { rateTarget } from './rate-target.ts';
import { readUsageAnswers } from './usage-answers.ts';

interface Deps {
  readonly db: Database;
  readonly clickhouse: ClickHouse;
}

/**
 * The late usage of an invoice. Null if the usage cannot be computed any more, for example because it exceeds
 * the limit of one answer: reading an issued invoice must not fail because of that.
 */
export async function findLateUsage(deps: Deps, invoice: IssuedInvoice): Promise<LateUsage[] | null> {
  const { customerId, contractId, period, cardTermsId } = invoice;
  const terms = await loadInvoiceTerms(deps.db, invoice);
  const target = { contract: { id: contractId, customerId, rateCardId: cardTermsId }, period };
  const context = await keptContext(deps.db, target, terms);
  const warnings = await loadInvoiceWarnings(deps.db, [invoice.id], null);
  try {
    const usage = await readUsageAnswers(deps.clickhouse, [target], context);
    const now = rateTarget(target, context, usage, null);
    return lateUsage(now, { lines: invoice.lines, warnings: warnings.get(invoice.id) ?? [] });
  } catch (error) {
    if (isBeyondComputing(error)) return null;
    throw error;
  }
}

/** True for errors that a draft would have too; false for a store that is temporarily unavailable. */
function isBeyondComputing(error: unknown): boolean {
  return error instanceof Refusal && (error.kind === 'too_large' || error.kind === 'invalid');
}

async function keptContext(
  db: Database,
  target: UsageTarget,
  { card, contract }: InvoiceTerms,
): Promise<InvoiceContext> {
  const { id, customerId, rateCardId } = target.contract;
  assert(rateCardId !== null, 'an issued usage invoice has the terms of a rate card');
  // A name that was given to the customer later may bring events of the period along; one that was taken
  // away does not take back what was billed.
  const refs = (await customerRefs(db, [customerId])).get(customerId) ?? [];
  const customerRefsThenAndNow = [...new Set([...contract.customerRefs, ...refs])];
  return invoiceContext(
    db,
    new Map([[rateCardId, card]]),
    new Map([[id, { ...contract, customerRefs: customerRefsThenAndNow }]]),
  );
}

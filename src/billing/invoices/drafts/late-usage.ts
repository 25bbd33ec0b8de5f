/**
 * Usage of a billing period that arrived after its invoice was issued (docs/explanation/invoices.md, "Late usage"): the
 * invoice is recomputed from the current events under its stored terms, and compared with the issued one.
 */
import { assert, Refusal } from '../../../core/errors.ts';
import { resultInChunks } from '../../../core/in-chunks.ts';
import {
  type InvoiceLine,
  type InvoiceWarning,
  isUsageLine,
  type UnpricedUsage,
} from '../../../core/invoice.ts';
import type { InvoiceTerms } from '../../../core/invoice-terms.ts';
import { type LateUsage, lateUsage } from '../../../rating/invoices/late-usage.ts';
import type { Database } from '../../../store/base/database.ts';
import { customerRefs } from '../../../store/customers/customers.ts';
import { loadInvoiceTerms } from '../../../store/invoices/invoice-terms.ts';
import { loadInvoiceWarnings } from '../../../store/invoices/invoice-warnings.ts';
import { countedUpToOf, type IssuedInvoice } from '../../../store/invoices/invoices.ts';
import type { BillingContext } from '../../billing-context.ts';
import { rateTarget } from '../rate-target/rate-target.ts';
import { type InvoiceContext, invoiceContext, type UsageTarget } from '../terms/invoice-context.ts';
import { withCountedCharges, withEarlierCharges } from '../terms/issued-charges.ts';
import { NO_EVENT, readUsageAnswers } from '../usage/usage-answers.ts';

const WHOLE = { size: null, within: null } as const;

/**
 * The late usage of an invoice. Null if the usage can no longer be computed, for example because it exceeds the limit
 * of one answer: reading an issued invoice must not fail because of that.
 */
export async function findLateUsage(
  billing: BillingContext,
  invoice: IssuedInvoice,
): Promise<LateUsage[] | null> {
  const { customerId, contractId, period, frozen } = invoice;
  // A scheduled invoice has no usage.
  if (frozen === null) return [];
  const terms = await loadInvoiceTerms(billing.db, frozen);
  const target = { contract: { id: contractId, customerId, rateCardId: frozen.cardTermsId }, period };
  const kept = await keptContext(billing.db, target, terms);
  const counting = await withCountedCharges(billing.db, kept, invoice, terms);
  const context = await withEarlierCharges(billing.db, counting, [target]);
  const warnings = (await loadInvoiceWarnings(billing.db, [invoice.id], null)).get(invoice.id) ?? [];
  const wasListed = (productId: string) =>
    !warnings.some((warning) => warning.kind === 'too_many_lines' && warning.productId === productId);
  try {
    const usage = await readUsageAnswers(billing.usageSource, [target], context);
    const now = await rateTarget(billing, { target, context, usage, windows: WHOLE });
    // Lines that can no longer be computed or listed are not removed usage.
    if (now.problems.length > 0 || now.unlisted.some(({ productId }) => wasListed(productId))) return null;
    // Late events that cannot be counted have no quantity.
    if (uncountedEvents(now.warnings) !== uncountedEvents(warnings)) return null;
    const then = await billedLines(billing, invoice, target, context);
    return await resultInChunks(
      lateUsage(
        { lines: now.lines, warnings: now.warnings.filter(isUnpriced) },
        { lines: then, warnings: warnings.filter(isUnpriced) },
      ),
    );
  } catch (error) {
    if (isBeyondComputing(error)) return null;
    throw error;
  }
}

/**
 * The amounts that the invoice billed before commits and credits. Balances may have had other prices than the customer:
 * lines that they pay for are recomputed from the events that counted.
 */
async function billedLines(
  billing: BillingContext,
  { id, lines }: IssuedInvoice,
  target: UsageTarget,
  context: InvoiceContext,
): Promise<readonly InvoiceLine[]> {
  if (!lines.some((line) => isUsageLine(line) && line.payer !== null)) return lines;
  const countedUpTo = (await countedUpToOf(billing.db, [id])).get(id) ?? NO_EVENT;
  const usage = await readUsageAnswers(billing.usageSource, [target], context, countedUpTo);
  return (await rateTarget(billing, { target, context, usage, windows: WHOLE })).lines;
}

/** One text for the events that a computation has excluded. */
function uncountedEvents(warnings: readonly InvoiceWarning[]): string {
  return JSON.stringify(
    warnings.flatMap((warning) =>
      warning.kind === 'uncounted_events'
        ? [[warning.billableMetricId, warning.eventCount, warning.transactionIds]]
        : [],
    ),
  );
}

function isUnpriced(warning: InvoiceWarning): warning is UnpricedUsage {
  return warning.kind === 'unpriced_usage';
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
  // A later alias of the customer may add events to the period; a removed one does not take back billed usage.
  const refs = (await customerRefs(db, [customerId])).get(customerId) ?? [];
  const customerRefsThenAndNow = [...new Set([...contract.customerRefs, ...refs])];
  return invoiceContext(
    db,
    new Map([[rateCardId, card]]),
    new Map([[id, { ...contract, customerRefs: customerRefsThenAndNow }]]),
  );
}

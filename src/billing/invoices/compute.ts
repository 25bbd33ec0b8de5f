/**
 * Computes usage invoices. Drafts, breakdowns and finalization all use this computation with the same input.
 *
 * Usage is always read by the hour, so that lines and their order do not depend on the requested windows.
 */
import type { Clock } from '../../core/clock.ts';
import type { Invoice, InvoiceWarning } from '../../core/invoice.ts';
import type { CardTerms, InvoiceTerms } from '../../core/invoice-terms.ts';
import type { Instant } from '../../core/time.ts';
import type { ClickHouse } from '../../metering/client/clickhouse.ts';
import { invoiceTotal, type WindowSize } from '../../rating/invoice/breakdown.ts';
import type { RatedLine } from '../../rating/types.ts';
import { versionAt } from '../../rating/usage/product-spans.ts';
import type { Database, Transaction } from '../../store/database.ts';
import { cardOf, type InvoiceContext, loadInvoiceContext, termsOf } from './invoice-context.ts';
import { rateTarget } from './rate-target.ts';
import { readUsageAnswers, type UsageAnswers } from './usage-answers.ts';
import { finalizationAt, type InvoiceTarget, usageInvoiceId } from './usage-periods.ts';

/** A usage invoice as of now, with its lines over time. Always a DRAFT: nothing is stored. */
export interface ComputedInvoice {
  readonly invoice: Invoice & { readonly lines: readonly RatedLine[] };
  readonly warnings: readonly InvoiceWarning[];
  /** The terms that it was computed from. */
  readonly terms: InvoiceTerms;
  /** No event counts that was ingested later: epoch microseconds. One moment for all metrics. */
  readonly ingestedUpTo: string;
}

export interface ComputeDeps {
  readonly clickhouse: ClickHouse;
  readonly clock: Clock;
  readonly gracePeriodHours: number;
}

/** Usage invoices to compute, with all their input from PostgreSQL. */
export interface PlannedInvoices {
  readonly targets: readonly InvoiceTarget[];
  readonly context: InvoiceContext;
}

/** A fixed number of queries for any number of invoices. Must run in the snapshot that found the targets. */
export async function planInvoices(
  db: Database | Transaction,
  targets: readonly InvoiceTarget[],
): Promise<PlannedInvoices> {
  return { targets, context: await loadInvoiceContext(db, targets) };
}

/**
 * Computes any number of usage invoices with one ClickHouse query per metric, grouping and period for all
 * customers together. Lines record windows of `windowSize`, or one window for the whole period where it is
 * null. In the order of the targets.
 */
export async function computeUsageInvoices(
  deps: ComputeDeps,
  { targets, context }: PlannedInvoices,
  windowSize: WindowSize | null,
): Promise<ComputedInvoice[]> {
  if (targets.length === 0) return [];
  const usage = await readUsageAnswers(deps.clickhouse, targets, context);
  return targets.map((target) => computeOne(deps, target, context, usage, windowSize));
}

/** Invoices computed at once. With all hours, each takes a few megabytes at worst. */
const GROUP_SIZE = 25;

/**
 * The same for the many invoices of a run, group by group. At most two groups are in memory: one is yielded
 * while the usage of the next is read.
 */
export async function* computeInGroups(
  deps: ComputeDeps,
  { targets, context }: PlannedInvoices,
  windowSize: WindowSize | null,
): AsyncGenerator<ComputedInvoice[], void, undefined> {
  const read = (from: number) => {
    const group = targets.slice(from, from + GROUP_SIZE);
    const usage = group.length === 0 ? null : readUsageAnswers(deps.clickhouse, group, context);
    // If the consumer stops early, nothing awaits this promise.
    usage?.catch(() => undefined);
    return { group, usage };
  };
  let current = read(0);
  for (let from = GROUP_SIZE; current.usage !== null; from += GROUP_SIZE) {
    const usage = await current.usage;
    const { group } = current;
    current = read(from);
    yield group.map((target) => computeOne(deps, target, context, usage, windowSize));
  }
}

function computeOne(
  deps: ComputeDeps,
  target: InvoiceTarget,
  context: InvoiceContext,
  usage: UsageAnswers,
  windowSize: WindowSize | null,
): ComputedInvoice {
  const { contract, period } = target;
  const { lines, warnings } = rateTarget(target, context, usage, windowSize);
  const { terms: card } = cardOf(context, contract);
  return {
    warnings,
    terms: { card, contract: termsOf(context, contract) },
    ingestedUpTo: usage.ingestedUpTo,
    invoice: {
      id: usageInvoiceId(contract.id, period.start),
      customerId: contract.customerId,
      contractId: contract.id,
      type: 'USAGE',
      status: 'DRAFT',
      period,
      issuedAt: finalizationAt(period, deps.gracePeriodHours),
      creditTypeId: card.fiatCreditTypeId,
      total: invoiceTotal(lines, card.fiatCreditTypeId),
      netPaymentTermsDays: contract.netPaymentTermsDays,
      lines: withPresentTags(lines, card, deps.clock.now()),
    },
  };
}

/** A line has the product's present tags, unlike its name, which is that of the line's time. */
function withPresentTags(lines: readonly RatedLine[], card: CardTerms, now: Instant): RatedLine[] {
  const products = new Map(card.products.map(({ product }) => [product.id, product]));
  return lines.map((line) => {
    if (line.type !== 'usage') return line;
    const product = products.get(line.productId);
    return product === undefined ? line : { ...line, productTags: versionAt(product, now).tags };
  });
}

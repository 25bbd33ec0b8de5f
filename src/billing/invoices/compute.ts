/**
 * Computes usage invoices. Drafts, breakdowns and finalization all use this computation with the same input.
 *
 * Usage is always read by the hour, so that lines and their order do not depend on the requested windows.
 */
import type { Product } from '../../core/catalogue.ts';
import type { Clock } from '../../core/clock.ts';
import type { Invoice, InvoiceWarning } from '../../core/invoice.ts';
import type { InvoiceTerms } from '../../core/invoice-terms.ts';
import type { Instant, Interval } from '../../core/time.ts';
import { invoiceTotal, type WindowSize } from '../../rating/invoice/breakdown.ts';
import type { RatedLine } from '../../rating/types.ts';
import { versionAt } from '../../rating/usage/product-spans.ts';
import type { Database, Transaction } from '../../store/database.ts';
import type { InvoiceAlarms } from './invoice-alarms.ts';
import { cardOf, type InvoiceContext, loadInvoiceContext, termsOf } from './invoice-context.ts';
import {
  type RateDeps,
  type RatedTarget,
  type RecordedWindows,
  rateTarget,
  UnratableError,
} from './rate-target.ts';
import { readUsageAnswers, type UsageAnswers } from './usage-answers.ts';
import { finalizationAt, type InvoiceTarget, usageInvoiceId } from './usage-periods.ts';

/** A usage invoice as of now, with its lines over time. Always a DRAFT: nothing is stored. */
export interface ComputedInvoice {
  readonly invoice: Invoice & { readonly lines: readonly RatedLine[] };
  readonly warnings: readonly InvoiceWarning[];
  /** Why metrics could not be evaluated: such an invoice cannot be issued. */
  readonly problems: RatedTarget['problems'];
  /** The hours of its lines where they are too many for memory; null where the lines have them as windows. */
  readonly hours: RatedTarget['hours'];
  /** The terms that it was computed from. */
  readonly terms: InvoiceTerms;
  /** No event counts that was ingested later: epoch microseconds. One moment for all metrics. */
  readonly ingestedUpTo: string;
}

export interface ComputeDeps extends RateDeps {
  readonly clock: Clock;
  readonly gracePeriodHours: number;
  /** Told of every invoice that is computed with warnings. */
  readonly alarms?: InvoiceAlarms;
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
  within: readonly Interval[] = [],
): Promise<ComputedInvoice[]> {
  if (targets.length === 0) return [];
  const usage = await readUsageAnswers(deps.clickhouse, targets, context);
  const computed: ComputedInvoice[] = [];
  for (const [index, target] of targets.entries()) {
    const windows = { size: windowSize, within: within[index] ?? null };
    computed.push(await computeOne(deps, target, context, usage, windows));
  }
  return computed;
}

/**
 * The drafts of a page. One that cannot be computed does not withhold the others: it has a warning instead of
 * lines. In the order of the targets.
 */
export async function computeDrafts(
  deps: ComputeDeps,
  { targets, context }: PlannedInvoices,
  countedUpTo: string | null = null,
): Promise<ComputedDraft[]> {
  if (targets.length === 0) return [];
  const usage = await readUsageAnswers(deps.clickhouse, targets, context, countedUpTo);
  const drafts: ComputedDraft[] = [];
  for (const target of targets) {
    try {
      drafts.push(await computeOne(deps, target, context, usage, { size: null, within: null }));
    } catch (error) {
      if (!(error instanceof UnratableError)) throw error;
      deps.alarms?.notComputed(usageInvoiceId(target.contract.id, target.period.start), error);
      drafts.push(notComputed(deps, target, context));
    }
  }
  return drafts;
}

/** What of a computed invoice is shown. */
export type ComputedDraft = Pick<ComputedInvoice, 'invoice' | 'warnings' | 'terms'>;

function notComputed(deps: ComputeDeps, target: InvoiceTarget, context: InvoiceContext): ComputedDraft {
  const { start, end } = target.period;
  return {
    invoice: invoiceOf(deps, target, context, []),
    warnings: [{ kind: 'not_computed', interval: { start, end } }],
    terms: { card: cardOf(context, target.contract).terms, contract: termsOf(context, target.contract) },
  };
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
    const computed: ComputedInvoice[] = [];
    for (const target of group) {
      computed.push(await computeOne(deps, target, context, usage, { size: windowSize, within: null }));
    }
    yield computed;
  }
}

async function computeOne(
  deps: ComputeDeps,
  target: InvoiceTarget,
  context: InvoiceContext,
  usage: UsageAnswers,
  windows: RecordedWindows,
): Promise<ComputedInvoice> {
  const { contract } = target;
  const { lines, warnings, problems, hours } = await rateTarget(deps, target, context, usage, windows);
  const { terms: card } = cardOf(context, contract);
  const invoice = invoiceOf(deps, target, context, lines);
  deps.alarms?.computed(invoice, warnings);
  return {
    invoice,
    warnings,
    problems,
    hours,
    terms: { card, contract: termsOf(context, contract) },
    ingestedUpTo: usage.ingestedUpTo,
  };
}

function invoiceOf(
  deps: ComputeDeps,
  { contract, period }: InvoiceTarget,
  context: InvoiceContext,
  lines: readonly RatedLine[],
): ComputedInvoice['invoice'] {
  const { terms: card } = cardOf(context, contract);
  const scheduled = context.joined.get(contract.id) ?? [];
  const products = [...card.products, ...card.composites, ...scheduled].map(({ product }) => product);
  return {
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
    isHistorical: false,
    regeneratedFromInvoiceId: null,
    lines: withPresentTags(lines, products, deps.clock.now()),
  };
}

/** A line has the product's present tags, unlike its name, which is that of the line's time. */
function withPresentTags(lines: readonly RatedLine[], shown: readonly Product[], now: Instant): RatedLine[] {
  const products = new Map(shown.map((product) => [product.id, product]));
  return lines.map((line) => {
    if (line.type === 'cpu_conversion') return line;
    const product = products.get(line.productId);
    return product === undefined ? line : { ...line, productTags: versionAt(product, now).tags };
  });
}

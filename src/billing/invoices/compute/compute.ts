/**
 * Computes usage invoices. Drafts, breakdowns and finalization all use this computation with the same input.
 *
 * Usage is always read by the hour, so that lines and their order do not depend on the requested windows.
 */

import type { Product } from '../../../core/catalogue.ts';
import { assert } from '../../../core/errors.ts';
import { type Invoice, type InvoiceWarning, isConversionLine } from '../../../core/invoice.ts';
import type { InvoiceTerms } from '../../../core/invoice-terms.ts';
import type { Instant, Interval } from '../../../core/time.ts';
import type { BalanceBook } from '../../../rating/balances/balance-book.ts';
import { invoiceTotal, type WindowSize } from '../../../rating/invoices/breakdown.ts';
import type { RatedLine } from '../../../rating/lines/types.ts';
import { versionAt } from '../../../rating/quantities/product-spans.ts';
import { countMemory } from '../../../runtime/answer-memory.ts';
import { createBooks } from '../../balances/books.ts';
import type { BillingContext } from '../../billing-context.ts';
import { finalizationAt, type InvoiceTarget, usageInvoiceId } from '../../invoice-queue/usage-periods.ts';
import type { RecordedWindows } from '../rate-target/plan-rating.ts';
import { type RatedTarget, rateTarget } from '../rate-target/rate-target.ts';
import { unpricedWarnings } from '../rate-target/unpriced-warnings.ts';
import { UnratableError } from '../rate-target/unratable.ts';
import type { ScheduledDraft } from '../scheduled/drafts.ts';
import { createScheduledDraws, type ScheduledDraws } from '../scheduled/drawing.ts';
import { cardOf, type InvoiceContext, termsOf } from '../terms/invoice-context.ts';
import { draftMoment } from '../usage/draft-moment.ts';
import { readUsageAnswers, type UsageAnswers } from '../usage/usage-answers.ts';
import { inDrawdownOrder, type PlannedInvoices } from './plan-invoices.ts';

/** The current state of a usage invoice, with its lines over time. Always a DRAFT: nothing is stored. */
export interface ComputedInvoice {
  readonly invoice: Invoice & { readonly lines: readonly RatedLine[] };
  readonly warnings: readonly InvoiceWarning[];
  /** Why metrics could not be evaluated; such an invoice cannot be issued. */
  readonly problems: RatedTarget['problems'];
  /** The hours of its lines if they are too many for memory; null if the lines have them as windows. */
  readonly hours: RatedTarget['hours'];
  /** The amounts that it takes from balances. */
  readonly deductions: RatedTarget['deductions'];
  /** The balances offered to it, in burn-down order. */
  readonly balances: RatedTarget['balances'];
  /** The terms that it was computed from. */
  readonly terms: InvoiceTerms;
  /** Events ingested later do not count: epoch microseconds. One moment for all metrics. */
  readonly ingestedUpTo: string;
}

/**
 * Computes any number of usage invoices with at most one ClickHouse query per metric, grouping and period for all
 * customers together. Lines record windows of `windowSize`, or one window for the whole period if it is null. In the
 * order of the targets. Events ingested after `countedUpTo` do not count; null: all do.
 */
export async function computeUsageInvoices(
  billing: BillingContext,
  plan: PlannedInvoices,
  windowSize: WindowSize | null,
  within: readonly Interval[] = [],
  countedUpTo: string | null = null,
): Promise<ComputedInvoice[]> {
  const windows = plan.targets.map((_, index) => ({ size: windowSize, within: within[index] ?? null }));
  return await computedInWindows(billing, plan, windows, countedUpTo);
}

/**
 * `computeUsageInvoices` with windows in the time `within` of each. If usage is too large for memory, the hours of the
 * whole period are computed separately after the lines.
 */
export async function computeWithLaterHours(
  billing: BillingContext,
  plan: PlannedInvoices,
  size: WindowSize,
  within: readonly Interval[],
  countedUpTo: string | null,
): Promise<ComputedInvoice[]> {
  const windows = within.map((own) => ({ size, within: own, areLaterIfSliced: true }));
  return await computedInWindows(billing, plan, windows, countedUpTo);
}

async function computedInWindows(
  billing: BillingContext,
  plan: PlannedInvoices,
  windows: readonly RecordedWindows[],
  countedUpTo: string | null,
): Promise<ComputedInvoice[]> {
  const windowsOf = new Map(plan.targets.map((target, index) => [target, windows[index] ?? WHOLE_PERIOD]));
  const computed = new Map<InvoiceTarget, ComputedInvoice>();
  await asStep(billing, plan, async () => {
    for await (const [target, compute] of eachInvoice(billing, plan, countedUpTo)) {
      computed.set(target, counted(await compute(windowsOf.get(target) ?? WHOLE_PERIOD)));
    }
  });
  return inOrderOf(plan.targets, computed);
}

/** Memory of a line, including its serialized form. */
const LINE_BYTES = 2_048;

function counted(computed: ComputedInvoice): ComputedInvoice {
  countMemory(computed.invoice.lines.length * LINE_BYTES);
  return computed;
}

async function asStep(
  { tracer }: BillingContext,
  { targets }: PlannedInvoices,
  compute: () => Promise<void>,
): Promise<void> {
  await tracer.step('compute drafts', { 'tallyhouse.invoices': targets.length }, compute);
}

/**
 * The drafts of a page. A draft that cannot be computed does not fail the others: it has a warning instead of lines. In
 * the order of the targets.
 */
export async function computeDrafts(
  billing: BillingContext,
  plan: PlannedInvoices,
  countedUpTo: string | null = null,
  draws?: ScheduledDraws,
): Promise<ComputedDraft[]> {
  return draftsOf(billing, plan, { ...WHOLE_PERIOD, wanted: 'lines' }, countedUpTo, draws);
}

/** For invoices whose deductions alone are needed. */
const DEDUCTIONS: RecordedWindows = { size: null, within: null, wanted: 'deductions' };

async function draftsOf(
  billing: BillingContext,
  plan: PlannedInvoices,
  windows: RecordedWindows,
  countedUpTo: string | null,
  draws?: ScheduledDraws,
): Promise<ComputedDraft[]> {
  const drafts = new Map<InvoiceTarget, ComputedDraft>();
  await asStep(billing, plan, async () => {
    for await (const [target, compute] of eachInvoice(billing, plan, countedUpTo, draws)) {
      try {
        drafts.set(target, counted(await compute(windows)));
      } catch (error) {
        if (!(error instanceof UnratableError)) throw error;
        billing.alarms.notComputed(usageInvoiceId(target.contract.id, target.period.start), error);
        drafts.set(target, notComputed(billing, target, plan.context));
      }
    }
  });
  return inOrderOf(plan.targets, drafts);
}

/** The amounts that the drafts of SCHEDULED invoices take in their turn among the planned invoices, by invoice. */
export async function drawScheduled(
  billing: BillingContext,
  plan: PlannedInvoices,
): Promise<ReadonlyMap<string, ScheduledDraft>> {
  const draws = createScheduledDraws(plan.scheduled, createBooks(plan.context.balances));
  for await (const [, compute] of eachInvoice(billing, plan, null, draws)) await drawEarlier(compute);
  draws.drawAll();
  return draws.drafts;
}

/** One window for the whole period. */
const WHOLE_PERIOD: RecordedWindows = { size: null, within: null };

export type Compute = (windows: RecordedWindows) => Promise<ComputedInvoice>;

/** Each target after everything before it has drawn on its balances. Its computation must be awaited. */
async function* eachInvoice(
  billing: BillingContext,
  plan: PlannedInvoices,
  countedUpTo: string | null = null,
  draws: ScheduledDraws = createScheduledDraws(plan.scheduled, createBooks(plan.context.balances)),
): AsyncGenerator<readonly [InvoiceTarget, Compute], void, undefined> {
  const { context } = plan;
  const planned = inDrawdownOrder(plan);
  if (planned.length === 0) return;
  const usage = await readUsageAnswers(
    billing.usageSource,
    planned.map(({ target }) => target),
    context,
    countedUpTo,
    billing.usageRoom,
  );
  const { bookOf: books } = draws;
  for (const { target, isWanted } of planned) {
    draws.drawUntil(target.contract.customerId, finalizationAt(target.period, billing.gracePeriodHours));
    const compute: Compute = (windows) =>
      computeOne(billing, target, context, usage, windows, books(target.contract.customerId));
    if (isWanted) yield [target, compute];
    else await drawEarlier(compute);
  }
}

/** A draft that cannot be computed takes nothing from balances; its own read reports the failure. */
export async function drawEarlier(compute: Compute): Promise<void> {
  try {
    await compute(DEDUCTIONS);
  } catch (error) {
    if (!(error instanceof UnratableError)) throw error;
  }
}

function inOrderOf<Computed>(
  targets: readonly InvoiceTarget[],
  computed: ReadonlyMap<InvoiceTarget, Computed>,
): Computed[] {
  return targets.map((target) => {
    const one = computed.get(target);
    assert(one !== undefined, 'every target is computed');
    return one;
  });
}

/** The part of an invoice that draws on balances. */
export interface DrawingDraft {
  readonly invoice: Pick<Invoice, 'id' | 'contractId' | 'period'>;
  readonly deductions: ComputedInvoice['deductions'];
}

/**
 * The amounts that the drafts take from balances, and those of SCHEDULED invoices that draw on the balances of the
 * plan.
 */
export async function computeDrawingDrafts(
  billing: BillingContext,
  plan: PlannedInvoices,
): Promise<DrawingDraft[]> {
  const draws = createScheduledDraws(plan.scheduled, createBooks(plan.context.balances));
  const countedUpTo = await draftMoment(billing.eventFacts, plan);
  const drafts = await draftsOf(billing, plan, DEDUCTIONS, countedUpTo, draws);
  draws.drawAll();
  return [...drafts, ...draws.drafts.values()];
}

/** The part of a computed invoice that is shown. */
export type ComputedDraft = Pick<ComputedInvoice, 'warnings' | 'terms' | 'deductions'> & {
  readonly invoice: Invoice;
};

function notComputed(billing: BillingContext, target: InvoiceTarget, context: InvoiceContext): ComputedDraft {
  const { start, end } = target.period;
  return {
    invoice: invoiceOf(billing, target, context, []),
    warnings: [{ kind: 'not_computed', interval: { start, end } }],
    deductions: [],
    terms: { card: cardOf(context, target.contract).terms, contract: termsOf(context, target.contract) },
  };
}

/** A draft of a planned invoice; its deductions are taken from the book. */
export async function computeOne(
  billing: BillingContext,
  target: InvoiceTarget,
  context: InvoiceContext,
  usage: UsageAnswers,
  windows: RecordedWindows,
  book: BalanceBook,
): Promise<ComputedInvoice> {
  const { contract } = target;
  const rated = await rateTarget(billing, { target, context, usage, windows, book });
  const { lines, problems, hours, deductions, balances } = rated;
  const warnings = [...rated.warnings, ...unpricedWarnings(context.unpriced, target)];
  const { terms: card } = cardOf(context, contract);
  const invoice = invoiceOf(billing, target, context, lines);
  if (windows.wanted !== 'deductions') billing.alarms.computed(invoice, warnings);
  return {
    invoice,
    warnings,
    problems,
    hours,
    deductions,
    balances,
    terms: { card, contract: termsOf(context, contract) },
    ingestedUpTo: usage.ingestedUpTo,
  };
}

function invoiceOf(
  billing: BillingContext,
  { contract, period }: InvoiceTarget,
  context: InvoiceContext,
  lines: readonly RatedLine[],
): ComputedInvoice['invoice'] {
  const { terms: card } = cardOf(context, contract);
  const scheduled = context.joined.get(contract.id)?.items ?? [];
  const products = [...card.products, ...card.composites, ...scheduled].map(({ product }) => product);
  return {
    id: usageInvoiceId(contract.id, period.start),
    customerId: contract.customerId,
    contractId: contract.id,
    type: 'USAGE',
    status: 'DRAFT',
    period,
    issuedAt: finalizationAt(period, billing.gracePeriodHours),
    creditTypeId: card.fiatCreditTypeId,
    total: invoiceTotal(lines, card.fiatCreditTypeId),
    netPaymentTermsDays: contract.netPaymentTermsDays,
    isHistorical: false,
    regeneratedFromInvoiceId: null,
    lines: withPresentTags(lines, products, billing.clock.now()),
  };
}

/** A line has the product's current tags, unlike its name, which is that at the time of the line. */
function withPresentTags(lines: readonly RatedLine[], shown: readonly Product[], now: Instant): RatedLine[] {
  const ids = new Set(lines.map((line) => (isConversionLine(line) ? '' : line.productId)));
  const present = new Map(
    shown
      .filter(({ id }) => ids.has(id))
      .map((product) => [product.id, versionAt(product, now).tags] as const),
  );
  return lines.map((line) => {
    if (isConversionLine(line)) return line;
    const productTags = present.get(line.productId) ?? line.productTags;
    return productTags === line.productTags ? line : { ...line, productTags };
  });
}

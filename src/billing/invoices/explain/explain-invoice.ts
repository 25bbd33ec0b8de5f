/**
 * Explains the lines of an invoice, a draft or an issued one (docs/rating.md, "Explanations"). An issued invoice is
 * explained from the terms kept with it and from the events that it could count, so it says the same for ever.
 */
import { z } from 'zod';
import type { Clock } from '../../../core/clock.ts';
import { notFound, Refusal } from '../../../core/errors.ts';
import { type Invoice, type InvoiceLine, isUsageLine, type LineWindow } from '../../../core/invoice.ts';
import type { OfferedBalance } from '../../../core/invoice-balances.ts';
import type { BillableMetric } from '../../../core/metric.ts';
import type { Page, PageRequest } from '../../../core/paging.ts';
import type { Instant } from '../../../core/time.ts';
import { readFrozenLines } from '../../../metering/frozen-lines.ts';
import type { ChargeTermsOf } from '../../../rating/explain/charge-terms.ts';
import { createCompositeExplainer } from '../../../rating/explain/explain-composite.ts';
import { explainLine } from '../../../rating/explain/explain-line.ts';
import { isPaidByBalance } from '../../../rating/explain/explain-share.ts';
import { createUsageExplainer } from '../../../rating/explain/explain-usage.ts';
import type { LineExplanation } from '../../../rating/explain/explanation.ts';
import { lineWindows } from '../../../rating/invoice/breakdown.ts';
import type { RatedLine } from '../../../rating/types.ts';
import { groupValuesKey } from '../../../rating/usage/group-values.ts';
import { type Database, inSnapshot } from '../../../store/database.ts';
import type { IssuedInvoice } from '../../../store/invoices.ts';
import { findInvoice } from '../../../store/whole-invoices.ts';
import { type ComputeDeps, computeUsageInvoices, planInvoices } from '../compute.ts';
import { consolidatedPlaces } from '../consolidated/drafts.ts';
import { contractsOf, draftPlaces, type SnapshotDeps } from '../draft-places.ts';
import { frozenInput } from '../frozen-input.ts';
import { cardOf, type InvoiceContext, termsOf, type UsageTarget } from '../invoice-context.ts';
import { rateTarget } from '../rate-target.ts';
import { requireCustomer, scheduledOf } from '../read-invoices.ts';
import { NO_EVENT, readUsageAnswers } from '../usage-answers.ts';
import { readChargeTerms } from './explained-charges.ts';
import { readExplainedUsage } from './read-usage.ts';

export interface ExplainDeps extends ComputeDeps {
  readonly db: Database;
  readonly clock: Clock;
}

/** The position of the last line of a page, from 0. */
export const explainCursor = z.strictObject({ position: z.int().min(0) });
type ExplainCursor = z.infer<typeof explainCursor>;

export interface ExplainedLine {
  /** On the invoice, from 0. */
  readonly position: number;
  readonly line: InvoiceLine;
  readonly explanation: LineExplanation;
  /** Null where the explanation has no result. */
  readonly isReproduced: boolean | null;
  /** Set for lines of USAGE products. */
  readonly metric: BillableMetric | null;
}

export interface ExplainedInvoice extends Page<ExplainedLine, ExplainCursor> {
  readonly invoice: Invoice;
  /** Events ingested later are left out; null where it is not known, or nothing is counted. */
  readonly countedUpTo: Instant | null;
}

/** What lines are explained from. */
interface Sources {
  readonly invoice: Invoice;
  /** Null for a SCHEDULED invoice. */
  readonly rated: {
    readonly target: UsageTarget;
    readonly context: InvoiceContext;
    /** Null: as of now. */
    readonly countedUpTo: string | null;
    /** What it found of balances, in burn-down order. */
    readonly balances: readonly OfferedBalance[];
    hours(): Promise<readonly LineWindow[]>;
    /** Its lines with their hours, if there were no balances; null where they are too many for memory. */
    unpaid(): Promise<readonly RatedLine[] | null>;
  } | null;
}

/** A page of lines in their order. Refuses an unknown customer or invoice (`not_found`), and a consolidated one (`invalid`). */
export async function explainInvoice(
  deps: ExplainDeps,
  customerId: string,
  invoiceId: string,
  { after, limit }: PageRequest<ExplainCursor>,
): Promise<ExplainedInvoice> {
  const { invoice, rated } = await findSources(deps, customerId, invoiceId);
  const first = after === null ? 0 : after.position + 1;
  const shown = invoice.lines.slice(first, first + limit);
  const kept =
    rated === null
      ? null
      : {
          card: cardOf(rated.context, rated.target.contract).terms,
          contract: termsOf(rated.context, rated.target.contract),
        };
  const charge = await readChargeTerms(deps.db, { ...invoice, lines: shown }, kept, deps.clock.now());
  const explain =
    rated === null
      ? explainScheduled(invoice, charge)
      : await explainerOf(deps, invoice, { ...rated, charge }, shown);
  const rows = shown.map((line, index): ExplainedLine => {
    const explanation = explain(line);
    const id = explanation.kind === 'usage' ? explanation.usage.need.billableMetricId : '';
    return {
      position: first + index,
      line,
      explanation,
      isReproduced: isReproduced(line, explanation),
      metric: rated?.context.metrics.get(id) ?? null,
    };
  });
  const end = first + shown.length;
  return {
    invoice,
    countedUpTo: millisecondOf(rated?.countedUpTo ?? null),
    rows,
    next: end < invoice.lines.length && shown.length > 0 ? { position: end - 1 } : null,
  };
}

function isReproduced(line: InvoiceLine, { recomputed }: LineExplanation): boolean | null {
  if (recomputed === null) return null;
  const { quantity, unitPrice, total } = recomputed;
  return quantity.eq(line.quantity) && unitPrice.eq(line.unitPrice) && total.eq(line.total);
}

async function findSources(deps: ExplainDeps, customerId: string, invoiceId: string): Promise<Sources> {
  const { issued, isConsolidated, plan, scheduled } = await inSnapshot(deps.db, async (db) => {
    await requireCustomer(db, customerId);
    const found = await findInvoice(db, customerId, invoiceId);
    const places = found === null ? await draftPlaces({ ...deps, db }, { customerId }) : [];
    const own = places.filter(({ id }) => id === invoiceId);
    const usage = own.flatMap((place) => (place.kind === 'usage' ? [place.target] : []));
    const dated = own.flatMap((place) => (place.kind === 'scheduled' ? [place.target] : []));
    return {
      issued: found,
      isConsolidated:
        found === null
          ? own.length === 0 && (await isConsolidatedDraft({ ...deps, db }, customerId, invoiceId))
          : found.type === 'USAGE_CONSOLIDATED',
      plan: await planInvoices(db, usage, deps.clock.now()),
      scheduled: await scheduledOf({ ...deps, db }, dated),
    };
  });
  if (isConsolidated) {
    throw new Refusal(
      'invalid',
      `invoice ${invoiceId} is consolidated: explain the invoices that its lines come from, its constituent_invoices`,
    );
  }
  if (issued !== null) return issuedSources(deps, issued);
  const [draft] = scheduled;
  if (draft !== undefined) return { invoice: draft, rated: null };
  const [target] = plan.targets;
  const [computed] = await computeUsageInvoices(deps, plan, null);
  if (target === undefined || computed === undefined) throw notFound('invoice', invoiceId);
  const hours = async () => {
    const [hourly] = await computeUsageInvoices(deps, plan, 'hour');
    return lineWindows(hourly?.invoice.lines ?? []);
  };
  const { invoice, ingestedUpTo: countedUpTo, balances } = computed;
  const { context } = plan;
  const unpaid = () => unpaidLines(deps, target, context, countedUpTo);
  return { invoice, rated: { target, context, countedUpTo, balances, hours, unpaid } };
}

async function isConsolidatedDraft(
  deps: SnapshotDeps,
  customerId: string,
  invoiceId: string,
): Promise<boolean> {
  const places = await consolidatedPlaces(deps, await contractsOf(deps, { customerId }), {});
  return places.some(({ id }) => id === invoiceId);
}

async function issuedSources(deps: ExplainDeps, invoice: IssuedInvoice): Promise<Sources> {
  const input = await frozenInput(deps.db, invoice);
  if (input === null || invoice.frozen === null) return { invoice, rated: null };
  const { breakdownId } = invoice.frozen;
  const hours = async () =>
    (await readFrozenLines(deps.clickhouse, [breakdownId], invoice.period)).get(breakdownId) ?? [];
  const { target, context, countedUpTo } = input;
  const unpaid = () => unpaidLines(deps, target, context, countedUpTo ?? NO_EVENT);
  return { invoice, rated: { ...input, hours, unpaid } };
}

async function unpaidLines(
  deps: ExplainDeps,
  target: UsageTarget,
  context: InvoiceContext,
  countedUpTo: string,
): Promise<readonly RatedLine[] | null> {
  const usage = await readUsageAnswers(deps.clickhouse, [target], context, countedUpTo);
  const rated = await rateTarget(deps, target, context, usage, { size: 'hour', within: null });
  return rated.hours === null ? rated.lines : null;
}

/** Null where there is no event yet. */
function millisecondOf(micros: string | null): Instant | null {
  return micros === null || micros === '0' ? null : Math.floor(Number(micros) / 1_000);
}

interface RatedSources extends NonNullable<Sources['rated']> {
  readonly charge: ChargeTermsOf;
}

type Explain = (line: InvoiceLine) => LineExplanation;

const NONE = () => null;

function explainScheduled({ lines }: Invoice, charge: ChargeTermsOf): Explain {
  return (line) => explainLine(line, lines, { usage: NONE, composite: NONE, charge, balances: [] });
}

/** What composites count is added up from all hours of all lines, which are in memory together. */
const HOURLY_LINES_MAX = 20_000;

/** Later than any event. */
const ALWAYS = String(Date.UTC(2200, 0, 1) * 1_000);

async function explainerOf(
  deps: ExplainDeps,
  { lines }: Invoice,
  { target, context, countedUpTo, balances, hours, unpaid, charge }: RatedSources,
  shown: readonly InvoiceLine[],
): Promise<Explain> {
  const { terms, products, composites, conversions } = cardOf(context, target.contract);
  const { overrides, multiplierPrioritization, usageFilters } = termsOf(context, target.contract);
  const asked = shown.filter(isUsageLine);
  const keyOf = (line: (typeof asked)[number]) =>
    groupValuesKey({ ...line.pricingGroupValues, ...line.presentationGroupValues });
  const common = {
    period: target.period,
    products,
    overrides: { overrides, prioritization: multiplierPrioritization },
    fiatCreditTypeId: terms.fiatCreditTypeId,
    lines,
    balances,
  };
  const usage = await readExplainedUsage(deps.clickhouse, {
    ...{ target, context },
    productIds: new Set(asked.map(({ productId }) => productId)),
    keys: new Set(asked.map(keyOf)),
    ingestedUpTo: countedUpTo ?? ALWAYS,
  });
  const isOfComposite =
    lines.length <= HOURLY_LINES_MAX && asked.some(({ productType }) => productType === 'COMPOSITE');
  const base = isOfComposite ? await baseOf(lines, { hours, unpaid }) : null;
  const worths = new Map([...conversions].map(([unit, one]) => [unit, one.fiatPerCustomCredit]));
  const explainers = {
    usage: createUsageExplainer({ ...common, usageFilters, ...usage }),
    composite: base === null ? NONE : createCompositeExplainer({ ...common, composites, worths, base }),
    ...{ charge, balances },
  };
  return (line) => explainLine(line, lines, explainers);
}

/** What composites count: the lines before balances pay. They need not be computed again where no balance does. */
async function baseOf(
  lines: readonly InvoiceLine[],
  { hours, unpaid }: Pick<NonNullable<Sources['rated']>, 'hours' | 'unpaid'>,
) {
  if (!lines.some(isPaidByBalance)) return { lines, hours: await hours() };
  const base = await unpaid();
  return base === null ? null : { lines: base, hours: lineWindows(base) };
}

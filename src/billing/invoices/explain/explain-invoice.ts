/**
 * Explains the lines of an invoice, a draft or an issued one (docs/explanation/rating.md, "Explanations"). An issued
 * invoice is explained from the terms stored with it and from the events that it could count, so its explanation never
 * changes.
 */
import { z } from 'zod';
import { mapInChunks } from '../../../core/in-chunks.ts';
import { type Invoice, type InvoiceLine, isUsageLine } from '../../../core/invoice.ts';
import type { OfferedBalance } from '../../../core/invoice-balances.ts';
import type { BillableMetric } from '../../../core/metric.ts';
import type { Page, PageRequest } from '../../../core/paging.ts';
import type { Instant } from '../../../core/time.ts';
import type { ChargeTermsOf } from '../../../rating/explain/charge-terms.ts';
import { createCompositeExplainer } from '../../../rating/explain/explain-composite.ts';
import { explainLine, type LineExplainers } from '../../../rating/explain/explain-line.ts';
import { isPaidByBalance } from '../../../rating/explain/explain-share.ts';
import { createUsageExplainer } from '../../../rating/explain/explain-usage.ts';
import type { LineExplanation } from '../../../rating/explain/explanation.ts';
import { lineWindows } from '../../../rating/invoices/breakdown.ts';
import { groupValuesKey } from '../../../rating/quantities/group-values.ts';
import type { BillingContext } from '../../billing-context.ts';
import { readChargeTerms } from '../terms/explained-charges.ts';
import { cardOf, termsOf } from '../terms/invoice-context.ts';
import { readExplainedUsage } from './read-usage.ts';
import { findSources, type PartSources, type RatedInput } from './sources.ts';

/** The position of the last line of a page, from 0. */
export const explainCursor = z.strictObject({ position: z.int().min(0) });
type ExplainCursor = z.infer<typeof explainCursor>;

export interface ExplainedLine {
  /** The position on the invoice, from 0. */
  readonly position: number;
  readonly line: InvoiceLine;
  readonly explanation: LineExplanation;
  /** Null if the explanation has no result. */
  readonly isReproduced: boolean | null;
  /** Set for lines of USAGE products. */
  readonly metric: BillableMetric | null;
  /** Events ingested later are excluded; null if unknown, or if nothing is counted. */
  readonly countedUpTo: Instant | null;
}

export interface ExplainedInvoice extends Page<ExplainedLine, ExplainCursor> {
  readonly invoice: Invoice;
}

/**
 * A page of lines in their order. The lines of a consolidated invoice are explained as those of its constituents.
 * Refuses an unknown customer or invoice (`not_found`).
 */
export async function explainInvoice(
  billing: BillingContext,
  customerId: string,
  invoiceId: string,
  { after, limit }: PageRequest<ExplainCursor>,
): Promise<ExplainedInvoice> {
  const { invoice, parts } = await findSources(billing, customerId, invoiceId);
  const first = after === null ? 0 : after.position + 1;
  const rows: ExplainedLine[] = [];
  let before = 0;
  for (const part of parts) {
    const { length } = part.invoice.lines;
    const [from, to] = [Math.max(first - before, 0), Math.min(first + limit - before, length)];
    if (from < to) rows.push(...(await explainPart(billing, part, { before, from, to })));
    before += length;
  }
  const last = rows.at(-1)?.position;
  return {
    invoice,
    // On a consolidated invoice lines also have their origin.
    rows: rows.map((row) => ({ ...row, line: invoice.lines[row.position] ?? row.line })),
    next: last !== undefined && last + 1 < invoice.lines.length ? { position: last } : null,
  };
}

interface ExplainedPlace {
  /** The number of lines of a consolidated invoice before those of the part. */
  readonly before: number;
  /** The first of the lines of the part. */
  readonly from: number;
  readonly to: number;
}

async function explainPart(
  billing: BillingContext,
  { invoice, input }: PartSources,
  { before, from, to }: ExplainedPlace,
): Promise<ExplainedLine[]> {
  const { lines } = invoice;
  const shown = lines.slice(from, to);
  const { balances, rated } = await input();
  const kept =
    rated === null
      ? null
      : {
          card: cardOf(rated.context, rated.target.contract).terms,
          contract: termsOf(rated.context, rated.target.contract),
        };
  const charge = await readChargeTerms(billing.db, { ...invoice, lines: shown }, kept, billing.clock.now());
  const common = { charge, balances, before };
  const explainers =
    rated === null
      ? { usage: NONE, composite: NONE, ...common }
      : await explainersOf(billing, lines, { ...rated, ...common }, shown);
  return mapInChunks(shown, (line, index) => {
    const explanation = explainLine(line, lines, explainers);
    const id = explanation.kind === 'usage' ? explanation.usage.need.billableMetricId : '';
    return {
      position: before + from + index,
      line,
      explanation,
      isReproduced: isReproduced(line, explanation),
      metric: rated?.context.metrics.get(id) ?? null,
      countedUpTo: millisecondOf(rated?.countedUpTo ?? null),
    };
  });
}

function isReproduced(line: InvoiceLine, { recomputed }: LineExplanation): boolean | null {
  if (recomputed === null) return null;
  const { quantity, unitPrice, total } = recomputed;
  return quantity.eq(line.quantity) && unitPrice.eq(line.unitPrice) && total.eq(line.total);
}

/** Null if there is no event yet. */
function millisecondOf(micros: string | null): Instant | null {
  return micros === null || micros === '0' ? null : Math.floor(Number(micros) / 1_000);
}

const NONE = () => null;

/** The bases of composites are sums over all hours of all lines, which are in memory together. */
const HOURLY_LINES_MAX = 20_000;

/** Later than any event. */
const ALWAYS = String(Date.UTC(2200, 0, 1) * 1_000);

interface RatedPart extends RatedInput, Pick<LineExplainers, 'before'> {
  readonly charge: ChargeTermsOf;
  readonly balances: readonly OfferedBalance[];
}

async function explainersOf(
  billing: BillingContext,
  lines: readonly InvoiceLine[],
  { target, context, countedUpTo, balances, hours, unpaid, charge, before }: RatedPart,
  shown: readonly InvoiceLine[],
): Promise<LineExplainers> {
  const { terms, products, composites, conversions } = cardOf(context, target.contract);
  const { overrides, multiplierPrioritization, usageFilters, compositesCountSubscriptions } = termsOf(
    context,
    target.contract,
  );
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
    before,
  };
  const usage = await readExplainedUsage(billing.usageSource, {
    ...{ target, context },
    productIds: new Set(asked.map(({ productId }) => productId)),
    keys: new Set(asked.map(keyOf)),
    ingestedUpTo: countedUpTo ?? ALWAYS,
  });
  const isOfComposite =
    lines.length <= HOURLY_LINES_MAX && asked.some(({ productType }) => productType === 'COMPOSITE');
  const base = isOfComposite ? await baseOf(lines, { hours, unpaid }) : null;
  const subscribed = compositesCountSubscriptions ? terms.subscriptions.map(({ product }) => product) : [];
  const worths = new Map([...conversions].map(([unit, one]) => [unit, one.fiatPerCustomCredit]));
  return {
    usage: createUsageExplainer({ ...common, usageFilters, ...usage }),
    composite:
      base === null ? NONE : createCompositeExplainer({ ...common, subscribed, composites, worths, base }),
    ...{ charge, balances, before },
  };
}

/** The bases of composites: the lines before balances pay. They need not be computed again where no balance does. */
async function baseOf(
  lines: readonly InvoiceLine[],
  { hours, unpaid }: Pick<RatedInput, 'hours' | 'unpaid'>,
) {
  if (!lines.some(isPaidByBalance)) return { lines, hours: await hours() };
  const base = await unpaid();
  return base === null ? null : { lines: base, hours: lineWindows(base) };
}

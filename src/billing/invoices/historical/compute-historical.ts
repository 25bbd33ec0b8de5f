/** Computes historical invoices from a client's quantities and the prices of their time. */
import { type FieldPath, invalid } from '../../../core/errors.ts';
import { groupBy } from '../../../core/group-by.ts';
import { newId } from '../../../core/ids.ts';
import { resultInChunks } from '../../../core/in-chunks.ts';
import { formatInstant, type Instant } from '../../../core/time.ts';
import {
  type HistoricalProblem,
  type HistoricalUsage,
  rateHistorical,
} from '../../../rating/historical/historical-lines.ts';
import { invoiceTotal, windowBoundaries } from '../../../rating/invoices/breakdown.ts';
import { sortProducts } from '../../../rating/invoices/product-order.ts';
import type { RatedLine, UsageLine } from '../../../rating/lines/types.ts';
import { versionAt } from '../../../rating/quantities/product-spans.ts';
import { indexOverrides } from '../../../rating/rates/override-index.ts';
import { conversionLines } from '../../../rating/usage/cpu-conversion.ts';
import type { RowContext } from '../../billing-context.ts';
import type { InvoiceTarget } from '../../invoice-queue/usage-periods.ts';
import type { ComputedInvoice } from '../compute/compute.ts';
import type { PlannedInvoices } from '../compute/plan-invoices.ts';
import { cardOf, type InvoiceContext, termsOf } from '../terms/invoice-context.ts';
import type { PricedCard } from '../terms/priced-card.ts';
import { NO_EVENT } from '../usage/usage-answers.ts';
import { type HistoricalInvoiceInput, intervalOf, usageOf } from './historical-input.ts';

type Steps<Result> = Generator<void, Result, undefined>;

/**
 * In the order of the input, like the targets. Refuses (`invalid`) the first invalid field. Other work runs between
 * parts of many lines.
 */
export async function computeHistorical(
  { clock }: Pick<RowContext, 'clock'>,
  inputs: readonly HistoricalInvoiceInput[],
  { targets, context }: PlannedInvoices,
): Promise<ComputedInvoice[]> {
  const computed: ComputedInvoice[] = [];
  for (const [index, target] of targets.entries()) {
    const input = inputs[index];
    if (input === undefined) continue;
    const steps = computeOne(input, ['invoices', index], target, context, clock.now());
    computed.push(await resultInChunks(steps));
  }
  return computed;
}

/** Yields after parts of its work. */
function* computeOne(
  input: HistoricalInvoiceInput,
  path: FieldPath,
  { contract, period }: InvoiceTarget,
  context: InvoiceContext,
  now: Instant,
): Steps<ComputedInvoice> {
  const card = cardOf(context, contract);
  const terms = termsOf(context, contract);
  const { fiatCreditTypeId } = card.terms;
  if (input.creditTypeId !== fiatCreditTypeId) {
    throw invalid([...path, 'creditTypeId'], `must be ${fiatCreditTypeId}, the currency of the rate card`);
  }
  const usage = yield* usagesOf(input, path, card);
  const { multiplierPrioritization: prioritization, overrides } = terms;
  const prices = { fiatCreditTypeId, overrides: indexOverrides({ overrides, prioritization }) };
  const { lines: rated, problem } = yield* rateHistorical(usage, prices);
  if (problem !== null) throw refusalOf(problem, input, path);
  const usageLines = inOrder(rated, card, period.end);
  yield;
  const lines: RatedLine[] = [
    ...withPresentTags(usageLines, card, now),
    ...conversionLines({
      lines: usageLines,
      fiatCreditTypeId,
      conversions: card.conversions,
      period: intervalOf(input),
      boundaries: windowBoundaries(intervalOf(input), 'hour'),
    }).lines,
  ];
  yield;
  return {
    invoice: {
      id: newId(),
      customerId: contract.customerId,
      contractId: contract.id,
      type: 'USAGE',
      status: 'DRAFT',
      period,
      issuedAt: input.issueDate,
      creditTypeId: fiatCreditTypeId,
      total: invoiceTotal(lines, fiatCreditTypeId),
      netPaymentTermsDays: contract.netPaymentTermsDays,
      isHistorical: true,
      regeneratedFromInvoiceId: null,
      lines,
    },
    warnings: [],
    problems: [],
    hours: null,
    deductions: [],
    balances: [],
    terms: { card: card.terms, contract: terms },
    ingestedUpTo: NO_EVENT,
  };
}

function* usagesOf(
  input: HistoricalInvoiceInput,
  path: FieldPath,
  { products }: PricedCard,
): Steps<HistoricalUsage[]> {
  const byId = new Map(products.map((one) => [one.product.id, one]));
  const usages: HistoricalUsage[] = [];
  for (const [index, line] of input.usageLineItems.entries()) {
    yield;
    usages.push(usageOf(line, [...path, 'usageLineItems', index], input, byId));
  }
  return usages;
}

function refusalOf(
  { usage, part, problem, at }: HistoricalProblem,
  { usageLineItems }: HistoricalInvoiceInput,
  path: FieldPath,
) {
  const line = [...path, 'usageLineItems', usage];
  const hasParts = (usageLineItems[usage]?.subtotalsWithQuantity.length ?? 0) > 0;
  const when = formatInstant(at);
  const problems = {
    no_rate: `has no rate at ${when}`,
    not_entitled: `is not entitled at ${when}`,
    price_changes: `has another price from ${when} on: split the quantity there`,
  };
  return invalid(hasParts ? [...line, 'subtotalsWithQuantity', part] : line, problems[problem]);
}

/** Products in the order of the card, lines of a product in the order of the request. */
function inOrder(lines: readonly UsageLine[], { products, terms }: PricedCard, end: Instant): UsageLine[] {
  const own = groupBy(lines, ({ productId }) => productId);
  const named = products
    .filter(({ product }) => own.has(product.id))
    .map(({ product }) => ({ id: product.id, name: versionAt(product, end - 1).name }));
  return sortProducts(named, terms.productOrder).flatMap(({ id }) => own.get(id) ?? []);
}

function withPresentTags(lines: readonly UsageLine[], { products }: PricedCard, now: Instant): UsageLine[] {
  const tags = new Map(products.map(({ product }) => [product.id, versionAt(product, now).tags]));
  return lines.map((line) => ({ ...line, productTags: tags.get(line.productId) ?? line.productTags }));
}

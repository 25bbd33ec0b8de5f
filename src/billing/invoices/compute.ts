/**
 * The one computation of usage invoices. Drafts, breakdowns and finalization all call it, with the same
 * input; they differ only in what they do with the result.
 *
 * Usage is always read by the hour, whatever the caller wants to see: lines and their order then never
 * depend on who asked.
 */
import type { Clock } from '../../core/clock.ts';
import type { Invoice } from '../../core/invoice.ts';
import type { Instant, Interval } from '../../core/time.ts';
import type { UsageSeries } from '../../core/usage-series.ts';
import type { ClickHouse } from '../../metering/clickhouse.ts';
import { invoiceTotal, type WindowSize, windowBoundaries } from '../../rating/breakdown.ts';
import { needKey, usageNeeds, versionAt } from '../../rating/product-spans.ts';
import { rateUsage } from '../../rating/rate-usage.ts';
import type { MeteredUsage, RatingWarning, UsageLine, UsageNeed } from '../../rating/types.ts';
import type { Database, Transaction } from '../../store/database.ts';
import { cardOf, filtersOf, type InvoiceContext, loadInvoiceContext } from './invoice-context.ts';
import { readUsageAnswers, type UsageAnswers } from './usage-answers.ts';
import { finalizationAt, type InvoiceTarget, usageInvoiceId } from './usage-periods.ts';

/** A usage invoice as it comes out now, with its lines over time. Always a DRAFT: nothing is stored. */
export interface ComputedInvoice {
  readonly invoice: Invoice & { readonly lines: readonly UsageLine[] };
  readonly warnings: readonly RatingWarning[];
}

export interface ComputeDeps {
  readonly db: Database | Transaction;
  readonly clickhouse: ClickHouse;
  readonly clock: Clock;
  readonly gracePeriodHours: number;
}

/**
 * Computes any number of usage invoices: a fixed number of Postgres queries, and one ClickHouse query per
 * metric, grouping and period for all customers together. Lines record windows of `windowSize`, or one
 * window for the whole period where it is null. In the order of the targets.
 */
export async function computeUsageInvoices(
  deps: ComputeDeps,
  targets: readonly InvoiceTarget[],
  windowSize: WindowSize | null,
): Promise<ComputedInvoice[]> {
  if (targets.length === 0) return [];
  const context = await loadInvoiceContext(deps.db, targets);
  const usage = await readUsageAnswers(deps.clickhouse, targets, context);
  return targets.map((target) => computeOne(deps, target, context, usage, windowSize));
}

function computeOne(
  deps: ComputeDeps,
  { contract, period }: InvoiceTarget,
  context: InvoiceContext,
  usage: UsageAnswers,
  windowSize: WindowSize | null,
): ComputedInvoice {
  const card = cardOf(context.cards, contract.rateCardId);
  const usageFilters = filtersOf(context, contract.id);
  const products = new Map(card.products.map(({ product }) => [product.id, product]));
  // Unlike its name, the tags of a line are the product's present ones, whatever the line's time.
  const tagsNow = (productId: string) => {
    const product = products.get(productId);
    return product === undefined ? [] : versionAt(product, deps.clock.now()).tags;
  };
  const rating = rateUsage({
    period,
    boundaries: boundariesOf(period, windowSize),
    products: card.products,
    usageFilters,
    productOrder: card.productOrder,
    overrides: {
      overrides: context.overrides.get(contract.id) ?? [],
      prioritization: contract.multiplierPrioritization,
    },
    usage: meteredUsage(
      card.products.flatMap(({ product }) => usageNeeds(product, period, usageFilters)),
      (need) => usage.seriesOf({ need, period, customerId: contract.customerId }),
    ),
  });
  return {
    warnings: rating.warnings,
    invoice: {
      id: usageInvoiceId(contract.id, period.start),
      customerId: contract.customerId,
      contractId: contract.id,
      type: 'USAGE',
      status: 'DRAFT',
      period,
      issuedAt: finalizationAt(period, deps.gracePeriodHours),
      creditTypeId: card.fiatCreditTypeId,
      total: invoiceTotal(rating.lines, card.fiatCreditTypeId),
      netPaymentTermsDays: contract.netPaymentTermsDays,
      lines: rating.lines.map((line) => ({ ...line, productTags: tagsNow(line.productId) })),
    },
  };
}

function boundariesOf(period: Interval, windowSize: WindowSize | null): readonly Instant[] {
  return windowSize === null ? [period.start, period.end] : windowBoundaries(period, windowSize);
}

/** One answer per need; a customer that metering does not mention used nothing. */
function meteredUsage(
  needs: readonly UsageNeed[],
  seriesOf: (need: UsageNeed) => readonly UsageSeries[] | undefined,
): MeteredUsage[] {
  const byKey = new Map(needs.map((need) => [needKey(need), need]));
  return [...byKey.values()].map((need) => ({ ...need, series: seriesOf(need) ?? [] }));
}

/**
 * What goes into the rating engine and what comes out: plain data only.
 *
 * The engine reads no store, no clock and no randomness: the same input gives the same output for ever.
 */
import type { Product, Rate } from '../core/catalogue.ts';
import type { Decimal } from '../core/decimal.ts';
import type { BilledPeriod, ConversionLine, InvoiceWarning, UsageInvoiceLine } from '../core/invoice.ts';
import type { UsageFilter } from '../core/terms/contract.ts';
import type { Instant, Interval } from '../core/time.ts';
import type { UsageSeries } from '../core/usage-series.ts';
import type { ContractOverrides } from './rates/overrides.ts';
import type { RateBook } from './rates/rate-schedule.ts';

/** One question to metering: this metric, grouped by exactly these properties (sorted, without repeats). */
export interface UsageNeed {
  readonly billableMetricId: string;
  readonly groupKeys: readonly string[];
  /**
   * At which instants V is known: at the end of every hour, or (SQL metrics of `service_period`) at these
   * only, ascending. In between V stands still, so all usage since the last one falls into the last hour.
   */
  readonly evaluatedAt: 'hour' | readonly Instant[];
  /** Only events with one of these values; null for all events. */
  readonly usageFilter: { readonly property: string; readonly values: readonly string[] } | null;
}

/** The answer: V(t) of every group, cumulative from where the counters start, one step per hour at most. */
export interface MeteredUsage extends UsageNeed {
  readonly series: readonly UsageSeries[];
}

/**
 * A usage product with its rates on the contract's rate card: `rateBook` of every rate that was ever added
 * for it. The book is the same for all contracts on the card; a run over many invoices makes it once.
 */
export interface ProductOnCard {
  readonly product: Product;
  readonly rates: RateBook;
}

export interface UsageRatingInput {
  readonly period: BilledPeriod;
  /**
   * Where the reported windows begin and end: ascending, from `period.start` to `period.end`
   * (`windowBoundaries` makes hours and days). They decide `windows` of a line and nothing else.
   */
  readonly boundaries: readonly Instant[];
  readonly products: readonly ProductOnCard[];
  /** Everything that `usageNeeds` asks for; a missing answer is a bug of the caller and throws. */
  readonly usage: readonly MeteredUsage[];
  /** Which usage belongs to the contract, by start; the one in force is the last that has started. */
  readonly usageFilters: readonly UsageFilter[];
  /** What the contract deviates from the card in; `NO_OVERRIDES` where in nothing. */
  readonly overrides: ContractOverrides;
  /** The currency of the card, in which prices are that name no unit. */
  readonly fiatCreditTypeId: string;
  /** Product ids in the order of the rate card; the others follow by name. */
  readonly productOrder: readonly string[];
}

/** The part of a line that falls into one window. */
export interface WindowAmount {
  readonly window: Interval;
  readonly quantity: Decimal;
  readonly total: Decimal;
}

/** How a line came about over time: the windows add up to its quantity and its total, exactly. */
interface Distribution {
  /** Ascending; only windows in which the line moved. */
  readonly windows: readonly WindowAmount[];
}

export interface UsageLine extends UsageInvoiceLine, Distribution {
  /** The rate of the rate card in the line's segment; null where only an OVERWRITE prices it. */
  readonly listRate: Rate | null;
  /** False for a line that only shows that nothing was used; true where usage rose and fell to 0 as well. */
  readonly hasMoved: boolean;
}

export interface RatedConversionLine extends ConversionLine, Distribution {}

/** A line with its distribution over time. */
export type RatedLine = UsageLine | RatedConversionLine;

export interface UsageRating {
  /** In the order in which an invoice shows them. */
  readonly lines: readonly UsageLine[];
  readonly warnings: readonly InvoiceWarning[];
}

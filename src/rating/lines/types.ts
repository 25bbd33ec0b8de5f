/**
 * Input and output of the rating engine: plain data.
 *
 * The engine reads no store, clock or random source: the same input always gives the same output.
 */
import type { CompositeProduct, Product, Rate } from '../../core/catalogue.ts';
import type { Decimal } from '../../core/decimal.ts';
import type {
  BilledPeriod,
  ConversionLine,
  ScheduledInvoiceLine,
  SubscriptionInvoiceLine,
  UnpricedUsage,
  UsageInvoiceLine,
} from '../../core/invoice.ts';
import type { UsageFilter } from '../../core/terms/contract.ts';
import type { Instant, Interval } from '../../core/time.ts';
import type { MeteredUsage } from '../quantities/usage-need.ts';
import type { ContractOverrides } from '../rates/overrides.ts';
import type { RateBook } from '../rates/rate-schedule.ts';

/**
 * A usage product with its rates on the contract's rate card: the `rateBook` of all rates ever added for it.
 * All contracts on the card share the book, so a run over many invoices builds it once.
 */
export interface ProductOnCard {
  readonly product: Product;
  readonly rates: RateBook;
}

/** A composite product with its rates, like `ProductOnCard`. */
export interface CompositeOnCard {
  readonly product: CompositeProduct;
  readonly rates: RateBook;
}

export interface UsageRatingInput {
  readonly period: BilledPeriod;
  /**
   * The boundaries of the reported windows: ascending, from `period.start` to `period.end` (`windowBoundaries` creates
   * hours and days). They decide `windows` of a line and nothing else.
   */
  readonly boundaries: readonly Instant[];
  readonly products: readonly ProductOnCard[];
  /** Everything that `usageNeeds` lists. A missing entry is a bug of the caller and throws. */
  readonly usage: readonly MeteredUsage[];
  /** Which usage belongs to the contract, by start; the last filter that has started is in force. */
  readonly usageFilters: readonly UsageFilter[];
  /** The contract's overrides; `NO_OVERRIDES` for none. */
  readonly overrides: ContractOverrides;
  /** The currency of the card, the unit of prices that name none. */
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

/** The distribution of a line over time: the windows add up exactly to its quantity and total. */
interface Distribution {
  /** Ascending; only windows in which the line changed. */
  readonly windows: readonly WindowAmount[];
}

export interface UsageLine extends UsageInvoiceLine, Distribution {
  /** The rate of the rate card in the line's segment; null if only an OVERWRITE sets the price. */
  readonly listRate: Rate | null;
  /** False for a zero line without usage. True for usage that rose and fell back to 0. */
  readonly hasMoved: boolean;
}

export interface RatedConversionLine extends ConversionLine, Distribution {}

/** A scheduled amount on a usage invoice. */
export interface RatedScheduledLine extends ScheduledInvoiceLine, Distribution {}

export interface RatedSubscriptionLine extends SubscriptionInvoiceLine, Distribution {
  /** False for a quantity of 0. */
  readonly hasMoved: boolean;
}

/** A line with its distribution over time. */
export type RatedLine = UsageLine | RatedScheduledLine | RatedSubscriptionLine | RatedConversionLine;

export interface UsageRating {
  /** Lines in the order of the invoice. */
  readonly lines: readonly UsageLine[];
  readonly warnings: readonly UnpricedUsage[];
}

/** The part of an invoice that some line keys of one product contribute. */
export interface RatedKeys extends UsageRating {
  readonly product: { readonly id: string; readonly name: string };
  /** The line of a product without group keys that has no other line. */
  readonly zeroLine: UsageLine | null;
  /** Lines that are computed after drawdown, and are not among `lines`; default: 0. */
  readonly laterLineCount?: number;
}

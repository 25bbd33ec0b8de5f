/** How an invoice line is computed: everything a person needs to recompute it by hand. */
import type { ProductVersion, Rate, RateEntry } from '../../core/catalogue.ts';
import type { Decimal } from '../../core/decimal.ts';
import type { OfferedBalance } from '../../core/invoice-balances.ts';
import type { Instant, Interval } from '../../core/time.ts';
import type { UsageNeed } from '../quantities/usage-need.ts';
import type { AppliedOverride } from '../rates/applied-override.ts';
import type { PriceBand } from '../rates/tiers.ts';

/** The price of a line in its segment. */
export interface ExplainedPrice {
  /** The rate of the rate card in force; null if only an OVERWRITE sets the price. */
  readonly listed: RateEntry | null;
  /** The list price of the line's tier. */
  readonly listPrice: Decimal | null;
  readonly applied: AppliedOverride | null;
  /** The rate that is charged. */
  readonly rate: Rate;
  readonly band: PriceBand;
  /** Whether a balance pays at the commit rate of the card, which is then the listed rate. */
  readonly isCommitRate: boolean;
}

/** The balance that pays for a line. */
export interface ExplainedPayer {
  readonly balance: OfferedBalance;
  /** Its place in the order of drawdown, from 1. */
  readonly place: number;
  /** The number of balances that could pay for something on the invoice. */
  readonly placeCount: number;
  readonly before: OfferedBalance | null;
  /** The amount that it pays for other lines of the invoice. */
  readonly takenByOthers: Decimal;
  /** The amount left after the invoice. */
  readonly left: Decimal;
}

/** Which units of a counter a line charges, if balances pay for some of them. */
export interface ExplainedShare {
  /** Null: no balance covers them. */
  readonly payer: ExplainedPayer | null;
  /** Units above `from` up to `to`, ascending. */
  readonly stretches: readonly { readonly from: Decimal; readonly to: Decimal; readonly amount: Decimal }[];
  readonly quantity: Decimal;
  readonly total: Decimal;
}

/** The usage of a line of a USAGE product. */
export interface ExplainedUsage {
  /** Its metric, conversion and rounding. */
  readonly version: ProductVersion;
  readonly need: UsageNeed;
  readonly countedFrom: Instant;
  /** Events that match, in the time of the line. For a SQL metric: all events that it reads. */
  readonly eventCount: Decimal;
  readonly valueAtStart: Decimal;
  readonly valueAtEnd: Decimal;
  /**
   * Set if the value and the counter continue from another metric, filter, conversion or rounding: the time of the
   * change, and their values then.
   */
  readonly continued: { readonly at: Instant; readonly value: Decimal; readonly counter: Decimal } | null;
  /** The counter: the quantity so far in the billing period. */
  readonly counterAtStart: Decimal;
  readonly counterAtEnd: Decimal;
}

/** A line, or lines of one product, that a composite counts. */
export interface CountedLine {
  /** The position on the invoice, from 0. */
  readonly position: number;
  readonly name: string;
  /** The part of its total within the time of the composite's line. */
  readonly amount: Decimal;
}

/** The base of the line of a COMPOSITE product. */
export interface ExplainedBase {
  readonly productIds: readonly string[];
  readonly tags: readonly string[];
  readonly includesComposites: boolean;
  readonly excludesFreeUsage: boolean;
  readonly counted: readonly CountedLine[];
  /** The base since the start of the billing period; null if an earlier invoice has a part of it. */
  readonly baseAtStart: Decimal | null;
  readonly baseAtEnd: Decimal | null;
}

interface Recomputed {
  readonly quantity: Decimal;
  readonly unitPrice: Decimal;
  readonly total: Decimal;
}

interface Explained {
  /** The steps of the calculation as text. */
  readonly formula: readonly string[];
  /** The result of the figures; null if some are unknown. */
  readonly recomputed: Recomputed | null;
  /** Set if balances pay for a part of the counter that contains the line. */
  readonly share: ExplainedShare | null;
}

export interface UsageExplanation extends Explained {
  readonly kind: 'usage';
  readonly usage: ExplainedUsage;
  readonly price: ExplainedPrice;
}

export interface CompositeExplanation extends Explained {
  readonly kind: 'composite';
  readonly base: ExplainedBase;
  readonly price: ExplainedPrice;
}

export interface MinimumExplanation extends Explained {
  readonly kind: 'minimum';
  readonly minimum: Decimal;
  /** The total of the percentages of the period, in the currency. */
  readonly charged: Decimal;
}

export interface ConversionExplanation extends Explained {
  readonly kind: 'conversion';
  readonly counted: readonly CountedLine[];
}

interface ScheduledExplanation extends Explained {
  readonly kind: 'scheduled';
}

/** A charge of a subscription. */
export interface ChargeExplanation extends Explained {
  readonly kind: 'subscription';
  /** The price of a whole period; null if its terms are no longer known. */
  readonly price: ExplainedPrice | null;
  /** The whole billing period, if the price is for a part of it. */
  readonly partOf: Interval | null;
}

/** Deducts the amount that a balance pays. */
export interface AppliedExplanation extends Explained {
  readonly kind: 'applied';
  readonly covered: CountedLine;
}

/** `unknown`: the source of the line is no longer known. */
export type LineExplanation =
  | UsageExplanation
  | CompositeExplanation
  | MinimumExplanation
  | ConversionExplanation
  | ScheduledExplanation
  | ChargeExplanation
  | AppliedExplanation
  | (Explained & { readonly kind: 'unknown' });

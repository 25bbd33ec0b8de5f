/** Products and rates as plain values, shared by the store and the rating engine. */
import type { Decimal, RoundingMethod } from './decimal.ts';
import type { Instant } from './time.ts';

export const PRODUCT_TYPES = ['USAGE', 'SUBSCRIPTION', 'COMPOSITE', 'FIXED', 'PROFESSIONAL_SERVICE'] as const;
export type ProductType = (typeof PRODUCT_TYPES)[number];

export interface QuantityConversion {
  readonly name: string | null;
  readonly operation: 'MULTIPLY' | 'DIVIDE';
  readonly conversionFactor: Decimal;
}

export interface QuantityRounding {
  readonly method: RoundingMethod;
  readonly decimalPlaces: number;
}

/**
 * A product from `startingAt` until its next version starts. The initial version has no start and applies to all
 * earlier time.
 */
export interface ProductVersion {
  readonly startingAt: Instant | null;
  readonly name: string;
  readonly tags: readonly string[];
  readonly billableMetricId: string | null;
  readonly quantityConversion: QuantityConversion | null;
  readonly quantityRounding: QuantityRounding | null;
  /** When a SQL metric is evaluated: at every hour, or once for the whole period (default, null). */
  readonly sqlBreakdownGranularity: 'HOUR' | 'SERVICE_PERIOD' | null;
  readonly pricingGroupKey: readonly string[];
  readonly presentationGroupKey: readonly string[];
  readonly createdAt: Instant;
  readonly createdBy: string;
}

export interface Product {
  readonly id: string;
  readonly type: ProductType;
  /** The initial version first, then by `startingAt`. Never empty. */
  readonly versions: readonly ProductVersion[];
  readonly archivedAt: Instant | null;
}

/** The charges that a COMPOSITE product is a percentage of. */
export interface CompositeTerms {
  readonly compositeProductIds: readonly string[];
  readonly compositeTags: readonly string[];
  /** Leaves out products whose charge is zero. */
  readonly excludeFreeUsage: boolean;
  /** Counts other composites too. */
  readonly includeCompositeSpend: boolean;
}

export interface CompositeVersion extends ProductVersion, CompositeTerms {}

/** A product of type COMPOSITE. */
export interface CompositeProduct extends Product {
  readonly versions: readonly CompositeVersion[];
}

/** `size` is the width of the tier in units; null in the last, unbounded tier. */
export interface Tier {
  readonly size: Decimal | null;
  readonly price: Decimal;
}

/** Graduated: each unit has the price of its tier. Volume: all units have that of the tier the whole reaches. */
export const TIERS_MODES = ['graduated', 'volume'] as const;
export type TiersMode = (typeof TIERS_MODES)[number];

interface Tiered {
  readonly tiers: readonly Tier[];
  /** Absent: graduated. */
  readonly tiersMode?: TiersMode | undefined;
}

/** The price of a unit of usage; a FLAT price is also that of a unit of a subscription. */
export type UsageRate =
  | { readonly rateType: 'FLAT'; readonly price: Decimal }
  | ({ readonly rateType: 'TIERED' } & Tiered);

/**
 * The price of a COMPOSITE product as a fraction of other products' charges: 0.05 is 5 %. It has no
 * pricing unit. `minimum` is the minimum charge of a billing period.
 */
export type PercentageRate =
  | { readonly rateType: 'PERCENTAGE'; readonly price: Decimal; readonly minimum: Decimal | null }
  | ({ readonly rateType: 'TIERED_PERCENTAGE'; readonly minimum: Decimal | null } & Tiered);

/** The older rate type of SUBSCRIPTION products; `quantity` is the initial quantity of a subscription. */
interface SubscriptionRate {
  readonly rateType: 'SUBSCRIPTION';
  readonly price: Decimal;
  readonly quantity: Decimal | null;
  readonly isProrated: boolean | null;
}

export type Rate = UsageRate | PercentageRate | SubscriptionRate;

export const BILLING_FREQUENCIES = ['WEEKLY', 'MONTHLY', 'QUARTERLY', 'ANNUAL'] as const;
export type BillingFrequency = (typeof BILLING_FREQUENCIES)[number];

/** Rates of a card with the same product, group values and billing frequency are versions of one price. */
export interface RateIdentity {
  readonly productId: string;
  readonly pricingGroupValues: Readonly<Record<string, string>>;
  /** Set for SUBSCRIPTION products only. */
  readonly billingFrequency: BillingFrequency | null;
}

/** One call to add a rate, as it was submitted. Effective segments are derived (rating/rates/rate-schedule.ts). */
export interface RateEntry extends RateIdentity {
  readonly id: string;
  readonly rateCardId: string;
  readonly startingAt: Instant;
  readonly endingBefore: Instant | null;
  readonly entitled: boolean;
  readonly rate: Rate;
  /** The second price, in the same unit, of usage that is paid by a balance at commit rates. */
  readonly commitRate: UsageRate | null;
  /** For percentages, the card's currency, which has no effect. */
  readonly creditTypeId: string;
  /** Order of addition within the rate card; the later one wins. */
  readonly sequence: number;
}

export type StatementFrequency = 'WEEKLY' | 'MONTHLY' | 'QUARTERLY' | 'ANNUAL';
export type StatementDay = 'FIRST_OF_MONTH' | 'CONTRACT_START' | 'CUSTOM_DATE';

/** When a contract's usage invoices begin and end. */
export interface StatementSchedule {
  readonly frequency: StatementFrequency;
  readonly day: StatementDay;
  /** Set for CUSTOM_DATE only. */
  readonly anchor: Instant | null;
}

/**
 * The parts shared by both demos: products metered by one metric each and priced by group, and the events that the
 * customers send. Plain data; the other modules work with it.
 */
import type { Decimal } from '../core/decimal.ts';
import type { Instant } from '../core/time.ts';

export type DemoAggregation = 'COUNT' | 'SUM' | 'UNIQUE';

/** `size` is the width of the tier in units; null in the last one. */
export interface PriceTier {
  readonly size: Decimal | null;
  /** Cents per unit. */
  readonly price: Decimal;
}

export interface PricedGroup {
  /** Empty for a product with a single price. */
  readonly groupValues: Readonly<Record<string, string>>;
  /** One tier means a flat rate. */
  readonly tiers: readonly PriceTier[];
}

/** A product with its metric. */
export interface MeteredProduct {
  readonly name: string;
  /** The word for one unit of the quantity: `tokens`. */
  readonly unit: string;
  readonly aggregation: DemoAggregation;
  /** The property that is summed or counted for distinct values; null for COUNT. */
  readonly property: string | null;
  readonly pricingGroupKey: readonly string[];
  readonly prices: readonly PricedGroup[];
}

export interface DemoCustomer {
  readonly name: string;
  /** The alias in its events. */
  readonly alias: string;
}

/** An event of one customer before it gets its transaction id. */
export interface DemoEvent {
  /** Index into the scenario's customers. */
  readonly customer: number;
  readonly timestamp: Instant;
  readonly properties: Readonly<Record<string, string>>;
}

export interface Scenario {
  readonly rateCardName: string;
  readonly eventType: string;
  readonly products: readonly MeteredProduct[];
  readonly customers: readonly DemoCustomer[];
}

/** The group of an event under a product's pricing key, as one text: the identity of an invoice line's group. */
export function groupText(key: readonly string[], values: Readonly<Record<string, string>>): string {
  return key.map((name) => values[name] ?? '').join(' / ');
}

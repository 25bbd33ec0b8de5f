/**
 * Quantities of new events: what can be told of their cost before they are rated (docs/thresholds.md, "How soon").
 * Events of a type, with the same values of the properties that prices and filters look at, are of one shape. Of each
 * shape the events are counted, and the numbers added up that metrics add up.
 */

/** By kind, which stands for a shape and what is counted of it. Absolute values. Empty: events of unknown quantities. */
export type Quantities = ReadonlyMap<number, number>;

export const UNKNOWN_QUANTITIES: Quantities = new Map();

/** More names are not looked at, of amounts and of shapes each: every event is searched for them. */
export const QUANTITY_NAMES_MAX = 100;

/** The properties that are looked at. */
export interface QuantityNames {
  /** Their numbers are added up. */
  readonly amounts: readonly string[];
  /** Events with different values of them are of different shapes. */
  readonly shapes: readonly string[];
}

export const NO_QUANTITY_NAMES: QuantityNames = { amounts: [], shapes: [] };

/** New events by customer reference; null: of customers that are not known, because nobody was watched. */
export type NewUsage = ReadonlyMap<string, Quantities> | null;

/** Who wants to know about new events. */
export interface UsageWatch {
  /** Whether anybody is watched. */
  isWatching(): boolean;
  /** Whether the quantities of events with this reference are wanted. */
  isWatched(customerRef: string): boolean;
  /** The same object until the names change. */
  names(): QuantityNames;
  /** New events are on disk. Runs within the request, so it must not wait. */
  stored(usage: NewUsage): void;
}

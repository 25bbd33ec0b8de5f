/**
 * Quantities of new events: an estimate of their cost before they are rated (docs/explanation/thresholds.md, "How soon").
 * Events of a type, with the same values of the properties that prices and filters look at, are of one shape. Of each
 * shape the events are counted, and the numbers added up that metrics add up.
 */

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

/**
 * The quantities of some new events, customer by customer, in flat lists: an object for every event would cost more than
 * reading it.
 */
export interface WeighedUsage {
  /** The hashes of the customers' references. A hash that occurs several times has the sum of its places. */
  readonly owners: readonly number[];
  /** Where the quantities of each owner end in the lists below. One without any has usage of unknown quantities. */
  readonly ends: readonly number[];
  /** The subject of the amounts: a shape, and the quantity that is counted of it. */
  readonly kinds: readonly number[];
  /** Absolute values, in floating point. */
  readonly amounts: readonly number[];
}

/** Null: of customers that are not known, because nobody was watched. */
export type NewUsage = WeighedUsage | null;

/** Takes in the new usage of one customer, and says how soon it is to be evaluated. */
export interface UsageMeter {
  add(kind: number, amount: number): void;
  /**
   * Within how many milliseconds the customer is to be evaluated for all that was added; 0: at once. `isKnown`: whether
   * the new usage was added; false where its quantities are unknown.
   */
  waitMs(isKnown: boolean): number;
  /**
   * So much of a unit is held (docs/explanation/holds.md). Within how many milliseconds the customer is to be evaluated
   * for it; infinite where that changes nothing. Absent: nothing that is held does.
   */
  held?(creditTypeId: string, amount: number): number;
  /** Less than this amount may come of the kind before `waitMs` becomes much shorter than it is now; 0 is none. */
  room(kind: number): number;
}

/** Who wants to know about new events. */
export interface UsageWatch {
  /** Whether anybody is watched. */
  isWatching(): boolean;
  /** Whether the quantities of events are wanted whose customer reference has this hash (`hashText`). It may be of another. */
  isWatched(owner: number): boolean;
  /** The same object until the names change. */
  names(): QuantityNames;
  /** New events are on disk. Runs within the request, so it must not wait. */
  stored(usage: NewUsage): void;
}

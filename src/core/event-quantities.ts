/**
 * Quantities of new events: an estimate of their cost before they are rated (docs/explanation/thresholds.md, "How
 * soon"). Events of a type with the same values of the properties that prices and filters use have one shape. Events
 * are counted by shape, and the numbers that metrics sum are summed.
 */

/** The maximum number of names, for amounts and for shapes each: every event is searched for them. */
export const QUANTITY_NAMES_MAX = 100;

/** The properties that are read from events. */
export interface QuantityNames {
  /** Properties whose numbers are summed. */
  readonly amounts: readonly string[];
  /** Properties whose values distinguish shapes. */
  readonly shapes: readonly string[];
}

export const NO_QUANTITY_NAMES: QuantityNames = { amounts: [], shapes: [] };

/**
 * The quantities of some new events by customer, in flat lists: an object for every event would cost more than reading
 * it.
 */
export interface WeighedUsage {
  /** The hashes of the customers' references. If customers share a hash, their quantities are summed. */
  readonly owners: readonly number[];
  /** The end of each owner's quantities in the lists below. An owner without any has usage of unknown quantities. */
  readonly ends: readonly number[];
  /** The kind of each amount: a shape, and the counted quantity. */
  readonly kinds: readonly number[];
  /** Absolute values, in floating point. */
  readonly amounts: readonly number[];
}

/** Null: the customers are unknown, because none was watched. */
export type NewUsage = WeighedUsage | null;

/** Collects the new usage of one customer, and determines how soon to evaluate it. */
export interface UsageMeter {
  add(kind: number, amount: number): void;
  /**
   * The milliseconds within which the customer has to be evaluated for all usage added; 0: at once. `isKnown`: whether
   * the new usage was added; false if its quantities are unknown.
   */
  waitMs(isKnown: boolean): number;
  /**
   * An amount of a unit is held (docs/explanation/holds.md). Returns the milliseconds within which the customer has to
   * be evaluated for it; infinite if that changes nothing. Absent: holds change nothing.
   */
  held?(creditTypeId: string, amount: number): number;
  /** The amount of the kind below which new usage does not shorten `waitMs` much; 0: any amount does. */
  room(kind: number): number;
}

/** A listener for new events. */
export interface UsageWatch {
  /** Whether any customer is watched. */
  isWatching(): boolean;
  /**
   * Whether the quantities of events whose customer reference has this hash (`hashText`) are needed. The hash may match
   * another customer's reference.
   */
  isWatched(owner: number): boolean;
  /** Returns the same object until the names change. */
  names(): QuantityNames;
  /** Called when new events are on disk. Runs within the request, so it must not wait. */
  stored(usage: NewUsage): void;
}

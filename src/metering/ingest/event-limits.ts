/**
 * Limits of an ingest request and of an event. An event that exceeds one is refused, never truncated. Limits on text
 * count UTF-16 code units (JavaScript's length) unless stated otherwise. The same table is in
 * docs/explanation/deduplication.md for readers of the API.
 */

/** The documented size of a request: large enough to spread its fixed cost, small enough to answer at once. */
export const EVENTS_PER_REQUEST_MAX = 100;

/** The documented length of a `transaction_id`, in characters: a UUID, a ULID or a composed key fits. */
export const TRANSACTION_ID_CHARACTERS_MAX = 128;

/** A customer id is a UUID and an alias is a short name; the sort key of every stored event starts with it. */
export const CUSTOMER_ID_LENGTH_MAX = 256;

/** Event types are names that programs choose, few in number, kept in one dictionary per part. */
export const EVENT_TYPE_LENGTH_MAX = 256;

/** Well above any event seen in practice; bounds the work that one event can cause. */
export const PROPERTIES_MAX = 1_000;

/** Property names are identifiers, at times dotted paths. */
export const PROPERTY_NAME_LENGTH_MAX = 256;

/** Nested values are stored as JSON text; this bounds the recursion that writes it. */
export const PROPERTY_DEPTH_MAX = 16;

/** Names and values of one event together: an event describes usage, not documents. */
export const PROPERTIES_LENGTH_MAX = 65_536;

/** Digits of a number written without exponent: twice the maximum of a quantity (76), so that 1e400 is refused. */
export const NUMBER_DIGITS_MAX = 160;

/** Clocks of senders may be at most a day ahead. */
export const FUTURE_HOURS_MAX = 24;

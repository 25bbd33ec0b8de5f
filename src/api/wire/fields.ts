/**
 * Schemas that many routes share: ids, timestamps, exact numbers, enums, query parameters.
 *
 * A schema here may be used in requests and in answers. Answers use its input side: a timestamp is text, an
 * exact number a `Decimal`.
 */
import { z } from 'zod';
import { CUSTOM_FIELD_VALUE_LENGTH_MAX } from '../../core/custom-fields.ts';
import { Decimal, fitsUsage, USAGE_INTEGER_DIGITS_MAX, USAGE_SCALE_MAX } from '../../core/decimal.ts';
import { isUuid } from '../../core/ids.ts';
import { parseMonth } from '../../core/invoice-month.ts';
import { formatInstant, type Instant, isDayAligned, isHourAligned, parseRfc3339 } from '../../core/time.ts';
import { JsonNumber } from '../base/json.ts';

/** A UUID, in lower case as PostgreSQL writes it. In a path a malformed one answers 404, elsewhere 400. */
export const uuid = z
  .string()
  .refine(isUuid, 'must be a UUID')
  .transform((text) => text.toLowerCase())
  .meta({ type: 'string', format: 'uuid' });

/** The range that both stores can hold. It also limits the number of periods of a contract. */
const EARLIEST = Date.UTC(1970, 0, 1);
const LATEST = Date.UTC(2200, 0, 1);

/** An end may lie further ahead: clients write a date in 2999 for no end. */
const LATEST_END = Date.UTC(3000, 0, 1);

/** An RFC 3339 timestamp with an explicit offset, parsed to an `Instant`; truncated to milliseconds. */
export const timestamp = timestampUpTo(LATEST);

function timestampUpTo(latest: Instant) {
  return z
    .string()
    .transform((text, context) => {
      const at = parseRfc3339(text);
      if (at !== null && at >= EARLIEST && at <= latest) return at;
      context.addIssue(
        at === null
          ? 'must be an RFC 3339 timestamp such as 2026-11-20T00:00:00Z'
          : `must lie between ${shown(EARLIEST)} and ${shown(latest)}`,
      );
      return z.NEVER;
    })
    .meta({ type: 'string', format: 'date-time' });
}

function shown(at: Instant): string {
  return formatInstant(at).replace('.000Z', 'Z');
}

/** A timestamp on a full UTC hour, as prices and periods require. */
export const hourAlignedTimestamp = timestamp
  .refine(isHourAligned, 'must be on a full hour in UTC')
  .meta({ type: 'string', format: 'date-time', description: 'On a full hour in UTC.' });

/** The end of something that is stored, as answers show it. */
export const endTimestamp = timestampUpTo(LATEST_END);

/** The end of something that is stored, on a full UTC hour. */
export const hourAlignedEnd = endTimestamp
  .refine(isHourAligned, 'must be on a full hour in UTC')
  .meta({ type: 'string', format: 'date-time', description: 'On a full hour in UTC.' });

/** A timestamp at midnight UTC. */
export const dayAlignedTimestamp = timestamp
  .refine(isDayAligned, 'must be at midnight UTC')
  .meta({ type: 'string', format: 'date-time', description: 'At midnight UTC.' });

/** A month in UTC, parsed to its first instant. */
export const month = z
  .string()
  .transform((text, context) => {
    const at = parseMonth(text);
    if (at !== null && at >= EARLIEST && at <= LATEST) return at;
    context.addIssue(
      at === null
        ? 'must be a month such as 2026-11'
        : `must lie between ${shown(EARLIEST)} and ${shown(LATEST)}`,
    );
    return z.NEVER;
  })
  .meta({ type: 'string', pattern: '^[0-9]{4}-(0[1-9]|1[0-2])$' });

/** One of `values`, which are UPPER case. `lower` and `Capitalized` spellings are accepted too. */
export function enumIn<const Values extends readonly [string, ...string[]]>(values: Values) {
  return z.preprocess((value) => {
    if (typeof value !== 'string') return value;
    const upper = value.toUpperCase();
    const lower = value.toLowerCase();
    const capitalized = upper.charAt(0) + lower.slice(1);
    return value === lower || value === capitalized ? upper : value;
  }, z.enum(values));
}

type SentNumber = number | JsonNumber;

function isSentNumber(value: unknown): value is SentNumber {
  return typeof value === 'number' ? Number.isFinite(value) : value instanceof JsonNumber;
}

const sentNumber = z.custom<SentNumber>(isSentNumber, {
  error: (issue) => (issue.input === undefined ? 'is required' : 'must be a number'),
});

/** An exact number of a request body. `min` and `max` are inclusive decimals as text. */
export function exactNumber(bounds: { readonly min?: string; readonly max?: string } = {}) {
  return sentNumber
    .transform((sent, context) => {
      const problem = exactNumberProblem(sent, bounds);
      if (problem === null) return new Decimal(sent.toString());
      context.addIssue(problem);
      return z.NEVER;
    })
    .meta({
      type: 'number',
      ...(bounds.min === undefined ? {} : { minimum: Number(bounds.min) }),
      ...(bounds.max === undefined ? {} : { maximum: Number(bounds.max) }),
    });
}

/** Checks the exponent first, so that `1e999999999` is not expanded to a billion digits. */
function exactNumberProblem(
  sent: SentNumber,
  bounds: { readonly min?: string; readonly max?: string },
): string | null {
  const text = sent.toString();
  const tooLong = `must have at most ${USAGE_INTEGER_DIGITS_MAX} digits before and ${USAGE_SCALE_MAX} after the decimal point`;
  const exponent = Number(/[eE]([+-]?\d+)$/.exec(text)?.[1] ?? 0);
  if (Math.abs(exponent) > 1_000 || text.length > 1_000) return tooLong;
  const value = new Decimal(text);
  if (!fitsUsage(value)) return tooLong;
  if (bounds.min !== undefined && value.lt(bounds.min)) return `must be at least ${bounds.min}`;
  if (bounds.max !== undefined && value.gt(bounds.max)) return `must be at most ${bounds.max}`;
  return null;
}

/** An exact number of an answer: a `Decimal` in the handler, a number literal with all its digits on the wire. */
export const exactValue = z
  .custom<Decimal | SentNumber>((value) => value instanceof Decimal || isSentNumber(value), {
    error: 'must be a number',
  })
  .meta({ type: 'number' });

/** A whole number of a request body, for counts and priorities; not for money. */
export function wholeNumber(min: number, max: number) {
  return sentNumber
    .transform((sent, context) => {
      const value = Number(sent.toString());
      if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
      context.addIssue(`must be a whole number from ${min} to ${max}`);
      return z.NEVER;
    })
    .meta({ type: 'integer', minimum: min, maximum: max });
}

/** A query parameter that must not be repeated. */
const queryText = z.string({
  error: (issue) => (Array.isArray(issue.input) ? 'must be given once' : undefined),
});

/** The `limit` query parameter of a paged list. */
export function limit(min: number, max: number, defaultValue: number) {
  return queryText
    .transform((text, context) => {
      const value = Number(text);
      if (/^\d{1,9}$/.test(text) && value >= min && value <= max) return value;
      context.addIssue(`must be a whole number from ${min} to ${max}`);
      return z.NEVER;
    })
    .optional()
    .transform((value) => value ?? defaultValue)
    .meta({ type: 'integer', minimum: min, maximum: max, default: defaultValue });
}

/** `true` or `false` as a query parameter. */
export const queryBoolean = queryText
  .transform((text, context) => {
    if (text === 'true' || text === 'false') return text === 'true';
    context.addIssue('must be true or false');
    return z.NEVER;
  })
  .meta({ type: 'boolean' });

/** A list as a query parameter: comma-separated as the official client sends it, repeated, or both. */
export function commaList<Item extends z.ZodType>(item: Item) {
  return z.preprocess((value) => {
    const parts: unknown[] = Array.isArray(value) ? value : [value];
    return value === undefined ? undefined : parts.flatMap((part) => String(part).split(',')).filter(Boolean);
  }, z.array(item));
}

/** Custom fields: string to string, values of at most 200 characters. */
export const customFields = z
  .record(z.string().min(1), z.string().max(CUSTOM_FIELD_VALUE_LENGTH_MAX))
  .meta({ id: 'CustomFields', description: 'Metadata as key and value, both strings.' });

export const creditType = z
  .object({ id: uuid, name: z.string() })
  .meta({ id: 'CreditType', description: 'A pricing unit, such as US cents or a custom unit.' });

/** `{data: {id}}`: the answer of every operation that creates something. */
export const createdId = z
  .object({ data: z.object({ id: uuid }).meta({ id: 'Id' }) })
  .meta({ id: 'CreatedId' });

/** The wire form of a value that may be missing; a member that is undefined is not written. */
export function given<Value, Wire>(
  value: Value | null | undefined,
  write: (value: Value) => Wire,
): Wire | undefined {
  return value === null || value === undefined ? undefined : write(value);
}

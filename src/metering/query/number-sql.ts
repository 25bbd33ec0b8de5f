/**
 * The exact number in a property's text, in SQL: `value_number` is `Decimal(76, 30)`, or NULL exactly if
 * `parseUsageDecimal` (core/decimal.ts) returns null; `value_is_number` checks the same at less cost. Property tests
 * hold them equal.
 *
 * ClickHouse's own conversion is not enough: it accepts `1.1.1`, `.` and `e5` as numbers and cuts digits beyond the
 * scale. So the text is checked first, cheapest check first: integers of up to 19 digits, then short decimals, and only
 * then the full grammar.
 */
import { USAGE_INTEGER_DIGITS_MAX, USAGE_SCALE_MAX } from '../../core/decimal.ts';

/** At most 17 digits on either side of the point: exact in `Decimal(38, 18)`, which is faster to read. */
const SHORT_DECIMAL = "length(value_text) <= 19 AND match(value_text, '^-?[0-9]+[.][0-9]+$')";

/** Leading zeros and trailing zeros of the fraction carry no digit, so their number is unlimited. */
const PLAIN_NUMBER = `^[+-]?0*[0-9]{1,${USAGE_INTEGER_DIGITS_MAX}}(?:[.][0-9]{1,${USAGE_SCALE_MAX}}0*)?$`;
const WITH_EXPONENT = '^([+-]?)([0-9]+)(?:[.]([0-9]+))?[eE]([+-]?[0-9]{1,2})$';

/** Padding on either side of the digits for an exponent of two digits. */
const ZEROS = 100;

/** A name and its expression, in terms of the names before it. */
type Step = readonly [name: string, sql: string];

const VALUE_WHOLE: Step = ['value_whole', 'toInt64OrNull(value_text)'];

/**
 * Each is written in terms of as few others as possible: ClickHouse repeats them in full at each use when it plans a
 * query. It computes only those that are used, on the rows that need them.
 */
const EXACT_STEPS: readonly Step[] = [
  VALUE_WHOLE,
  // Sign, integer digits, fraction digits and exponent; empty if the text has another form.
  ['value_parts', `extractGroups(value_text, '${WITH_EXPONENT}')`],
  // The number written out without its exponent.
  [
    'value_plain',
    `if(empty(value_parts), value_text, concat(value_parts[1], overlay(
      concat(repeat('0', ${ZEROS}), value_parts[2], value_parts[3], repeat('0', ${ZEROS})),
      '.', ${ZEROS + 1} + length(value_parts[2]) + toInt16OrZero(value_parts[4]), 0
    )))`,
  ],
  [
    'value_is_number',
    `(isNotNull(value_whole) OR (${SHORT_DECIMAL}) OR match(value_plain, '${PLAIN_NUMBER}'))`,
  ],
  [
    'value_number',
    `multiIf(
      isNotNull(value_whole), toDecimal256(value_whole, ${USAGE_SCALE_MAX}),
      ${SHORT_DECIMAL}, toDecimal256(toDecimal128OrNull(value_text, 18), ${USAGE_SCALE_MAX}),
      toDecimal256OrNull(extract(value_plain, '${PLAIN_NUMBER}'), ${USAGE_SCALE_MAX})
    )`,
  ],
];

/**
 * The exact number if the text is an integer, else an error that ends the statement. `Decimal(38, 0)` holds the sum of
 * 10^19 numbers of 64 bits. It must be part of the aggregated value, and not of a condition: a condition would also be
 * computed for events that others exclude.
 */
const WHOLE_STEPS: readonly Step[] = [
  VALUE_WHOLE,
  ['value_number', wholeOrEnd('value_whole', 'isNull(value_whole)')],
];

function wholeOrEnd(whole: string, isOther: string): string {
  return `toDecimal128(assumeNotNull(${whole}) + throwIf(${isOther}, 'not a whole number'), 0)`;
}

/** `exact` reads every number. `whole` reads 64-bit integers only, and ends the statement at any other text. */
export type NumberReader = 'whole' | 'exact';

/** Entries of a WITH clause over the String expression `text`, which becomes `value_text`. */
export function numberDefinitions(text: string, reader: NumberReader): string[] {
  const steps = reader === 'whole' ? WHOLE_STEPS : EXACT_STEPS;
  return [`${text} AS value_text`, ...steps.map(([name, sql]) => `${sql} AS ${name}`)];
}

/** Whether there is a text, which the reader of integers accepts as a number: empty text is not one. */
export function wholeTextSql(text: string): string {
  return `${text} != ''`;
}

/**
 * The number in a text for which `wholeTextSql` holds, with the reader `whole`. It may end the statement only if
 * `match` holds.
 */
export function wholeNumberSql(text: string, match: string): string {
  const whole = `toInt64OrNull(${text})`;
  return wholeOrEnd(whole, `${match} AND isNull(${whole})`);
}

/** The numbers in a list of String expressions, as one array: ClickHouse plans the reading once for all of them. */
export function numbersSql(texts: readonly string[]): string {
  return `arrayMap(value_text -> ${NUMBER_OF_TEXT}, [${texts.join(', ')}])`;
}

/** `value_number` with every step written out. */
const NUMBER_OF_TEXT = writtenOut('value_number');

function writtenOut(step: string): string {
  const sql = EXACT_STEPS.find(([name]) => name === step)?.[1];
  return sql === undefined ? step : `(${sql.replaceAll(/\bvalue_[a-z_]+/g, (name) => writtenOut(name))})`;
}

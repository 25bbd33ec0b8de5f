/**
 * The exact number in a property's text, in SQL: `value_number` is `Decimal(76, 30)`, or NULL exactly
 * where `parseUsageDecimal` (core/decimal.ts) gives null; `value_is_number` says the same at less cost.
 * A property test holds them together.
 *
 * ClickHouse's own conversion is not enough: it takes `1.1.1`, `.` and `e5` for numbers and cuts digits
 * beyond the scale. So the text is checked first, cheapest check first: whole numbers of up to 19
 * digits, then short decimals, and only then the full grammar.
 */
import { USAGE_INTEGER_DIGITS_MAX, USAGE_SCALE_MAX } from '../../core/decimal.ts';

/** At most 17 digits on either side of the point: exact in `Decimal(38, 18)`, which is faster to read. */
const SHORT_DECIMAL = "length(value_text) <= 19 AND match(value_text, '^-?[0-9]+[.][0-9]+$')";

/** Zeros in front and at the end of the fraction carry no digit, so they may be any number. */
const PLAIN_NUMBER = `^[+-]?0*[0-9]{1,${USAGE_INTEGER_DIGITS_MAX}}([.][0-9]{1,${USAGE_SCALE_MAX}}0*)?$`;
const WITH_EXPONENT = '^([+-]?)([0-9]+)(?:[.]([0-9]+))?[eE]([+-]?[0-9]{1,2})$';

/** Entries of a WITH clause over the String expression `text`, which becomes `value_text`. */
export function numberDefinitions(text: string): string[] {
  return [`${text} AS value_text`, ...NUMBER_DEFINITIONS];
}

/** ClickHouse computes only those that a query uses, and of a branch only the rows that reach it. */
const NUMBER_DEFINITIONS = [
  'toInt64OrNull(value_text) AS value_whole',
  // Sign, integer digits, fraction digits and exponent; empty where the text has another form.
  `extractGroups(value_text, '${WITH_EXPONENT}') AS value_parts`,
  'length(value_parts[2]) + toInt16OrZero(value_parts[4]) AS value_point',
  `concat(
    repeat('0', greatest(0, 1 - value_point)), value_parts[2], value_parts[3],
    repeat('0', greatest(0, value_point - length(value_parts[2]) - length(value_parts[3]) + 1))
  ) AS value_digits`,
  // The number written out without its exponent.
  `if(empty(value_parts), value_text, concat(
    value_parts[1], substring(value_digits, 1, greatest(1, value_point)),
    '.', substring(value_digits, greatest(1, value_point) + 1)
  )) AS value_plain`,
  `(isNotNull(value_whole) OR (${SHORT_DECIMAL}) OR match(value_plain, '${PLAIN_NUMBER}')) AS value_is_number`,
  `multiIf(
    isNotNull(value_whole), toDecimal256(value_whole, ${USAGE_SCALE_MAX}),
    ${SHORT_DECIMAL}, toDecimal256(toDecimal128OrNull(value_text, 18), ${USAGE_SCALE_MAX}),
    match(value_plain, '${PLAIN_NUMBER}'), toDecimal256OrNull(value_plain, ${USAGE_SCALE_MAX}),
    NULL
  ) AS value_number`,
];

/** Functions of times. Everything is UTC unless AT TIME ZONE says otherwise; weeks begin on Monday. */
import { INTERVAL_UNITS, TIME_PARTS, timePartSql, truncatedSql } from '../time-units.ts';
import { type ScalarFunction, scalar, special, wholeResult } from './scalar-function.ts';

/** `toStartOfHour(t)` and its like: the name in ClickHouse of DATE_TRUNC with one unit. */
const STARTS: readonly ScalarFunction[] = INTERVAL_UNITS.map((unit) => {
  const name = `toStartOf${unit.charAt(0).toUpperCase()}${unit.slice(1)}`;
  return scalar(
    name.toUpperCase(),
    `${name}(timestamp)`,
    `${name}(timestamp)`,
    { takes: ['timestamp'], gives: 'timestamp', sql: ([t = '']) => truncatedSql(t, unit) },
    { synonyms: unit === 'week' ? ['toMonday'] : unit === 'day' ? ['toDate', 'DATE'] : [] },
  );
});

/** `toHour(t)` and its like: the name in ClickHouse of EXTRACT with one part. */
const PARTS: readonly ScalarFunction[] = Object.entries(TIME_PARTS)
  .filter(([part]) => part !== 'dow')
  .map(([part, name]) =>
    scalar(
      name.toUpperCase(),
      `${name}(timestamp)`,
      `${name}(timestamp)`,
      { takes: ['timestamp'], gives: 'number', sql: ([t = '']) => timePartSql(t, part) ?? t },
      { synonyms: part === 'isodow' ? [] : [part.toUpperCase()] },
    ),
  );

export const TIME_FUNCTIONS: readonly ScalarFunction[] = [
  special('DATE_TRUNC', [2, 2], "DATE_TRUNC('unit', timestamp)", "DATE_TRUNC('month', timestamp)", {
    note: `units: ${INTERVAL_UNITS.join(', ')}`,
  }),
  special('EXTRACT', [2, 2], 'EXTRACT(part FROM timestamp)', 'EXTRACT(hour FROM timestamp)', {
    synonyms: ['DATE_PART'],
    note: `parts: ${Object.keys(TIME_PARTS).join(', ')}, epoch; dow counts from Sunday = 0, isodow from Monday = 1`,
  }),
  special(
    'DATE_DIFF',
    [3, 3],
    "DATE_DIFF('unit', from, to)",
    "DATE_DIFF('minute', MIN(timestamp), MAX(timestamp))",
    { synonyms: ['dateDiff', 'TIMESTAMPDIFF', 'AGE'], note: 'how many starts of a unit lie between them' },
  ),
  special(
    'AT_TIME_ZONE',
    [2, 2],
    "timestamp AT TIME ZONE 'zone'",
    "EXTRACT(hour FROM timestamp AT TIME ZONE 'Europe/Zurich')",
    { note: 'the time on the clocks of the zone' },
  ),
  special('INTERVAL', [1, 1], "timestamp ± INTERVAL '1 day'", "timestamp + INTERVAL '2 hours'", {
    note: `units: ${INTERVAL_UNITS.join(', ')}; at most 100 years`,
  }),
  scalar(
    'FORMATDATETIME',
    "formatDateTime(timestamp, 'format')",
    "formatDateTime(timestamp, '%Y-%m')",
    { takes: ['timestamp', 'literal'], gives: 'text', sql: (args) => `formatDateTime(${args.join(', ')})` },
    { synonyms: ['DATE_FORMAT', 'STRFTIME'], note: '%Y %m %d %H %i %S and so on, as in ClickHouse' },
  ),
  scalar(
    'TOUNIXTIMESTAMP',
    'toUnixTimestamp(timestamp)',
    'MAX(toUnixTimestamp(timestamp))',
    {
      takes: ['timestamp'],
      gives: 'number',
      sql: ([t = '']) => wholeResult(`intDiv(toUnixTimestamp64Milli(${t}), 1000)`),
    },
    { synonyms: ['EPOCH'], note: 'seconds' },
  ),
  ...STARTS,
  ...PARTS,
];

/** Functions of times. Everything is UTC unless AT TIME ZONE is used; weeks begin on Monday. */
import {
  INTERVAL_UNITS,
  inZoneSql,
  NOW_SQL,
  ofZoneSql,
  TIME_PARTS,
  timePartSql,
  truncatedSql,
} from '../values/time-units.ts';
import { type ScalarFunction, scalar, special, wholeResult } from './scalar-function.ts';

/** `toStartOfHour(t)` and the like: ClickHouse's names of DATE_TRUNC with one unit. */
const STARTS: readonly ScalarFunction[] = INTERVAL_UNITS.map((unit) => {
  const name = `toStartOf${unit.charAt(0).toUpperCase()}${unit.slice(1)}`;
  return scalar(
    name.toUpperCase(),
    `${name}(timestamp[, 'zone'])`,
    `${name}(timestamp)`,
    {
      takes: ['timestamp', 'zone'],
      gives: 'timestamp',
      sql: ([t = '', zone]) =>
        zone === undefined ? truncatedSql(t, unit) : ofZoneSql(truncatedSql(inZoneSql(t, zone), unit), zone),
    },
    {
      least: 1,
      synonyms: unit === 'week' ? ['toMonday'] : unit === 'day' ? ['toDate', 'DATE'] : [],
      note: 'with a zone: the instant at which the unit began there',
    },
  );
});

/** `toHour(t)` and the like: ClickHouse's names of EXTRACT with one part. */
const PARTS: readonly ScalarFunction[] = Object.entries(TIME_PARTS)
  .filter(([part]) => part !== 'dow')
  .map(([part, name]) =>
    scalar(
      name.toUpperCase(),
      `${name}(timestamp[, 'zone'])`,
      `${name}(timestamp, 'Europe/Zurich')`,
      {
        takes: ['timestamp', 'zone'],
        gives: 'number',
        sql: ([t = '', zone]) => timePartSql(zone === undefined ? t : inZoneSql(t, zone), part) ?? t,
      },
      { least: 1, synonyms: part === 'isodow' ? [] : [part.toUpperCase()] },
    ),
  );

/** `addDays(t, n)` and the like: ClickHouse's names of an INTERVAL, for computed numbers. */
const DAYS: readonly ScalarFunction[] = INTERVAL_UNITS.flatMap((unit) => {
  const units = `${unit.charAt(0).toUpperCase()}${unit.slice(1)}s`;
  return (['add', 'subtract'] as const).map((verb) =>
    scalar(
      `${verb}${units}`.toUpperCase(),
      `${verb}${units}(timestamp, n)`,
      `${verb}${units}(timestamp, 7)`,
      {
        takes: ['timestamp', 'whole'],
        gives: 'timestamp',
        sql: ([t = '', n = '']) => `add${units}(${t}, ${verb === 'add' ? n : `negate(${n})`})`,
      },
    ),
  );
});

const CLOCK_NOTE = 'the clock of the service when the query is asked; only in POST /v1/sql';

function clock(name: string, written: string, sql: string, synonyms: readonly string[]): ScalarFunction {
  return scalar(
    name,
    `${written}()`,
    `${written}()`,
    { takes: [], gives: 'timestamp', sql: () => sql },
    { synonyms, note: CLOCK_NOTE },
  );
}

/** The functions for the current time that a query across customers may use. */
const CLOCKS: readonly ScalarFunction[] = [
  clock('NOW', 'now', NOW_SQL, ['now64', 'GETDATE', 'SYSDATE']),
  clock('TODAY', 'today', truncatedSql(NOW_SQL, 'day'), []),
  clock('YESTERDAY', 'yesterday', `addDays(${truncatedSql(NOW_SQL, 'day')}, -1)`, []),
];

export const CLOCK_FUNCTIONS: readonly string[] = CLOCKS.map(({ name }) => name);

export const TIME_FUNCTIONS: readonly ScalarFunction[] = [
  ...CLOCKS,
  special('DATE_TRUNC', [2, 3], "DATE_TRUNC('unit', timestamp[, 'zone'])", "DATE_TRUNC('month', timestamp)", {
    note: `units: ${INTERVAL_UNITS.join(', ')}; with a zone: the instant at which the unit began there`,
  }),
  special(
    'TODATETIME',
    [1, 2],
    "toDateTime(x[, 'zone'])",
    "toDateTime('2026-11-20 08:00:00', 'Europe/Zurich')",
    {
      synonyms: [
        'toDateTime64',
        'TO_TIMESTAMP',
        'FROM_UNIXTIME',
        'fromUnixTimestamp',
        'parseDateTimeBestEffort',
      ],
      note: 'of a text, or of a number of seconds since 1970; a text without an offset is a time of the zone, or of UTC',
    },
  ),
  ...DAYS,
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
    "formatDateTime(timestamp, 'format'[, 'zone'])",
    "formatDateTime(timestamp, '%Y-%m')",
    {
      takes: ['timestamp', 'literal', 'zone'],
      gives: 'text',
      sql: ([t = '', format = '', zone]) =>
        `formatDateTime(${zone === undefined ? t : inZoneSql(t, zone)}, ${format})`,
    },
    {
      least: 2,
      synonyms: ['DATE_FORMAT', 'STRFTIME'],
      note: '%Y %m %d %H %i %S and so on, as in ClickHouse',
    },
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

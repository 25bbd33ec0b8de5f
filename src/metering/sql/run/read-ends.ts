/**
 * V at the end of every hour with events, for queries that are not carried along the hours: each end is an evaluation
 * over all earlier events. One statement reads the events once for as many ends as fit its memory.
 */
import { z } from 'zod';
import { invalid } from '../../../core/errors.ts';
import { HOUR_MS, type Instant, SECOND_MS } from '../../../core/time.ts';
import type { KeySlice } from '../../query/key-slice.ts';
import {
  compileEnds,
  compileEventHours,
  type EventScope,
  type OutputColumns,
} from '../generate/statement-sql.ts';
import type { CheckedSqlMetric } from '../read/read-metric.ts';
import { countEvents } from './event-search.ts';
import type { StatementRow, StatementRunner } from './run-statement.ts';

export interface EndsRequest {
  readonly metric: CheckedSqlMetric;
  readonly columns: OutputColumns;
  readonly scope: EventScope;
  readonly slice: KeySlice | null;
}

/** Events times ends of one statement: some 100 bytes of memory each. */
const STATEMENT_ROWS = 10_000_000;
/** For all statements of a period: a million events over all hours of a month are 360 million. */
export const EVALUATED_ROWS_MAX = 1_000_000_000;

const hourRow = z.object({ part: z.string().transform((seconds) => Number(seconds) * SECOND_MS) });

/** Ends of the hours with events: no value changes between them. */
export async function readEventHours(runner: StatementRunner, scope: EventScope): Promise<Instant[]> {
  const rows = await runner.run(compileEventHours(scope), hourRow);
  return rows.map(({ part }) => part);
}

/** The rows of V at each of `ends`. Throws an `invalid` refusal if this exceeds `EVALUATED_ROWS_MAX`. */
export async function readEnds(
  runner: StatementRunner,
  { metric, columns, scope, slice }: EndsRequest,
): Promise<{ ends: Instant[]; values: StatementRow[][] }> {
  const hours = await readEventHours(runner, scope);
  // The first hour shows the result of the query without events.
  const ends = [...new Set([scope.interval.start + HOUR_MS, ...hours])].sort((a, b) => a - b);
  const { count } = await countEvents(runner, scope);
  refuseTooMuch(count, ends.length);
  const size = Math.max(1, Math.floor(STATEMENT_ROWS / Math.max(count, 1)));
  const byEnd = new Map<Instant, StatementRow[]>(ends.map((end) => [end, []]));
  for (let from = 0; from < ends.length; from += size) {
    const some = ends.slice(from, from + size);
    const until = {
      ...scope,
      interval: { start: scope.interval.start, end: some.at(-1) ?? scope.interval.end },
    };
    const rows = await runner.runQuery(compileEnds(metric.query, columns, until, some, slice));
    for (const row of rows) byEnd.get(row.part * SECOND_MS)?.push(row);
  }
  return { ends, values: ends.map((end) => byEnd.get(end) ?? []) };
}

/** On average, half of the events precede an end. */
function refuseTooMuch(events: number, ends: number): void {
  const rows = (events * ends) / 2;
  if (rows <= EVALUATED_ROWS_MAX) return;
  throw invalid(
    ['sql'],
    `the query is evaluated again at ${ends} hours over up to ${events} events, more than ${EVALUATED_ROWS_MAX} rows: bill it with a product whose granularity is service_period`,
  );
}

/**
 * Finds the events over which a query cannot be evaluated, such as one whose numbers overflow when multiplied.
 *
 * An event is found if the query over it alone cannot be evaluated. The search bisects the events, first by time, then
 * by id, and continues in the order of time, so the same events give the same result. It is limited in steps and
 * events: beyond that, all events from the first unsearched part on are left out.
 */
import { z } from 'zod';
import { assert } from '../../../core/errors.ts';
import type { Instant, Interval } from '../../../core/time.ts';
import {
  compileEventCount,
  compileEventList,
  compileWhole,
  type EventScope,
  type LeftOutEvents,
  type OutputColumns,
} from '../generate/statement-sql.ts';
import type { WrittenQuery } from '../generate/written-query.ts';
import { isOverflow, type StatementRunner } from './run-statement.ts';

export interface SearchedQuery {
  readonly query: WrittenQuery;
  readonly columns: OutputColumns;
  /** A scope over which the query is known to fail. */
  readonly scope: EventScope;
}

export interface SearchLimits {
  readonly events: number;
  /** Evaluations of the query. */
  readonly steps: number;
}

/** A step takes some 20 ms, or as long as evaluating its part of the events. */
export const BILLING_SEARCH: SearchLimits = { events: 100, steps: 2_000 };
/** Naming the first ones is enough to correct a request. */
export const ANALYSIS_SEARCH: SearchLimits = { events: 3, steps: 60 };

/** Up to this many ids are listed instead of counted. */
const LISTED_EVENTS_MAX = 200;

/** The events that cannot be counted on their own. Empty if the numbers overflow only together. */
export async function findUncountable(
  runner: StatementRunner,
  searched: SearchedQuery,
  limits: SearchLimits,
): Promise<LeftOutEvents> {
  const ids: string[] = [];
  let from: Instant | null = null;
  let steps = 0;
  let isOver = false;

  /** Searches a part; `narrow` bisects one that cannot be evaluated. */
  async function search(
    part: EventScope,
    partFrom: Instant,
    narrow: (part: EventScope) => Promise<void>,
  ): Promise<void> {
    if (isOver) return;
    if (steps >= limits.steps || ids.length >= limits.events) {
      isOver = true;
      if (!(await isCountable(runner, searched, rest(partFrom)))) from = partFrom;
      return;
    }
    steps += 1;
    if (!(await isCountable(runner, searched, part))) await narrow(part);
  }

  /** The rest of the searched time. */
  function rest(start: Instant): EventScope {
    return {
      ...searched.scope,
      interval: { start, end: searched.scope.interval.end },
      leftOut: { ids, from: null },
    };
  }

  async function inTime(part: EventScope): Promise<void> {
    const { count, middle } = await countEvents(runner, part);
    const { start, end } = part.interval;
    if (count <= LISTED_EVENTS_MAX || end - start === 1) {
      return amongIds(part, await listEvents(runner, part, count));
    }
    const cut = middle + 1 < end ? middle + 1 : middle;
    for (const interval of [
      { start, end: cut },
      { start: cut, end },
    ]) {
      await search({ ...part, interval }, interval.start, inTime);
    }
  }

  async function amongIds(part: EventScope, events: readonly ListedEvent[]): Promise<void> {
    const [first] = events;
    if (first === undefined) return;
    if (events.length === 1) {
      ids.push(first.id);
      return;
    }
    const half = Math.ceil(events.length / 2);
    for (const some of [events.slice(0, half), events.slice(half)]) {
      const only = { ...part, onlyIds: some.map(({ id }) => id) };
      await search(only, some[0]?.at ?? part.interval.start, () => amongIds(part, some));
    }
  }

  await inTime(searched.scope);
  return { ids, from };
}

async function isCountable(
  runner: StatementRunner,
  { query, columns }: SearchedQuery,
  scope: EventScope,
): Promise<boolean> {
  return canEvaluate(() => runner.runQuery(compileWhole(query, columns, scope)));
}

/** False if numbers overflow. Other failures are thrown. */
async function canEvaluate(evaluate: () => Promise<unknown>): Promise<boolean> {
  try {
    await evaluate();
    return true;
  } catch (error) {
    if (isOverflow(error)) return false;
    throw error;
  }
}

/**
 * The instant from which all events are left out, so that the rest can be evaluated: for numbers that overflow only
 * together. `evaluate` evaluates the query without these events; with `leftOut` alone it fails.
 */
export async function findEndOfCount(
  runner: StatementRunner,
  scope: EventScope,
  leftOut: LeftOutEvents,
  evaluate: (leftOut: LeftOutEvents) => Promise<unknown>,
): Promise<Instant> {
  let countable = scope.interval.start;
  let uncountable = leftOut.from ?? scope.interval.end;
  while (uncountable - countable > 1) {
    const between: Interval = { start: countable, end: uncountable };
    const { count, middle } = await countEvents(runner, { ...scope, interval: between, leftOut });
    if (count <= 1) break;
    const cut = middle + 1 < uncountable ? middle + 1 : middle;
    if (cut === countable) break;
    if (await canEvaluate(() => evaluate({ ...leftOut, from: cut }))) countable = cut;
    else uncountable = cut;
  }
  return countable;
}

const countRow = z.object({ event_count: z.string().transform(Number), middle: z.string() });

/** `middle` is the instant of the middle event, 0 without events. */
export async function countEvents(
  runner: StatementRunner,
  scope: EventScope,
): Promise<{ readonly count: number; readonly middle: Instant }> {
  const [row] = await runner.run(compileEventCount(scope), countRow);
  assert(row !== undefined, 'a count has one row');
  return row.event_count === 0
    ? { count: 0, middle: 0 }
    : { count: row.event_count, middle: Number(row.middle) };
}

const eventRow = z.object({ transaction_id: z.string(), at: z.string().transform(Number) });

/** An event without its properties. */
export interface ListedEvent {
  readonly id: string;
  readonly at: Instant;
}

/** The first events of the scope, in the order of time, then id. */
export async function listEvents(
  runner: StatementRunner,
  scope: EventScope,
  limit: number,
): Promise<ListedEvent[]> {
  const rows = await runner.run(compileEventList(scope, limit), eventRow);
  return rows.map(({ transaction_id: id, at }) => ({ id, at }));
}

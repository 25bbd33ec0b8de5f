/** Events of each customer in the last days of a month against the same days a month before: what is missing shows. */
import Big from 'big.js';
import { call } from '../../api/client.ts';
import { intervalOf, monthAfter } from '../../format/time.ts';

export interface UsageCompared {
  readonly now: number;
  readonly before: number;
}

const DAY_MS = 86_400_000;

/**
 * Events by customer from the first of the month to `now` or the end of the month, and in as many days of the month
 * before.
 */
export async function compareUsage(
  month: string,
  now: number,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, UsageCompared>> {
  const { starting_on: start, ending_before } = intervalOf(month);
  const { starting_on: formerStart, ending_before: formerEnd } = intervalOf(monthAfter(month, -1));
  const end = Math.min(Date.parse(ending_before), Math.floor(now / DAY_MS) * DAY_MS);
  const lengthMs = Math.max(0, end - Date.parse(start));
  const until = Math.min(Date.parse(formerStart) + lengthMs, Date.parse(formerEnd));
  const within = (from: string, to: number) =>
    `timestamp >= '${from}' AND timestamp < '${new Date(to).toISOString()}'`;
  const sql = `SELECT customer_id,
    SUM(CASE WHEN ${within(start, end)} THEN 1 ELSE 0 END) AS present,
    SUM(CASE WHEN ${within(formerStart, until)} THEN 1 ELSE 0 END) AS former
    FROM events WHERE timestamp >= '${formerStart}' AND timestamp < '${new Date(end).toISOString()}' GROUP BY customer_id`;
  if (lengthMs === 0) return new Map();
  const { data } = await call('POST /v1/sql', { body: { sql } }, signal);
  return new Map(
    data.map((row) => [String(row.customer_id), { now: countOf(row.present), before: countOf(row.former) }]),
  );
}

function countOf(value: unknown): number {
  return new Big(String(value ?? 0)).toNumber();
}

/** Whether a customer sent less than half of what it sent in the same days before. */
export function isMissing({ now, before }: UsageCompared): boolean {
  return before >= 10 && now * 2 < before;
}

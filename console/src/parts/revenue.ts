/** The billed amounts by day: of all customers or of one, read page by page, as series of two months. */
import Big from 'big.js';
import { callAll } from '../api/client.ts';
import { sum } from '../api/exact.ts';
import type { CreditType } from '../format/money.ts';
import { daysOf, intervalOf, monthAfter, monthText } from '../format/time.ts';
import type { Series } from './series.ts';

/** Revenue by unit, then by day. */
type Revenue = ReadonlyMap<string, { readonly unit: CreditType; readonly days: ReadonlyMap<string, Big> }>;

export interface TwoMonths {
  readonly present: Revenue;
  readonly former: Revenue;
}

/** The month and the one before it. */
export async function readTwoMonths(
  month: string,
  options: {
    readonly customerId?: string;
    readonly signal: AbortSignal;
    onPage?(customers: number): void;
  },
): Promise<TwoMonths> {
  const { customerId, ...rest } = options;
  const read = async (of: string) => {
    const query = { ...intervalOf(of), limit: '25', customer_id: customerId };
    return revenueOf((await callAll('GET /v1/revenue', { query }, rest)).flatMap(({ days }) => days));
  };
  const former = await read(monthAfter(month, -1));
  return { former, present: await read(month) };
}

interface Day {
  readonly start_timestamp: string;
  readonly credit_type: CreditType;
  readonly total: string;
}

function revenueOf(all: readonly Day[]): Revenue {
  const units = new Map<string, { unit: CreditType; days: Map<string, Big> }>();
  for (const { start_timestamp, credit_type, total } of all) {
    const known = units.get(credit_type.id) ?? { unit: credit_type, days: new Map<string, Big>() };
    units.set(credit_type.id, known);
    known.days.set(start_timestamp, (known.days.get(start_timestamp) ?? new Big(0)).plus(total));
  }
  return units;
}

function isOver(start: string, now: string): boolean {
  return Date.parse(start) + DAY_MS <= Date.parse(now);
}

/** The current day of a running month; undefined if the month is over or in the future. */
export function runningDay(month: string, now: string): string | undefined {
  return daysOf(intervalOf(month)).find((start) => start <= now && !isOver(start, now));
}

/** The units of both months. */
export function unitsOf({ present, former }: TwoMonths): CreditType[] {
  return [...new Map([...former, ...present]).values()].map(({ unit }) => unit);
}

const DAY_MS = 86_400_000;

/**
 * Both months over the days of the current one. Days that are not over have no figure: a running day would look like
 * one without sales.
 */
export function seriesOf(
  month: string,
  now: ReadonlyMap<string, Big>,
  before: ReadonlyMap<string, Big>,
  today: string,
): { readonly starts: string[]; readonly series: Series[] } {
  const starts = daysOf(intervalOf(month));
  const formerStarts = daysOf(intervalOf(monthAfter(month, -1)));
  const present = starts.map((start) => (isOver(start, today) ? (now.get(start) ?? new Big(0)) : null));
  const former = starts.map((_, at) => {
    const start = formerStarts[at];
    return start === undefined ? null : (before.get(start) ?? new Big(0));
  });
  return {
    starts,
    series: [
      { key: month, label: monthText(month), values: present },
      { key: 'former', label: monthText(monthAfter(month, -1)), values: former },
    ],
  };
}

/** For each day the sum of all days up to its end; none for days that are not over. */
export function cumulative(series: readonly Series[]): Series[] {
  return series.map((each) => {
    let all = new Big(0);
    const values = each.values.map((value) => {
      if (value === null) return null;
      all = all.plus(value);
      return all;
    });
    return { ...each, values };
  });
}

/**
 * The sums of the completed days of the current month, and of the same days of the previous one; null if all days are
 * over, or none is.
 */
export function sameDays([now, before]: readonly Series[]): {
  readonly now: Big;
  readonly before: Big;
} | null {
  const over = (now?.values ?? []).map((value) => value !== null);
  if (over.every((isOver) => isOver) || !over.includes(true)) return null;
  const sumOf = (of: Series | undefined) =>
    sum((of?.values ?? []).flatMap((value, at) => (over[at] && value) || []));
  return { now: sumOf(now), before: sumOf(before) };
}

/** Invoices as amounts that can be compared with those of the naive engine (`naive-rating.ts`). */
import { decimal } from '../../src/core/decimal.ts';
import { formatInstant, type Interval } from '../../src/core/time.ts';
import type { ApiAnswer, ApiClient } from './api-client.ts';
import type { NaiveAmount } from './naive-rating.ts';

export interface Amounts {
  /** Quantities and totals by `product|pricing|presentation|window|tier`, zero ones left out. */
  readonly usage: Map<string, NaiveAmount>;
  /** By `unit|window`. */
  readonly conversions: Map<string, NaiveAmount>;
}

/** The breakdown of the customer's invoices in `period`, by the start of the window. */
export async function breakdownAmounts(
  api: ApiClient,
  customerId: string,
  period: Interval,
  windowSize: 'HOUR' | 'DAY',
): Promise<Amounts> {
  const amounts = { usage: new Map(), conversions: new Map() };
  let next: unknown;
  do {
    const page = await api.get(`/v1/customers/${customerId}/invoices/breakdowns`, {
      query: {
        starting_on: formatInstant(period.start),
        ending_before: formatInstant(period.end),
        window_size: windowSize,
        ...(typeof next === 'string' ? { next_page: next } : {}),
      },
    });
    for (const index of page.list('data').keys()) {
      const window = Date.parse(page.text(`data[${index}].breakdown_start_timestamp`));
      addLines(amounts, page, `data[${index}]`, window);
    }
    next = page.at('next_page');
  } while (typeof next === 'string');
  return amounts;
}

/** The lines of the invoice at `at` of an answer, under the given window. */
export function addLines(amounts: Amounts, answer: ApiAnswer, at: string, window: number): void {
  for (const line of answer.list(`${at}.line_items`).keys()) {
    const path = `${at}.line_items[${line}]`;
    const values = (name: string) => JSON.stringify(answer.at(`${path}.${name}`) ?? {});
    const level = answer.at(`${path}.tier.level`) ?? 0;
    const isConversion = answer.text(`${path}.type`) === 'cpu_conversion';
    const key = isConversion
      ? `${answer.text(`${path}.converted_credit_type.id`)}|${window}`
      : [
          answer.text(`${path}.product_id`),
          values('pricing_group_values'),
          values('presentation_group_values'),
          window,
          level,
        ].join('|');
    const scaled = (name: string, by: string) =>
      Number(
        decimal(answer.digits(`${path}.${name}`))
          .times(by)
          .toFixed(),
      );
    const amount = isConversion
      ? { quantity: scaled('quantity', '10000'), total: scaled('total', '1000000') }
      : { quantity: scaled('quantity', '100'), total: scaled('total', '10000') };
    if (amount.quantity !== 0) (isConversion ? amounts.conversions : amounts.usage).set(key, amount);
  }
}

/** Sums hours into larger windows. */
export function regroup(hours: ReadonlyMap<string, NaiveAmount>, windowOf: (hour: number) => number) {
  const sums = new Map<string, NaiveAmount>();
  for (const [key, { quantity, total }] of hours) {
    const parts = key.split('|');
    // `unit|hour`, or the longer key of a line.
    const hourAt = parts.length === 2 ? 1 : 3;
    const sumKey = parts.with(hourAt, String(windowOf(Number(parts[hourAt])))).join('|');
    const before = sums.get(sumKey) ?? { quantity: 0, total: 0 };
    sums.set(sumKey, { quantity: before.quantity + quantity, total: before.total + total });
  }
  for (const [key, { quantity }] of sums) if (quantity === 0) sums.delete(key);
  return sums;
}

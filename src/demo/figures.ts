/** The service's results for every customer, read through the public API and summed by product and group. */

import { type Decimal, sum, ZERO } from '../core/decimal.ts';
import { DAY_MS, type Interval } from '../core/time.ts';
import { mapConcurrently } from '../runtime/concurrently.ts';
import * as billing from './billing-api.ts';
import type { HttpApi } from './http-api.ts';
import { at, type Provisioned } from './provisioning.ts';
import { groupText, type MeteredProduct, type Scenario } from './scenario.ts';

export type GroupQuantities = ReadonlyMap<string, Decimal>;

export interface CustomerFigures {
  readonly invoice: billing.Invoice;
  readonly daily: readonly billing.Breakdown[];
  /** By product: one value for the whole period, as the usage API reports it, by group. */
  readonly usage: readonly GroupQuantities[];
  /** By product: the usage rows of each day. */
  readonly usageByDay: readonly (readonly billing.UsageRow[])[];
}

export interface HourlyFigures {
  readonly breakdowns: readonly billing.Breakdown[];
  /** By product: the usage rows of each hour. */
  readonly usageByHour: readonly (readonly billing.UsageRow[])[];
}

const CONCURRENCY = 4;

export interface Subject {
  readonly api: HttpApi;
  readonly scenario: Scenario;
  readonly provisioned: Provisioned;
  readonly period: Interval;
}

/** Figures of all customers, in their order. `onCustomer` is called for each finished customer. */
export function readFigures(subject: Subject, onCustomer: () => void): Promise<CustomerFigures[]> {
  const { api, provisioned, period } = subject;
  return mapConcurrently(provisioned.customers, CONCURRENCY, async ({ id, contractId }) => {
    const figures = {
      usage: await readUsage(subject, id),
      usageByDay: await readUsageRows(subject, id, 'DAY'),
      invoice: await billing.invoiceOfPeriod(api, id, contractId, period.start),
      daily: await billing.breakdowns(api, id, contractId, 'DAY', period),
    };
    onCustomer();
    return figures;
  });
}

/** Hourly figures of one customer. Days are read concurrently: a page holds at most 24 hours. */
export async function readHourlyFigures(
  subject: Subject,
  customer: number,
  onDay: () => void,
): Promise<HourlyFigures> {
  const { api, provisioned, period } = subject;
  const { id, contractId } = at(provisioned.customers, customer);
  const usageByHour = await readUsageRows(subject, id, 'HOUR');
  const days = await mapConcurrently(daysOf(period), CONCURRENCY, async (day) => {
    const windows = await billing.breakdowns(api, id, contractId, 'HOUR', day);
    onDay();
    return windows;
  });
  return { breakdowns: days.flat(), usageByHour };
}

export function daysOf(period: Interval): Interval[] {
  const days: Interval[] = [];
  for (let start = period.start; start < period.end; start += DAY_MS)
    days.push({ start, end: start + DAY_MS });
  return days;
}

function readUsage(subject: Subject, customerId: string): Promise<GroupQuantities[]> {
  return mapConcurrently(subject.scenario.products, 1, async (product, index) => {
    const groupKey = product.pricingGroupKey;
    const rows = await billing.usage(subject.api, { ...usageQuery(subject, customerId, index), groupKey });
    return addUp(rows.map((row) => [groupText(groupKey, row.group ?? {}), row.value ?? ZERO]));
  });
}

function readUsageRows(subject: Subject, customerId: string, windowSize: 'HOUR' | 'DAY') {
  return mapConcurrently(subject.scenario.products, 1, (_, index) =>
    billing.usage(subject.api, { ...usageQuery(subject, customerId, index), windowSize }),
  );
}

function usageQuery(subject: Subject, customerId: string, product: number): billing.UsageQuery {
  const metricId = at(subject.provisioned.metricIds, product);
  return { customerId, metricId, windowSize: 'NONE', period: subject.period, groupKey: [] };
}

/** Quantities of one product's lines by group, over any number of invoices or breakdown windows. */
export function lineQuantities(
  documents: readonly { readonly line_items: readonly billing.LineItem[] }[],
  productId: string,
  product: MeteredProduct,
): GroupQuantities {
  const lines = documents.flatMap((document) => document.line_items);
  return addUp(
    lines
      .filter((line) => line.product_id === productId)
      .map((line) => [groupText(product.pricingGroupKey, line.pricing_group_values ?? {}), line.quantity]),
  );
}

/** Totals by key; keys with total zero are left out, because a service may or may not list them. */
export function addUp(entries: readonly (readonly [string, Decimal])[]): GroupQuantities {
  const totals = new Map<string, Decimal>();
  for (const [key, value] of entries) totals.set(key, (totals.get(key) ?? ZERO).plus(value));
  return new Map([...totals].filter(([, value]) => !value.eq(ZERO)));
}

export function totalOf(quantities: GroupQuantities): Decimal {
  return sum(quantities.values());
}

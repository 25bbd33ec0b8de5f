/** A metric that cannot be evaluated concerns its own products on a draft, and keeps the invoice from being issued. */
import { expect, test } from 'vitest';
import type { ComputedInvoice } from '../../../src/billing/invoices/compute/compute.ts';
import { freezeHours } from '../../../src/billing/invoices/freeze/freeze.ts';
import { rateTarget } from '../../../src/billing/invoices/rate-target/rate-target.ts';
import type { Product } from '../../../src/core/catalogue.ts';
import { USD_CENTS } from '../../../src/core/credit-types.ts';
import { ONE } from '../../../src/core/decimal.ts';
import { invalid } from '../../../src/core/errors.ts';
import type { BillableMetric } from '../../../src/core/metric.ts';
import { HOUR_MS } from '../../../src/core/time.ts';
import { factsWithoutIngest } from '../../../src/metering/ingest/event-facts.ts';
import { createUsageSource } from '../../../src/metering/usage/usage-source.ts';
import { rateBook } from '../../../src/rating/rates/rate-schedule.ts';
import { clickhouseForFile } from '../../support/file-fixtures.ts';

const clickhouse = await clickhouseForFile();
const PERIOD = { countedFrom: 0, start: 0, end: 24 * HOUR_MS };
const SLOW = invalid(['sql'], 'the query ran longer than 120 s');

function product(id: string, billableMetricId: string): Product {
  const version = {
    startingAt: null,
    name: id,
    tags: [],
    billableMetricId,
    quantityConversion: null,
    quantityRounding: null,
    sqlBreakdownGranularity: 'HOUR' as const,
    pricingGroupKey: [],
    presentationGroupKey: [],
    createdAt: 0,
    createdBy: 'test',
  };
  return { id, type: 'USAGE', versions: [version], archivedAt: null };
}

function metric(id: string): BillableMetric {
  return { kind: 'sql', id, name: `Metric ${id}`, sql: '' } as unknown as BillableMetric;
}

async function rated() {
  const products = [product('slow', 'slow'), product('quick', 'quick')];
  const onCard = products.map((one) => ({ product: one, rates: rateBook([]) }));
  const context = {
    cards: new Map([
      [
        'card',
        {
          terms: {
            fiatCreditTypeId: USD_CENTS.id,
            conversions: [],
            productOrder: ['slow', 'quick'],
            products: [],
            composites: [],
            subscriptions: [],
          },
          products: onCard,
          needing: onCard,
          optional: { ids: new Set<string>(), byValues: new Map<string, string[]>() },
          composites: [],
          conversions: new Map(),
        },
      ],
    ]),
    contracts: new Map([
      [
        'contract',
        {
          customerRefs: ['customer'],
          overrides: [],
          multiplierPrioritization: 'LOWEST_MULTIPLIER' as const,
          usageFilters: [],
          compositesCountSubscriptions: true,
        },
      ],
    ]),
    joined: new Map(),
    balances: new Map(),
    unpriced: new Map(),
    metrics: new Map([metric('slow'), metric('quick')].map((one) => [one.id, one])),
  };
  const answers = {
    ingestedUpTo: '0',
    fullness: 0,
    answerOf: ({ need }: { need: { billableMetricId: string } }) =>
      need.billableMetricId === 'slow'
        ? { series: [], uncounted: null, problem: SLOW }
        : {
            series: [{ groupValues: {}, steps: [{ at: HOUR_MS, value: ONE }] }],
            uncounted: null,
            problem: null,
          },
  };
  const target = {
    contract: { id: 'contract', customerId: 'customer', rateCardId: 'card' },
    period: PERIOD,
  };
  return rateTarget(
    { usageSource: createUsageSource(clickhouse, factsWithoutIngest()), invoiceLinesMax: undefined },
    { target, context, usage: answers, windows: { size: 'hour', within: null } },
  );
}

test('a draft has the other products, and a warning that names the metric and the limit', async () => {
  const { warnings, problems } = await rated();
  expect(warnings).toMatchObject([
    {
      kind: 'metric_not_evaluated',
      billableMetricId: 'slow',
      metricName: 'Metric slow',
      reason: SLOW.message,
    },
    // Nothing has a rate here, so that lines show as unpriced usage.
    { kind: 'unpriced_usage', productId: 'quick' },
  ]);
  expect(problems).toEqual([SLOW]);
});

test('the invoice is not issued, with the limit as the reason', async () => {
  const computed = { ...(await rated()), invoice: { lines: [] } } as unknown as ComputedInvoice;
  await expect(freezeHours(clickhouse, [computed])).rejects.toBe(SLOW);
});

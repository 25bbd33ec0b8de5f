import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type UsageBatchCursor,
  type UsageBatchInput,
  usageBatch,
  usageBatchCursor,
} from '../../src/billing/usage/usage-batch.ts';
import { newId } from '../../src/core/ids.ts';
import type { StreamingMetric } from '../../src/core/metric.ts';
import { DAY_MS, HOUR_MS, type Interval } from '../../src/core/time.ts';
import type { UsageWindowSize } from '../../src/metering/query/usage-windows.ts';
import { claimAliases, insertCustomer } from '../../src/store/customers/customers.ts';
import { insertMetric } from '../../src/store/metrics/billable-metrics.ts';
import { billingContext } from '../support/billing-context.ts';
import { clickhouseForFile, databaseForFile } from '../support/file-fixtures.ts';
import { type NaiveEvent, naiveUsage } from '../support/naive/usage.ts';
import { runs } from '../support/shares-of-tests.ts';
import { storeEvents } from '../support/usage-events.ts';
import { PERIOD, streamingMetric, TEXT_NAMES, usageScenario } from '../support/usage-scenarios.ts';

const clickhouse = await clickhouseForFile();
const pool = await databaseForFile();

interface Customer {
  readonly id: string;
  readonly refs: readonly string[];
}

async function newCustomer(alias: string): Promise<Customer> {
  const id = newId();
  const at = PERIOD.start;
  await pool.db.transaction(async (tx) => {
    await insertCustomer(tx, { id, name: alias, crmAccountId: null, createdAt: at, updatedAt: at });
    await claimAliases(tx, id, [alias], { isNew: true });
  });
  return { id, refs: [id, alias] };
}

interface Asked {
  readonly metric: StreamingMetric;
  readonly groupBy: { readonly key: string; readonly values: readonly string[] | null } | null;
}

const asked: fc.Arbitrary<Asked> = fc.record({
  metric: streamingMetric,
  groupBy: fc.option(
    fc.record({
      key: fc.constantFrom(...TEXT_NAMES, 'amount'),
      values: fc.option(fc.uniqueArray(fc.constantFrom('a', 'b', 'B', '1', 'none'), { minLength: 1 })),
    }),
  ),
});

interface Question {
  readonly asked: readonly Asked[];
  readonly windowSize: UsageWindowSize;
  readonly range: Interval;
  readonly limit: number;
}

const question: fc.Arbitrary<Question> = fc
  .record({
    asked: fc.array(asked, { minLength: 1, maxLength: 3 }),
    windowSize: fc.constantFrom<UsageWindowSize>('HOUR', 'DAY', 'NONE'),
    days: fc.constantFrom([0, 2], [0, 1], [1, 2], [-1, 3]),
    hours: fc.constantFrom(0, 0, 5),
    limit: fc.constantFrom(1, 3, 7, 50, 1000),
  })
  .map(({ days: [first = 0, last = 0], hours, ...rest }) => ({
    ...rest,
    // A page a row of four days of hours would be a thousand queries that show nothing more.
    limit: rest.windowSize === 'HOUR' ? Math.max(200, rest.limit) : rest.limit,
    range: {
      start: PERIOD.start + first * DAY_MS + (rest.windowSize === 'HOUR' ? hours * HOUR_MS : 0),
      end: PERIOD.start + last * DAY_MS,
    },
  }));

/** The customers' events under their names here; the third customer has none. */
function eventsOf(events: readonly NaiveEvent[], [first, second]: readonly Customer[]): NaiveEvent[] {
  return events.map((event) => {
    const [kind = ''] = event.customerRef.split('-');
    const refs = kind === 'second' ? second?.refs : first?.refs;
    return { ...event, customerRef: refs?.[kind === 'alias' ? 1 : 0] ?? '' };
  });
}

async function storeMetrics(list: readonly Asked[]): Promise<Asked[]> {
  return await Promise.all(
    list.map(async ({ metric, groupBy }) => {
      const groupKeys = groupBy === null ? [] : [[groupBy.key]];
      const stored = { ...metric, id: newId(), groupKeys, createdAt: PERIOD.start };
      await insertMetric(pool.db, stored);
      return { metric: stored, groupBy };
    }),
  );
}

/** All pages as plain rows; `between` runs after the first. */
async function readAllPages(input: UsageBatchInput, between: () => Promise<void>): Promise<unknown[]> {
  const shown: unknown[] = [];
  let cursor: UsageBatchCursor | null = null;
  do {
    const page = await usageBatch(billingContext({ db: pool.db, clickhouse }), { ...input, after: cursor });
    expect(page.rows.length).toBeLessThanOrEqual(input.limit);
    for (const { customerId, metric, window, value, groups } of page.rows) {
      const byGroup = [...(groups ?? [])].map(([group, amount]) => [group, amount?.toString() ?? null]);
      shown.push([customerId, metric.id, window, value?.toString() ?? null, groups && byGroup]);
    }
    if (cursor === null) await between();
    // As the API does it: through text and back.
    cursor = page.next === null ? null : usageBatchCursor.parse(JSON.parse(JSON.stringify(page.next)));
  } while (cursor !== null);
  return shown;
}

function windowsOf({ range: { start, end }, windowSize }: Question): Interval[] {
  if (windowSize === 'NONE') return [{ start, end }];
  const length = windowSize === 'HOUR' ? HOUR_MS : DAY_MS;
  return Array.from({ length: (end - start) / length }, (_, index) => ({
    start: start + index * length,
    end: start + (index + 1) * length,
  }));
}

const byText = (a: string, b: string) => (a < b ? -1 : 1);

function oracleRows(
  { asked: list, ...rest }: Question,
  customers: readonly Customer[],
  events: readonly NaiveEvent[],
): unknown[] {
  const metrics = list.toSorted((a, b) => byText(a.metric.id, b.metric.id));
  return customers
    .toSorted((a, b) => byText(a.id, b.id))
    .flatMap((customer) =>
      metrics.flatMap(({ metric, groupBy }) =>
        windowsOf({ asked: list, ...rest }).map((window) => {
          const [whole] = naiveUsage(metric, events, customer.refs, window, []);
          const groups = groupBy && oracleGroups(metric, groupBy, events, customer, window);
          return [customer.id, metric.id, window, whole?.value ?? null, groups];
        }),
      ),
    );
}

function oracleGroups(
  metric: StreamingMetric,
  { key, values }: NonNullable<Asked['groupBy']>,
  events: readonly NaiveEvent[],
  { refs }: Customer,
  window: Interval,
): unknown[] {
  const lines = naiveUsage(metric, events, refs, window, [key]);
  if (values !== null) {
    return values.map((value) => [value, lines.find(({ group }) => group[0] === value)?.value ?? null]);
  }
  return lines
    .flatMap(({ group: [group], value }) => (group == null ? [] : [[group, value] as const]))
    .sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

describe('usage of many customers and metrics', () => {
  it('usage of many customers and metrics is the naive aggregate of every customer, metric and window, in order, whatever the page and whatever arrives', async () => {
    await fc.assert(
      fc.asyncProperty(usageScenario, usageScenario, question, async (before, after, drawn) => {
        const names = before.customers.map(({ customerId }) => customerId);
        const customers = await Promise.all(names.map(newCustomer));
        const asking = { ...drawn, asked: await storeMetrics(drawn.asked) };
        const known = eventsOf(before.events, customers);
        await storeEvents(clickhouse, known);
        const arriving = eventsOf(after.events, customers).map((event) => ({
          ...event,
          transactionId: `late-${event.transactionId}`,
          ingestedAt: event.ingestedAt + 1_000_000,
        }));
        const input = {
          customerIds: [...customers.map(({ id }) => id), customers[0]?.id ?? ''],
          metrics: asking.asked.map(({ metric, groupBy }) => ({ id: metric.id, groupBy })),
          windowSize: asking.windowSize,
          range: asking.range,
          after: null,
          limit: asking.limit,
        };
        const rows = await readAllPages(input, () => storeEvents(clickhouse, arriving));
        expect(rows).toEqual(oracleRows(asking, customers, known));
        const again = await readAllPages(input, async () => {});
        expect(again).toEqual(oracleRows(asking, customers, [...known, ...arriving]));
      }),
      { numRuns: runs(12) },
    );
  });
});

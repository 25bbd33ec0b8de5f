/** A draft is computed once for all pages of an answer as CSV, and its windows are those of the pages as JSON. */
import { beforeAll, describe, expect, test } from 'vitest';
import { listBalances } from '../../src/billing/balance-queries/list-balances.ts';
import type { BreakdownPosition } from '../../src/billing/invoices/breakdowns/breakdown-places.ts';
import { type BreakdownItem, listBreakdowns } from '../../src/billing/invoices/breakdowns/breakdowns.ts';
import { listCosts } from '../../src/billing/invoices/breakdowns/costs.ts';
import { KeptDrafts } from '../../src/billing/invoices/breakdowns/kept-drafts.ts';
import { listSpendBreakdowns } from '../../src/billing/invoices/breakdowns/spend-breakdowns.ts';
import { createKeptDeductions } from '../../src/billing/invoices/drafts/deductions.ts';
import type { Page, PageRequest } from '../../src/core/paging.ts';
import type { Instant } from '../../src/core/time.ts';
import { NO_TRACER, type Tracer } from '../../src/core/tracing.ts';
import { readBatchWatermark } from '../../src/metering/query/usage-batch.ts';
import type { CommitPosition } from '../../src/store/balances/commit-list.ts';
import { billingContext } from '../support/billing-context.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { completion, createScenario } from '../support/scenario.ts';

const { api, db, clickhouse } = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
const clock = { now: () => Date.UTC(2026, 10, 10) };
const range = { start: Date.UTC(2026, 10, 1), end: Date.UTC(2026, 10, 5) };

/** Computations of drafts since the last look. */
let computations = 0;
const tracer: Tracer = {
  ...NO_TRACER,
  step: (name, facts, work) => {
    if (name === 'compute drafts' && facts['tallyhouse.invoices'] !== 0) computations += 1;
    return NO_TRACER.step(name, facts, work);
  },
};
const context = billingContext({ db, clickhouse, clock, tracer });
/** Usage does not fit in memory: it is read in slices, and its hours come after its lines. */
const SLICED = { ...context, usageRoom: { valuesMax: 1, valuesOfQuestionMin: 1 } };

let customerId = '';
beforeAll(async () => {
  // Tiers, a credit that is used up, and a second contract that begins within a day.
  const scenario = await createScenario(api, { alias: 'kept', startingAt: '2026-11-01T00:00:00Z' });
  customerId = scenario.customerId;
  await api.post('/v1/contracts/create', {
    customer_id: customerId,
    rate_card_id: scenario.rateCardId,
    starting_at: '2026-11-02T05:00:00Z',
  });
  const product_id = await fixedProduct();
  for (const [priority, amount] of [40, 25, 30].entries()) {
    const time = { starting_at: '2026-11-01T00:00:00Z', ending_before: '2026-12-01T00:00:00Z' };
    await api.post('/v1/contracts/customerCredits/create', {
      ...{ customer_id: customerId, product_id, priority },
      access_schedule: { schedule_items: [{ amount, ...time }] },
    });
  }
  const events = Array.from({ length: 60 }, (_, index) =>
    completion('kept', {
      id: `kept-${index}`,
      at: new Date(range.start + index * 2 * 3_600_000 + 60_000 * index).toISOString(),
      tokens: `${100 + index}.00${index}1`,
      model: index % 3 === 0 ? 'small' : 'large',
      region: `region-${index % 5}`,
    }),
  );
  await api.post('/v1/ingest', events);
});

async function fixedProduct(): Promise<string> {
  const created = await api.post('/v1/contract-pricing/products/create', { name: 'Credit', type: 'FIXED' });
  return created.text('data.id');
}

/** All rows, page by page, and how often drafts were computed. */
async function walk<Row, Position>(
  limit: number,
  read: (page: PageRequest<Position>) => Promise<Page<Row, Position>>,
): Promise<{ readonly rows: Row[]; readonly computed: number; readonly pages: number }> {
  computations = 0;
  const rows: Row[] = [];
  let after: Position | null = null;
  let pages = 0;
  do {
    const page: Page<Row, Position> = await read({ after, limit });
    rows.push(...page.rows);
    after = page.next;
    pages += 1;
  } while (after !== null);
  return { rows, computed: computations, pages };
}

function shown(items: readonly BreakdownItem[]): unknown[] {
  return items.map(({ id, window, total, lines }) =>
    JSON.stringify({ id, window, total, lines: lines.map((line) => ({ ...line, windows: null })) }),
  );
}

const sizes = ['hour', 'day'] as const;
const orders = ['ascending', 'descending'] as const;
const cases = sizes.flatMap((size) =>
  orders.flatMap((order) =>
    [context, SLICED].flatMap((own) =>
      [undefined, 2_000].map((room) => ({
        size,
        order,
        own,
        room,
        kind: own === SLICED ? 'sliced' : 'whole',
      })),
    ),
  ),
);

describe('breakdowns', () => {
  test.each(cases)(
    'breakdowns by $size, $order, $kind usage, room for $room bytes: as one page',
    async (one) => {
      const { size, order, own, room } = one;
      const filter = { customerId, range, size };
      const whole = await listBreakdowns(context, filter, { after: null, limit: 1_000, order });
      const pages = { drafts: new KeptDrafts(room), range };
      const read = (page: PageRequest<BreakdownPosition>) =>
        listBreakdowns(own, { ...filter, pages }, { ...page, order });
      const walked = await walk(size === 'hour' ? 30 : 2, read);
      expect(walked.pages).toBeGreaterThan(1);
      expect(shown(walked.rows)).toEqual(shown(whole.rows));
      if (room === undefined) expect(walked.computed).toBeLessThanOrEqual(2);
      else expect(walked.computed).toBeGreaterThan(2);
    },
  );

  test('breakdowns without empty windows, of which reads are cut: as one page', async () => {
    const filter = { customerId, range, size: 'hour', withoutEmpty: true } as const;
    const whole = await listBreakdowns(context, filter, { after: null, limit: 1_000, order: 'ascending' });
    const pages = { drafts: new KeptDrafts(), range };
    const { rows, computed } = await walk(2, (page: PageRequest<BreakdownPosition>) =>
      listBreakdowns(context, { ...filter, pages }, { ...page, order: 'ascending' }),
    );
    expect(rows.length).toBeGreaterThan(20);
    expect(shown(rows)).toEqual(shown(whole.rows));
    expect(computed).toBe(2);
  });
});

/** As a process with an embedded ClickHouse does, it knows up to when all events were counted. */
async function knowingMoment() {
  const last = () => readBatchWatermark(clickhouse, [customerId, 'kept'], range);
  let moment = await last();
  return {
    context: { ...context, eventFacts: { ...context.eventFacts, completeUpTo: () => moment } },
    lookAgain: async () => {
      moment = await last();
    },
  };
}

// The second contract begins on the second day: a page of two windows has the first contract alone.
test.each([
  { of: 'a server', knows: false, limit: 4 },
  { of: 'the process', knows: true, limit: 2 },
])('usage that arrives between two pages counts on none, with a ClickHouse of $of', async (one) => {
  const filter = { customerId, range, size: 'day' } as const;
  const known = await knowingMoment();
  const own = one.knows ? known.context : context;
  const before = await listBreakdowns(own, filter, { after: null, limit: 1_000, order: 'ascending' });
  const pages = { drafts: new KeptDrafts(0), range };
  let sent = 0;
  const { rows } = await walk(one.limit, async (page: PageRequest<BreakdownPosition>) => {
    const read = await listBreakdowns(own, { ...filter, pages }, { ...page, order: 'ascending' });
    sent += 1;
    const late = { id: `late-${one.of}-${sent}`, at: '2026-11-04T12:00:00Z', tokens: 5, model: 'small' };
    await api.post('/v1/ingest', [completion('kept', late)]);
    await known.lookAgain();
    return read;
  });
  expect(sent).toBeGreaterThan(1);
  expect(shown(rows)).toEqual(shown(before.rows));
  const after = await listBreakdowns(own, filter, { after: null, limit: 1_000, order: 'ascending' });
  expect(shown(after.rows)).not.toEqual(shown(before.rows));
});

test('spend by properties is computed once, and is the same', async () => {
  const filter = { customerId, range, size: 'day', properties: ['region'] } as const;
  const whole = await listSpendBreakdowns(context, filter, { after: null, limit: 1_000, order: 'ascending' });
  const pages = { drafts: new KeptDrafts(), range };
  const { rows, computed } = await walk(2, (page: PageRequest<BreakdownPosition>) =>
    listSpendBreakdowns(context, { ...filter, pages }, { ...page, order: 'ascending' }),
  );
  expect(rows.map(({ groups }) => groups)).toEqual(whole.rows.map(({ groups }) => groups));
  expect(shown(rows)).toEqual(shown(whole.rows));
  expect(computed).toBe(2);
});

test('costs by day are computed once, and are the same', async () => {
  const whole = await listCosts(context, customerId, range, { after: null, limit: 100 });
  const drafts = new KeptDrafts();
  const { rows, computed } = await walk(1, (page: PageRequest<Instant>) =>
    listCosts(context, customerId, range, page, drafts),
  );
  expect(rows).toHaveLength(4);
  expect(JSON.stringify(rows)).toBe(JSON.stringify(whole.rows));
  expect(computed).toBe(2);
});

test('what drafts take from balances is computed once for a list, and is the same', async () => {
  const filter = {
    ...{ customerId, types: ['CREDIT'] as const, id: null, includeOfContracts: true, includeArchived: false },
    ...{ coveringDate: null, startingAt: null, effectiveBefore: null, sortsByPriority: true },
    ...{ withBalances: true, excludeZeroBalances: false },
  };
  const whole = await listBalances(context, filter, { after: null, limit: 100 });
  const keptDeductions = createKeptDeductions();
  const balances: [string, unknown][] = [];
  const { computed, pages } = await walk(1, async (page: PageRequest<CommitPosition>) => {
    const listed = await listBalances({ ...context, keptDeductions }, filter, page);
    balances.push(...(listed.balances ?? []));
    return listed.page;
  });
  expect([pages, computed]).toEqual([3, 1]);
  expect(JSON.stringify(balances)).toBe(JSON.stringify([...(whole.balances ?? [])]));
  expect(balances.some(([, balance]) => JSON.stringify(balance).includes('-40'))).toBe(true);
});

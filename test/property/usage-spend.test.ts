/** Spend by properties of events: the parts add up to the lines, and belong to the events of that usage. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Decimal, decimal, roundDecimal, ZERO } from '../../src/core/decimal.ts';
import { HOUR_MS } from '../../src/core/time.ts';
import type { ApiAnswer } from '../support/api-client.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import {
  createMeteredCard,
  createMeteredCustomer,
  type Job,
  jobEvent,
  jobs,
  type MeteredCustomer,
  sendJobs,
} from '../support/metered-company.ts';
import { runs } from '../support/shares-of-tests.ts';

const NOVEMBER = { starting_on: '2026-11-01T00:00:00Z', ending_before: '2026-12-01T00:00:00Z' };
const service = await serviceForFile({ sandboxNow: '2026-11-03T00:00:00Z' });
const { api } = service;
const cardId = await createMeteredCard(api);

async function spend(
  { customerId }: MeteredCustomer,
  more: Record<string, unknown> = {},
): Promise<ApiAnswer> {
  return api.post(`/v1/customers/${customerId}/invoices/spend-breakdowns`, {
    ...NOVEMBER,
    group_key: ['team'],
    ...more,
  });
}

const amount = (answer: ApiAnswer, path: string) => decimal(answer.digits(path));

function added(sums: Map<string, Decimal>, key: string, value: Decimal): void {
  sums.set(key, (sums.get(key) ?? ZERO).plus(value));
}

function texts(sums: ReadonlyMap<string, Decimal>): Record<string, string> {
  const used = [...sums].filter(([, value]) => !value.eq(ZERO));
  return Object.fromEntries(used.map(([key, value]) => [key, value.toFixed()]).sort());
}

/** By line: quantity and total, as listed, and as the sum of groups. */
function lineSums(answer: ApiAnswer): { listed: Record<string, string>; ofGroups: Record<string, string> } {
  const [listed, ofGroups] = [new Map<string, Decimal>(), new Map<string, Decimal>()];
  for (const item of answer.list('data').keys()) {
    for (const index of answer.list(`data[${item}].line_items`).keys()) {
      const line = `data[${item}].line_items[${index}]`;
      for (const name of ['quantity', 'total']) {
        const key = `${answer.text(`${line}.id`)} ${name}`;
        added(listed, key, amount(answer, `${line}.${name}`));
        for (const group of answer.at(`${line}.groups`) === undefined
          ? []
          : answer.list(`${line}.groups`).keys())
          added(ofGroups, key, amount(answer, `${line}.groups[${group}].${name}`));
      }
    }
  }
  return { listed: texts(listed), ofGroups: texts(ofGroups) };
}

async function customerWith(given: readonly Job[]): Promise<MeteredCustomer> {
  const customer = await createMeteredCustomer(api, cardId);
  await sendJobs(
    api,
    given.map((one, index) => jobEvent(customer.alias, one, index)),
  );
  return customer;
}

it('groups add up to lines, and days to the invoice, for metrics of every kind', async () => {
  await fc.assert(
    fc.asyncProperty(jobs, async (given) => {
      const customer = await customerWith(given);
      const invoice = await api.get(`/v1/customers/${customer.customerId}/invoices`);
      const whole = lineSums(await spend(customer));
      const days = lineSums(await spend(customer, { window_size: 'DAY', group_key: ['team', 'user'] }));
      const { listed } = lineSums(invoice);
      expect(whole).toEqual({ listed, ofGroups: listed });
      expect(days).toEqual({ listed, ofGroups: listed });
    }),
    { numRuns: runs(8) },
  );
});

type Contributing = (job: Job, before: { value: Decimal | null; users: Set<unknown> }) => Decimal;

const numberOf = ({ properties }: Job) => decimal(String(properties.amount));

/** By how much an event changes the metric; `before` is kept from event to event. */
const CONTRIBUTIONS: Readonly<Record<string, Contributing>> = {
  Jobs: () => decimal('1'),
  'Rounded work': numberOf,
  Peak(job, before) {
    const value = numberOf(job);
    const change = before.value === null ? value : value.gt(before.value) ? value.minus(before.value) : ZERO;
    before.value = before.value === null || value.gt(before.value) ? value : before.value;
    return change;
  },
  Users({ properties }, { users }) {
    const isNew = !users.has(properties.user);
    users.add(properties.user);
    return isNew ? decimal('1') : ZERO;
  },
  Stored(job, before) {
    const value = numberOf(job);
    const change = value.minus(before.value ?? ZERO);
    before.value = value;
    return change;
  },
};

/** By product, hour and team. */
function naiveContributions(given: readonly Job[]): Map<string, Map<string, Decimal>> {
  const hours = new Map<string, Map<string, Decimal>>();
  const ordered = given
    .map((job, index) => ({ job, index }))
    .sort((a, b) => Date.parse(a.job.timestamp) - Date.parse(b.job.timestamp) || a.index - b.index);
  for (const [product, contribution] of Object.entries(CONTRIBUTIONS)) {
    const before = { value: null, users: new Set<unknown>() };
    for (const { job } of ordered) {
      const hour = Math.floor(Date.parse(job.timestamp) / HOUR_MS) * HOUR_MS;
      const key = `${product} ${hour}`;
      const teams = hours.get(key) ?? new Map<string, Decimal>();
      hours.set(key, teams);
      added(teams, String(job.properties.team ?? null), contribution(job, before));
    }
  }
  return hours;
}

/** Each hour of the breakdown in proportion to the contributions. */
async function naiveSpend(customer: MeteredCustomer, given: readonly Job[]): Promise<Map<string, Decimal>> {
  const contributions = naiveContributions(given);
  const expected = new Map<string, Decimal>();
  let next: string | undefined;
  do {
    const page = await api.get(`/v1/customers/${customer.customerId}/invoices/breakdowns`, {
      query: { ...NOVEMBER, ending_before: '2026-11-03T00:00:00Z', window_size: 'HOUR', next_page: next },
    });
    for (const item of page.list('data').keys()) {
      const hour = Date.parse(page.text(`data[${item}].breakdown_start_timestamp`));
      for (const index of page.list(`data[${item}].line_items`).keys()) {
        const line = `data[${item}].line_items[${index}]`;
        const product = page.text(`${line}.name`);
        const teams = contributions.get(`${product} ${hour}`) ?? new Map<string, Decimal>();
        const sum = [...teams.values()].reduce((total, value) => total.plus(value), ZERO);
        for (const [team, value] of teams)
          added(expected, `${product} ${team}`, amount(page, `${line}.total`).times(value).div(sum));
      }
    }
    next = page.at('next_page') === null ? undefined : page.text('next_page');
  } while (next !== undefined);
  return expected;
}

it('each hour is divided by what the events change in the metric', async () => {
  await fc.assert(
    fc.asyncProperty(jobs, async (given) => {
      const customer = await customerWith(given);
      const expected = await naiveSpend(customer, given);
      const answer = await spend(customer);
      const actual = new Map<string, Decimal>();
      for (const index of answer.list('data[0].line_items').keys()) {
        const line = `data[0].line_items[${index}]`;
        const product = answer.text(`${line}.name`);
        if (CONTRIBUTIONS[product] === undefined) continue;
        for (const group of answer.list(`${line}.groups`).keys())
          added(
            actual,
            `${product} ${String(answer.at(`${line}.groups[${group}].group.team`))}`,
            amount(answer, `${line}.groups[${group}].total`),
          );
      }
      const rounded = (sums: Map<string, Decimal>) =>
        texts(new Map([...sums].map(([key, value]) => [key, roundDecimal(value, 'ROUND_HALF_UP', 15)])));
      expect(rounded(actual)).toEqual(rounded(expected));
    }),
    { numRuns: runs(6) },
  );
});

it('an issued invoice keeps its parts, whatever arrives too late', async () => {
  const given = fc.sample(jobs, { numRuns: 1, seed: 7 })[0] ?? [];
  const customer = await customerWith(given);
  const draft = await spend(customer);
  expect(draft.list('data[0].line_items').length).toBeGreaterThan(3);
  await service.moveClock('2026-12-02T00:00:01Z');
  const late = given.map((one, index) => ({
    ...jobEvent(customer.alias, one, index),
    transaction_id: `late ${index}`,
  }));
  await sendJobs(api, late);
  const issued = await spend(customer);
  expect(issued.text('data[0].status')).toBe('FINALIZED');
  expect(issued.at('data[0].line_items')).toEqual(draft.at('data[0].line_items'));
});

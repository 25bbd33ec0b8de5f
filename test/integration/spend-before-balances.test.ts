/**
 * Spend by properties and costs are before commits and credits, whatever pays: drafts and issued invoices, in the currency
 * and in custom units, in JSON and CSV.
 */
import { describe, expect, test } from 'vitest';
import { Decimal, sum } from '../../src/core/decimal.ts';
import { groupBy } from '../../src/core/group-by.ts';
import { ADD_RATES, CONTRACTS, createdId, METRICS, PRODUCTS, RATE_CARDS } from '../support/catalogue-api.ts';
import { csvRows } from '../support/csv.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

const START = '2026-11-01T00:00:00Z';
const RANGE = { starting_on: START, ending_before: '2026-12-01T00:00:00Z' };
const CSV = { headers: { accept: 'text/csv' } };
const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
const { api } = service;
const metric = await createdId(api, METRICS, {
  ...{ name: 'Tokens', aggregation_type: 'SUM', aggregation_key: 'tokens' },
  event_type_filter: { in_values: ['use'] },
  property_filters: [{ name: 'tokens', exists: true }],
});
const tokens = await createdId(api, PRODUCTS, { name: 'Tokens', type: 'USAGE', billable_metric_id: metric });
const fixed = await createdId(api, PRODUCTS, { name: 'Balance', type: 'FIXED' });
const unit = await createdId(api, '/v1/credit-types/create', { name: 'Coins' });
/** A token costs a cent on one card, and a coin of two cents on the other. */
const cards = await Promise.all(
  [{}, { credit_type_id: unit }].map(async (inUnit) => {
    const rate_card_id = await createdId(api, RATE_CARDS, {
      name: 'Card',
      credit_type_conversions: [{ custom_credit_type_id: unit, fiat_per_custom_credit: 2 }],
    });
    const rate = { product_id: tokens, starting_at: '2026-01-01T00:00:00Z', entitled: true };
    const rates = [{ ...rate, rate_type: 'FLAT', price: 1, ...inUnit }];
    await api.post(ADD_RATES, { rate_card_id, rates });
    return rate_card_id;
  }),
);

const segment = { amount: 10, starting_at: START, ending_before: '2027-11-01T00:00:00Z' };
const grant = (more: object = {}) => ({
  product_id: fixed,
  access_schedule: { ...more, schedule_items: [segment] },
});
const postpaid = (more: object = {}) => ({
  ...{ ...grant(more), type: 'POSTPAID' },
  invoice_schedule: { schedule_items: [{ amount: 10, timestamp: '2027-11-01T00:00:00Z' }] },
});
const prepaid = (more: object = {}) => ({ ...grant(more), type: 'PREPAID' });

interface Given {
  readonly card: number;
  readonly terms: object;
  /** The total of the invoice. */
  readonly total: string;
}

const GIVEN: Readonly<Record<string, Given>> = {
  nothing: { card: 0, terms: {}, total: '40' },
  'a credit': { card: 0, terms: { credits: [grant()] }, total: '30' },
  'a prepaid commit': { card: 0, terms: { commits: [prepaid()] }, total: '30' },
  'a postpaid commit': { card: 0, terms: { commits: [postpaid()] }, total: '40' },
  'nothing in coins': { card: 1, terms: {}, total: '80' },
  'a credit of coins': { card: 1, terms: { credits: [grant({ credit_type_id: unit })] }, total: '60' },
  'a prepaid commit for coins': { card: 1, terms: { commits: [prepaid()] }, total: '70' },
  'a postpaid commit for coins': { card: 1, terms: { commits: [postpaid()] }, total: '80' },
};

const customers = new Map<string, { readonly given: Given; readonly id: string }>();
for (const [name, given] of Object.entries(GIVEN)) {
  const id = await createdId(api, '/v1/customers', { name });
  customers.set(name, { given, id });
  await createdId(api, CONTRACTS, {
    ...{ customer_id: id, rate_card_id: cards[given.card], starting_at: START },
    ...given.terms,
  });
  await api.post(
    '/v1/ingest',
    [
      ['t1', 15, '03'],
      ['t2', 25, '04'],
    ].map(([team, count, day]) => ({
      ...{ transaction_id: `${id}-${team}`, customer_id: id, event_type: 'use' },
      ...{ timestamp: `2026-11-${day}T10:00:00Z`, properties: { tokens: count, team } },
    })),
  );
}

/** Total by type of line and team, from JSON. */
async function spendOf(id: string, window_size: string): Promise<Record<string, string>> {
  const body = { ...RANGE, group_key: ['team'], window_size };
  const answer = await api.post(`/v1/customers/${id}/invoices/spend-breakdowns`, body);
  const rows = answer.list('data').flatMap((_, item) =>
    answer.list(`data[${item}].line_items`).flatMap((__, index) => {
      const line = `data[${item}].line_items[${index}]`;
      return answer.list(`${line}.groups`).map((___, at) => {
        const group = `${line}.groups[${at}]`;
        const team = answer.at(`${group}.group`) === undefined ? '' : answer.text(`${group}.group.team`);
        return { key: `${answer.text(`${line}.type`)} ${team}`, total: answer.digits(`${group}.total`) };
      });
    }),
  );
  return summed(rows);
}

function summed(rows: readonly { readonly key: string; readonly total: string }[]): Record<string, string> {
  return Object.fromEntries(
    [...groupBy(rows, ({ key }) => key)]
      .map(([key, own]): [string, string] => [key, sum(own.map(({ total }) => new Decimal(total))).toFixed()])
      .toSorted(),
  );
}

describe.each(['DRAFT', 'FINALIZED'])('%s, beside', (status) => {
  test.each(Object.keys(GIVEN))('%s', async (name) => {
    if (status === 'FINALIZED') await service.moveClock('2026-12-03T00:00:00Z');
    const { id, given } = customers.get(name) ?? { id: '', given: { card: 0, total: '' } };
    const invoices = await api.get(`/v1/customers/${id}/invoices`, { query: { type: 'USAGE', status } });
    const at = invoices
      .list('data')
      .findIndex((_, one) => invoices.text(`data[${one}].start_timestamp`) === '2026-11-01T00:00:00.000Z');
    expect(invoices.digits(`data[${at}].total`)).toBe(given.total);
    const usage = { 'usage t1': '15', 'usage t2': '25' };
    const expected =
      given.card === 0 ? usage : { 'cpu_conversion t1': '30', 'cpu_conversion t2': '50', ...usage };
    expect(await spendOf(id, 'NONE')).toEqual(expected);
    expect(await spendOf(id, 'DAY')).toEqual(expected);
    const path = `/v1/customers/${id}/invoices/spend-breakdowns`;
    const csv = await api.post(path, { ...RANGE, group_key: ['team'] }, CSV);
    const rows = csvRows(csv.body).map(({ line_type, spend_group, total }) => {
      const { team } = JSON.parse(spend_group ?? '') as { team: string };
      return { key: `${line_type} ${team}`, total: total ?? '' };
    });
    expect(summed(rows)).toEqual(expected);
    const costs = await api.get(`/v1/customers/${id}/costs`, { query: RANGE });
    const perDay = (unitId: string) =>
      costs
        .list('data')
        .flatMap((_, day) =>
          costs.at(`data[${day}].credit_types.${unitId}`) === undefined
            ? []
            : [costs.digits(`data[${day}].credit_types.${unitId}.cost`)],
        );
    const usd = '2714e483-4ff1-48e4-9e25-ac732e8f24f2';
    expect(perDay(usd)).toEqual(given.card === 0 ? ['15', '25'] : ['30', '50']);
    expect(perDay(unit)).toEqual(given.card === 0 ? [] : ['15', '25']);
  });
});

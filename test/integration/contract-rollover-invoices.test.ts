/** Rollovers and invoices: what invoices took limits rollovers, which do not change once the renewing contract has one. */
import { beforeAll, expect, test } from 'vitest';
import type { ApiAnswer } from '../support/api-client.ts';
import { ADD_RATES, CONTRACTS, createdId, PRODUCTS, RATE_CARDS } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { completion, createScenario, type Scenario } from '../support/scenario.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
let scenario: Scenario;

beforeAll(async () => {
  scenario = await createScenario(service.api, { alias: 'acme' });
});

const reference = (contract_id: string) => ({ customer_id: scenario.customerId, contract_id });

async function read(contract_id: string): Promise<ApiAnswer> {
  const options = { include_balance: true, include_ledgers: true };
  return service.api.post('/v2/contracts/get', { ...reference(contract_id), ...options });
}

test('amounts follow their source until then, and both sides stay as they are afterwards', async () => {
  const { api } = service;
  const older = scenario.contractId;
  const product_id = await createdId(api, '/v1/contract-pricing/products/create', {
    name: 'Fee',
    type: 'FIXED',
  });
  const year = { starting_at: '2026-11-01T00:00:00Z', ending_before: '2027-11-01T00:00:00Z' };
  await api.post('/v2/contracts/edit', {
    ...reference(older),
    add_commits: [
      {
        type: 'PREPAID',
        product_id,
        rollover_fraction: 0.5,
        access_schedule: { schedule_items: [{ amount: 100, ...year }] },
      },
      {
        ...{ type: 'PREPAID', product_id, rollover_fraction: 1 },
        access_schedule: {
          schedule_items: [{ ...year, amount: 30, starting_at: '2027-02-01T00:00:00Z' }],
        },
      },
    ],
  });
  const newer = await createdId(api, '/v1/contracts/create', {
    customer_id: scenario.customerId,
    rate_card_id: scenario.rateCardId,
    starting_at: '2026-12-01T00:00:00Z',
    transition: { type: 'RENEWAL', from_contract_id: older },
  });
  const source = await read(older);
  const commit_id = source.text('data.commits[0].id');
  const id = source.text('data.commits[0].access_schedule.schedule_items[0].id');
  const change = (amount: number) =>
    api.send('POST', '/v2/contracts/edit', {
      ...reference(older),
      update_commits: [{ commit_id, access_schedule: { update_schedule_items: [{ id, amount }] } }],
    });

  await service.moveClock('2026-12-20T00:00:00Z');
  expect((await change(80)).status).toBe(200);
  expect((await read(newer)).at('data.commits[0].balance')).toBe(40);

  await service.moveClock('2027-01-05T00:00:00Z');
  const refused = await change(60);
  expect(refused.status).toBe(400);
  expect(refused.text('message')).toBe(
    'update_commits[0].access_schedule: has rolled over to a contract that has a finalized invoice',
  );
  const fraction = await api.send('POST', '/v2/contracts/edit', {
    ...reference(older),
    update_commits: [{ commit_id, rollover_fraction: 0 }],
  });
  expect(fraction.text('message')).toMatch(/^update_commits\[0\]\.rollover_fraction: has rolled over/);
  const earlierEnd = { ...reference(older), ending_before: '2026-11-15T00:00:00Z' };
  await api.post('/v1/contracts/updateEndDate', earlierEnd);
  expect((await read(newer)).at('data.commits[0].balance')).toBe(40);
  expect((await read(newer)).at('data.commits[1].balance')).toBe(30);
  expect((await read(older)).at('data.commits[0].ledger')).toMatchObject([
    { type: 'PREPAID_COMMIT_SEGMENT_START', amount: 80 },
    { type: 'PREPAID_COMMIT_ROLLOVER', amount: -40, timestamp: '2026-11-15T00:00:00.000Z' },
    { type: 'PREPAID_COMMIT_EXPIRATION', amount: -40, timestamp: '2026-11-15T00:00:00.000Z' },
  ]);
});

/** A contract of 2027 whose commit of 100 cents rolls half of it over, and those that renew it a month later each. */
async function chainOf(alias: string, used: readonly (readonly [day: string, tokens: number])[]) {
  const { api } = service;
  const customer_id = await createdId(api, '/v1/customers', { name: alias, ingest_aliases: [alias] });
  const product_id = await createdId(api, PRODUCTS, { name: 'Prepaid', type: 'FIXED' });
  const rate_card_id = await createdId(api, RATE_CARDS, { name: alias });
  const starting_at = '2027-01-01T00:00:00Z';
  const rate = {
    product_id: scenario.tokensProductId,
    starting_at,
    entitled: true,
    rate_type: 'FLAT',
    price: 1,
  };
  await api.post(ADD_RATES, { rate_card_id, rates: [rate] });
  const ids = [
    await createdId(api, CONTRACTS, {
      ...{ customer_id, rate_card_id, starting_at },
      commits: [
        {
          ...{ type: 'PREPAID', product_id, name: 'Bought', rollover_fraction: 0.5 },
          access_schedule: {
            schedule_items: [{ amount: 100, starting_at, ending_before: '2028-01-01T00:00:00Z' }],
          },
          invoice_schedule: { schedule_items: [{ amount: 90, timestamp: starting_at }] },
        },
      ],
    }),
  ];
  for (const month of ['02', '03']) {
    const transition = { type: 'RENEWAL', from_contract_id: ids.at(-1) };
    const renewal = { customer_id, rate_card_id, starting_at: `2027-${month}-01T00:00:00Z`, transition };
    ids.push(await createdId(api, CONTRACTS, renewal));
  }
  const last = async () => {
    const query = { contract_id: ids.at(-1) };
    const invoices = await api.get(`/v1/customers/${customer_id}/invoices`, { query });
    const contract = { customer_id, contract_id: ids.at(-1), include_ledgers: true };
    return {
      totals: invoices.list('data').map((_, index) => invoices.digits(`data[${index}].total`)),
      ledger: (await api.post('/v2/contracts/get', contract)).at('data.commits[0].ledger'),
    };
  };
  const use = (from: string, until: string) =>
    api.post(
      '/v1/ingest',
      used
        .filter(([at]) => from <= at && at < until)
        .map(([at, tokens]) =>
          completion(alias, { id: `${alias} ${at}`, at: `2027-${at}T10:00:00Z`, tokens }),
        ),
    );
  return { customer_id, use, last };
}

test('renewed twice, no more than the fraction of what has arrived rolls over, and nothing of a canceled purchase', async () => {
  const { api } = service;
  await service.moveClock('2027-01-05T00:00:00Z');
  const usage = [
    ['01-03', 80],
    ['03-05', 15],
  ] as const;
  const drawn = await chainOf('drawn', usage);
  const canceled = await chainOf('canceled', usage);
  for (const one of [drawn, canceled]) await one.use('01', '02');
  await service.moveClock('2027-01-06T00:00:00Z');
  const query = { type: 'SCHEDULED', status: 'FINALIZED' };
  const purchase = await api.get(`/v1/customers/${canceled.customer_id}/invoices`, { query });
  await api.post('/v1/invoices/void', { id: purchase.text('data[0].id') });
  await service.moveClock('2027-03-10T00:00:00Z');
  for (const one of [drawn, canceled]) await one.use('03', '04');
  // 20 arrive in February, and half of them in March.
  expect(await drawn.last()).toMatchObject({
    totals: ['5'],
    ledger: [{ amount: 10 }, { type: 'PREPAID_COMMIT_AUTOMATED_INVOICE_DEDUCTION', amount: -10 }],
  });
  // Nothing has rolled over, so no rollover is shown.
  expect(await canceled.last()).toEqual({ totals: ['15'], ledger: undefined });
});

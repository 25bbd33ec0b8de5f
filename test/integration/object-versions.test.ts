/** Versions of objects: a change that names the version which its caller has read overwrites no other change. */
import { expect, test } from 'vitest';
import type { ApiAnswer } from '../support/api-client.ts';
import { CONTRACTS, createdId, METRICS, PRODUCTS, RATE_CARDS } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

const { api } = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });

const change = (method: string, path: string, body: object, version: string | null) =>
  api.send(method, path, body, version === null ? {} : { headers: { 'if-match': version } });

const versionOf = ({ headers }: ApiAnswer): string => {
  const version = headers.get('etag');
  if (version === null) throw new Error('the answer has a version');
  return version;
};

interface Case {
  readonly read: () => Promise<ApiAnswer>;
  /** Changes `member` to another value each time. */
  readonly edit: (version: string | null, round: number) => Promise<ApiAnswer>;
  readonly member: string;
}

const rate = { starting_at: '2026-11-01T00:00:00Z', entitled: true, rate_type: 'FLAT', price: 1 };

const CASES: Readonly<Record<string, () => Promise<Case>>> = {
  async customer() {
    const id = await createdId(api, '/v1/customers', { name: 'Acme' });
    return {
      read: () => api.get(`/v1/customers/${id}`),
      edit: (version, round) =>
        change('POST', `/v1/customers/${id}/setName`, { name: `Acme ${round}` }, version),
      member: 'name',
    };
  },
  async contract() {
    const customer_id = await createdId(api, '/v1/customers', { name: 'Acme' });
    const card = await createdId(api, RATE_CARDS, { name: 'Card' });
    const contract_id = await createdId(api, CONTRACTS, {
      ...{ customer_id, rate_card_id: card, starting_at: '2026-11-01T00:00:00Z' },
    });
    const fee = await createdId(api, PRODUCTS, { name: 'Fee', type: 'FIXED' });
    const charge = (round: number) => ({
      product_id: fee,
      schedule: { schedule_items: [{ timestamp: '2027-01-01T00:00:00Z', amount: round + 1 }] },
    });
    return {
      read: () => api.post('/v2/contracts/get', { customer_id, contract_id }),
      edit: (version, round) =>
        change(
          'POST',
          '/v2/contracts/edit',
          { customer_id, contract_id, add_scheduled_charges: [charge(round)] },
          version,
        ),
      member: 'scheduled_charges',
    };
  },
  async product() {
    const product_id = await createdId(api, PRODUCTS, { name: 'Seat', type: 'FIXED' });
    const starting_at = '2026-11-01T00:00:00Z';
    return {
      read: () => api.post('/v1/contract-pricing/products/get', { id: product_id }),
      edit: (version, round) =>
        change(
          'POST',
          '/v1/contract-pricing/products/update',
          { product_id, name: `Seat ${round}`, starting_at },
          version,
        ),
      member: 'current',
    };
  },
  async rateCard() {
    const rate_card_id = await createdId(api, RATE_CARDS, { name: 'Card' });
    return {
      read: () => api.post('/v1/contract-pricing/rate-cards/get', { id: rate_card_id }),
      edit: (version, round) =>
        change(
          'POST',
          '/v1/contract-pricing/rate-cards/update',
          { rate_card_id, name: `Card ${round}` },
          version,
        ),
      member: 'name',
    };
  },
  async metric() {
    const id = await createdId(api, METRICS, { name: 'Calls', aggregation_type: 'COUNT' });
    return {
      read: () => api.get(`/v1/billable-metrics/${id}`),
      edit: (version, round) =>
        change('PUT', `/v1/billable-metrics/${id}`, { name: `Calls ${round}` }, version),
      member: 'name',
    };
  },
};

async function caseOf(kind: string): Promise<Case> {
  const found = CASES[kind];
  if (found === undefined) throw new Error(`there is a case of ${kind}`);
  return await found();
}

test.each(Object.keys(CASES))(
  'a change of a %s is refused with 412 and what differs, if another one came first',
  async (kind) => {
    const { read, edit, member } = await caseOf(kind);
    const before = versionOf(await read());
    expect(versionOf(await read())).toBe(before);
    expect((await edit(before, 1)).status).toBe(200);
    const present = await read();
    expect(versionOf(present)).not.toBe(before);
    const refused = await edit(before, 2);
    expect(refused.status).toBe(412);
    expect(refused.list('changed')).toContain(member);
    expect(refused.text('version')).toBe(versionOf(present));
    expect(refused.text('message')).toContain(member);
    expect(versionOf(await read())).toBe(versionOf(present));
    expect((await edit(versionOf(present), 3)).status).toBe(200);
    expect((await edit(null, 4)).status).toBe(200);
    expect((await edit('*', 5)).status).toBe(200);
    expect((await edit('"of another program"', 6)).status).toBe(412);
  },
);

test('a version is spent once, by however many changes at a time', async () => {
  const { read, edit } = await caseOf('contract');
  const version = versionOf(await read());
  const answers = await Promise.all(Array.from({ length: 6 }, (_, round) => edit(version, round)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412, 412, 412]);
  expect((await read()).list('data.scheduled_charges')).toHaveLength(1);
});

test('a contract read with its balances has no version, and an unknown object is refused as without a version', async () => {
  const { read } = await caseOf('contract');
  const found = await read();
  const [customer_id, contract_id] = [found.text('data.customer_id'), found.text('data.id')];
  const withBalances = await api.post('/v2/contracts/get', {
    customer_id,
    contract_id,
    include_balance: true,
  });
  expect(withBalances.headers.get('etag')).toBeNull();
  const unknown = '00000000-0000-4000-8000-000000000000';
  const missing = await change('PUT', `/v1/billable-metrics/${unknown}`, { name: 'None' }, '"any"');
  expect(missing.status).toBe(404);
  const malformed = await change('PUT', '/v1/billable-metrics/none', { name: 'None' }, '"any"');
  expect(malformed.status).toBe(404);
});

test('the version of a rate card is the same after a new rate, which is no member of it', async () => {
  const rate_card_id = await createdId(api, RATE_CARDS, { name: 'Card' });
  const read = () => api.post('/v1/contract-pricing/rate-cards/get', { id: rate_card_id });
  const before = versionOf(await read());
  const metric = await createdId(api, METRICS, { name: 'Uses', aggregation_type: 'COUNT' });
  const product_id = await createdId(api, PRODUCTS, {
    ...{ name: 'Uses', type: 'USAGE', billable_metric_id: metric },
  });
  await api.post('/v1/contract-pricing/rate-cards/addRates', {
    rate_card_id,
    rates: [{ ...rate, product_id }],
  });
  expect(versionOf(await read())).toBe(before);
});

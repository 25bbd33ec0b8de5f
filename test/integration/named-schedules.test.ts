/** Named schedules of customers, contracts and rate cards: written, read, refused and erased. */
import { beforeAll, describe, expect, test } from 'vitest';
import { CONTRACTS, createCatalogueApi, createdId } from '../support/catalogue-api.ts';
import { createTermsCatalogue } from '../support/contract-terms.ts';
import { clickhouseForFile, databaseForFile } from '../support/file-fixtures.ts';

const pool = await databaseForFile();
const clickhouse = await clickhouseForFile();
const day = (month: number) => new Date(Date.UTC(2026, month - 1)).toISOString();
const api = createCatalogueApi(pool.db, { now: Date.parse(day(3)), clickhouse });
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

let customer: string;
let contract: string;
let card: string;

beforeAll(async () => {
  ({ card } = await createTermsCatalogue(api));
  customer = await createdId(api, '/v1/customers', { name: 'Customer' });
  const terms = { customer_id: customer, rate_card_id: card, starting_at: day(1), ending_before: day(2) };
  contract = await createdId(api, CONTRACTS, terms);
});

const owners = [
  ['/v1/customers', () => ({ customer_id: customer })],
  ['/v1/contracts', () => ({ customer_id: customer, contract_id: contract })],
  ['/v1/contract-pricing/rate-cards', () => ({ rate_card_id: card })],
] as const;

const segment = (value: unknown, from: number, until?: number) => ({
  value,
  starting_at: day(from),
  ...(until === undefined ? {} : { ending_before: day(until) }),
});

describe.each(owners)('a named schedule below %s', (path, owner) => {
  const write = (name: string, ...sent: Parameters<typeof segment>) =>
    api.send('POST', `${path}/updateNamedSchedule`, { ...owner(), schedule_name: name, ...segment(...sent) });
  const read = async (name: string, more: object = {}) =>
    (await api.post(`${path}/getNamedSchedule`, { ...owner(), schedule_name: name, ...more })).list('data');

  test('a named schedule has no segments before it is written', async () => {
    expect(await read('unwritten')).toEqual([]);
  });

  test('a named schedule keeps any JSON, and what was written before outside of what is written over it', async () => {
    await write('terms', { tier: 'gold', limits: [1, null, true] }, 1);
    await write('terms', 'platinum', 3, 6);
    expect(await read('terms')).toEqual([
      segment({ tier: 'gold', limits: [1, null, true] }, 1, 3),
      segment('platinum', 3, 6),
      segment({ tier: 'gold', limits: [1, null, true] }, 6),
    ]);
    expect(await read('terms', { covering_date: day(5) })).toEqual([segment('platinum', 3, 6)]);
    expect(await read('terms', { covering_date: '2025-12-31T23:59:59.999Z' })).toEqual([]);
    expect(await read('other')).toEqual([]);
  });

  test('a named schedule keeps every digit of a number', async () => {
    const body = JSON.stringify({ ...owner(), schedule_name: 'digits', ...segment(0, 1) });
    const rawBody = body.replace('"value":0', '"value":0.1234567890123456789');
    await api.post(`${path}/updateNamedSchedule`, undefined, { rawBody });
    const found = await api.post(`${path}/getNamedSchedule`, { ...owner(), schedule_name: 'digits' });
    expect(found.digits('data[0].value')).toBe('0.1234567890123456789');
  });

  test('a named schedule refuses what is no value in time, and stores nothing of it', async () => {
    const empty = await write('refused', 1, 3, 3);
    expect([empty.status, empty.at('message')]).toEqual([400, 'ending_before: must be after starting_at']);
    const missing = await api.send('POST', `${path}/updateNamedSchedule`, {
      ...owner(),
      schedule_name: 'refused',
      starting_at: day(1),
    });
    expect([missing.status, missing.at('message')]).toEqual([400, 'value: is required']);
    const long = await write('refused', 'x'.repeat(20_000), 1);
    expect([long.status, long.at('message')]).toEqual([
      400,
      'value: must not be longer than 20000 characters of JSON',
    ]);
    expect(await read('refused')).toEqual([]);
  });

  test('a named schedule is not that of an owner that does not exist', async () => {
    const [name] = Object.keys(owner()).slice(-1);
    const body = { ...owner(), [String(name)]: UNKNOWN, schedule_name: 'x', ...segment(1, 1) };
    for (const operation of ['get', 'update']) {
      expect((await api.send('POST', `${path}/${operation}NamedSchedule`, body)).status).toBe(404);
    }
  });
});

test('schedules of a contract with other properties are other schedules', async () => {
  const owner = { customer_id: customer, contract_id: contract, schedule_name: 'by region' };
  for (const region of ['eu', 'us']) {
    const body = { ...owner, properties: { region }, ...segment(region, 1) };
    await api.post('/v1/contracts/updateNamedSchedule', body);
  }
  const found = await api.post('/v1/contracts/getNamedSchedule', { ...owner, properties: { region: 'us' } });
  expect(found.list('data')).toEqual([segment('us', 1)]);
  expect((await api.post('/v1/contracts/getNamedSchedule', owner)).list('data')).toEqual([]);
});

test('values written side by side over the same interval leave one of them', async () => {
  const owner = { customer_id: customer, schedule_name: 'raced' };
  const values = Array.from({ length: 8 }, (_, value) => value);
  await Promise.all(
    values.map((value) =>
      api.post('/v1/customers/updateNamedSchedule', { ...owner, ...segment(value, 1, 4) }),
    ),
  );
  const found = (await api.post('/v1/customers/getNamedSchedule', owner)).list('data');
  expect(found).toHaveLength(1);
});

test('schedules of a customer and of its contracts go when it is erased', async () => {
  const erased = await createdId(api, '/v1/customers', { name: 'Erased' });
  const owner = { customer_id: erased, schedule_name: 'home' };
  await api.post('/v1/customers/updateNamedSchedule', { ...owner, ...segment('1 Main Street', 1) });
  await api.post(`/v1/customers/${erased}/erase`, {});
  const found = await api.post('/v1/customers/getNamedSchedule', owner);
  expect(found.list('data')).toEqual([]);
});

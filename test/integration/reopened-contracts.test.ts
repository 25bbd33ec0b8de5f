/** Renewals in the hour of a start, and contracts that continue when their renewal is archived. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { CONTRACTS, createdId } from '../support/catalogue-api.ts';
import { createTermsCatalogue, everyTerm, type TermsCatalogue } from '../support/contract-terms.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { completion } from '../support/scenario.ts';
import type { Body } from '../support/term-fixtures.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T10:20:00Z' });
const { api } = service;
const HOUR = '2026-11-10T10:00:00.000Z';
const RENEWED_AT = '2026-12-15T00:00:00.000Z';
let ids: TermsCatalogue;
let customer_id: string;
let people = 0;

beforeAll(async () => {
  ids = await createTermsCatalogue(api);
});
beforeEach(async () => {
  people += 1;
  const ingest_aliases = [`reopened-${people}`];
  customer_id = await createdId(api, '/v1/customers', { name: ingest_aliases[0], ingest_aliases });
});

const create = (terms: Body = {}) =>
  createdId(api, CONTRACTS, { customer_id, rate_card_id: ids.card, starting_at: HOUR, ...terms });

const renew = (from_contract_id: string, terms: Body = {}) =>
  create({ starting_at: RENEWED_AT, transition: { type: 'RENEWAL', from_contract_id }, ...terms });

const archive = (contract_id: string, void_invoices = false) =>
  api.post('/v1/contracts/archive', { customer_id, contract_id, void_invoices });

async function read(contract_id: string): Promise<Body> {
  const options = { include_balance: true, include_ledgers: true };
  return (await api.post('/v2/contracts/get', { customer_id, contract_id, ...options })).at('data') as Body;
}

async function use(tokens: number, at: string): Promise<void> {
  const alias = `reopened-${people}`;
  const event = completion(alias, { id: `${alias}-${at}`, at, tokens, model: 'a' });
  await api.post('/v1/ingest', [{ ...event, properties: { ...event.properties, user: 'ada' } }]);
}

const drafts = async () =>
  (await api.get(`/v1/customers/${customer_id}/invoices`, { query: { status: 'DRAFT', limit: 100 } })).list(
    'data',
  ) as { readonly type: string; readonly contract_id: string; readonly total: unknown }[];

const commit = (change: Body = {}) => ({
  ...{ type: 'PREPAID', product_id: ids.fee, name: 'Prepaid' },
  access_schedule: {
    schedule_items: [{ amount: 500, starting_at: HOUR, ending_before: '2027-11-01T00:00:00.000Z' }],
  },
  ...change,
});

describe('a renewal in the hour in which the older contract starts', () => {
  test('a renewal in the hour in which the older contract starts bills everything; the older one ends at its start and stays readable', async () => {
    await use(3, '2026-11-10T10:05:00Z');
    const older = await create({ credits: [{ ...commit(), type: undefined }] });
    const newer = await renew(older, { starting_at: HOUR });
    const ended = await read(older);
    expect(ended).toMatchObject({ starting_at: HOUR, ending_before: HOUR });
    expect(ended.transitions).toEqual([{ type: 'RENEWAL', from_contract_id: older, to_contract_id: newer }]);
    expect(ended.credits).toMatchObject([
      { balance: 0, access_schedule: { schedule_items: [{ starting_at: HOUR, ending_before: HOUR }] } },
    ]);
    const billed = (await drafts()).filter(({ type }) => type === 'USAGE');
    expect(billed).toMatchObject([{ contract_id: newer, total: 93 }]);
  });

  test('a renewal in the hour in which the older contract starts rolls over what the older one was given', async () => {
    const older = await create({ commits: [commit({ rollover_fraction: 0.5 })] });
    const newer = await renew(older, { starting_at: HOUR });
    expect(await read(newer)).toMatchObject({
      commits: [{ balance: 250, rolled_over_from: { contract_id: older } }],
    });
  });

  test('a renewal in the hour in which the older contract starts of a contract with terms of every kind leaves all reads working', async () => {
    const older = await create({ ...everyTerm(ids, customer_id), starting_at: '2026-10-01T00:00:00Z' });
    const newer = await renew(older, { starting_at: '2026-10-01T00:00:00Z' });
    for (const contract_id of [older, newer]) {
      await api.post('/v1/contracts/get', { customer_id, contract_id, include_ledgers: true });
      await api.post('/v1/contracts/getContractRateSchedule', { customer_id, contract_id });
      await api.post('/v2/contracts/getEditHistory', { customer_id, contract_id });
    }
    await api.post('/v1/contracts/customerBalances/list', { customer_id, include_ledgers: true });
    await api.get(`/v1/customers/${customer_id}/drawdownOrder`);
    await api.get(`/v1/customers/${customer_id}/invoices/breakdowns`, {
      query: {
        starting_on: '2026-10-01T00:00:00Z',
        ending_before: '2026-12-01T00:00:00Z',
        window_size: 'DAY',
      },
    });
    const covering = await api.post('/v2/contracts/list', {
      customer_id,
      covering_date: '2026-10-01T00:00:00Z',
    });
    expect(covering.list('data').map((one) => (one as Body).id)).toEqual([newer]);
    await api.post('/v1/customers/archive', { id: customer_id });
  });
});

describe('archiving a renewal', () => {
  test('archiving a renewal reopens the older contract with the terms that its end had cut, and it can be renewed again', async () => {
    const { uniqueness_key: _, ...terms } = everyTerm(ids, customer_id) as Body;
    const older = await create({ ...terms, starting_at: '2026-10-01T00:00:00Z' });
    await service.moveClock('2026-11-10T10:25:00Z');
    const before = await read(older);
    const newer = await renew(older);
    expect(await read(older)).toMatchObject({ ending_before: RENEWED_AT });
    await archive(newer);
    expect(await read(older)).toEqual(before);
    const history = await api.post('/v2/contracts/getEditHistory', { customer_id, contract_id: older });
    expect(history.list('data')).toHaveLength(2);
    expect((await read(await renew(older))).transitions).toHaveLength(1);
  });

  test('archiving a renewal gives back what had rolled over, and keeps what was changed since the renewal', async () => {
    const older = await create({ commits: [commit({ rollover_fraction: 0.5 }), commit({ name: 'Other' })] });
    const newer = await renew(older);
    const [, other] = (await read(older)).commits as { id: string }[];
    await api.post('/v2/contracts/edit', {
      ...{ customer_id, contract_id: older },
      update_contract_name: 'Renamed',
      update_commits: [{ commit_id: other?.id, priority: 7 }],
    });
    await archive(newer);
    const reopened = await read(older);
    expect(reopened).toMatchObject({ name: 'Renamed', transitions: [] });
    expect(reopened).not.toHaveProperty('ending_before');
    const until = (ending_before: string) => ({ schedule_items: [{ amount: 500, ending_before }] });
    expect(reopened.commits).toMatchObject([
      { balance: 500, access_schedule: until('2027-11-01T00:00:00.000Z') },
      { balance: 500, priority: 7, access_schedule: until(RENEWED_AT) },
    ]);
    expect(JSON.stringify(reopened)).not.toContain('ROLLOVER');
  });

  test('archiving a renewal restores an end that the contract had, but not one that was moved since', async () => {
    const end = '2027-03-01T00:00:00.000Z';
    const own = await create({ ending_before: end });
    await archive(await renew(own));
    expect(await read(own)).toMatchObject({ ending_before: end });
    const moved = await create();
    const newer = await renew(moved);
    const ending_before = '2027-02-01T00:00:00.000Z';
    await api.post('/v1/contracts/updateEndDate', { customer_id, contract_id: moved, ending_before });
    await archive(newer);
    expect(await read(moved)).toMatchObject({ ending_before, transitions: [] });
  });

  test('archiving a renewal of a contract that was renewed itself changes nothing else', async () => {
    const first = await create();
    const second = await renew(first);
    await renew(second, { starting_at: '2027-01-15T00:00:00.000Z' });
    await archive(second);
    expect(await read(first)).toMatchObject({ ending_before: RENEWED_AT });
  });

  test('archiving a renewal reopens the older contract when the time has begun, but not once something was invoiced', async () => {
    const purchase = { schedule_items: [{ timestamp: '2026-11-10T10:00:00Z', amount: 900 }] };
    const charge = [{ product_id: ids.fee, schedule: purchase }];
    const same = { starting_at: '2026-11-11T00:00:00Z' };
    const older = await create();
    const charged = await create();
    const [free, paid] = [
      await renew(older, same),
      await renew(charged, { ...same, scheduled_charges: charge }),
    ];
    await service.moveClock('2026-11-11T20:20:00Z');
    await use(2, '2026-11-11T10:00:00Z');
    await archive(free);
    await archive(paid);
    expect(await read(older)).not.toHaveProperty('ending_before');
    const usage = (await drafts()).filter(({ type }) => type === 'USAGE');
    expect(usage.find(({ contract_id }) => contract_id === older)).toMatchObject({ total: 62 });
    expect(await read(charged)).toMatchObject({ ending_before: '2026-11-11T00:00:00.000Z' });
  });

  test('archiving a renewal whose invoices are voided with it reopens the older contract', async () => {
    const charge = [
      {
        product_id: ids.fee,
        schedule: { schedule_items: [{ timestamp: '2026-11-10T10:00:00Z', amount: 900 }] },
      },
    ];
    const older = await create();
    const newer = await renew(older, { starting_at: '2026-11-13T00:00:00Z', scheduled_charges: charge });
    await service.moveClock('2026-11-13T10:20:00Z');
    await archive(newer, true);
    expect(await read(older)).not.toHaveProperty('ending_before');
  });
});

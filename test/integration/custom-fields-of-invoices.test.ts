/** Custom fields on invoices: live while an invoice is a draft, frozen with it when it is finalized. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ApiAnswer } from '../support/api-client.ts';
import { CONTRACTS, createdId } from '../support/catalogue-api.ts';
import { addKey, DELETE_VALUES, removeKey, setValues, trySetValues } from '../support/custom-fields.ts';
import { completion, createScenario, type Scenario } from '../support/scenario.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let scenario: Scenario;
let draft: string;

const ENTITIES = ['customer', 'contract', 'invoice', 'contract_product'] as const;

beforeEach(async () => {
  service = await startTestService({ sandboxNow: '2026-11-10T00:00:00Z' });
  scenario = await createScenario(service.api, { alias: 'ada' });
  const usage = { tokens: 1_000, model: 'small' };
  const days = ['2026-11-03T10:00:00Z', '2026-11-04T10:00:00Z'];
  const events = days.map((at) => completion('ada', { id: at, at, ...usage }));
  await service.api.post('/v1/ingest', events);
  for (const entity of ENTITIES) await addKey(service.api, entity, 'team');
  draft = (await list()).text('data[0].id');
});
afterEach(() => service.close());

const path = () => `/v1/customers/${scenario.customerId}/invoices`;
const list = () => service.api.get(path());
const get = (id = draft) => service.api.get(`${path()}/${id}`);
const days = () =>
  service.api.get(`${path()}/breakdowns`, {
    query: { starting_on: '2026-11-01T00:00:00Z', ending_before: '2026-11-06T00:00:00Z' },
  });

function idOf(entity: (typeof ENTITIES)[number]): string {
  return {
    customer: scenario.customerId,
    contract: scenario.contractId,
    invoice: draft,
    contract_product: scenario.tokensProductId,
  }[entity];
}

async function setTeams(value: string): Promise<void> {
  for (const entity of ENTITIES) {
    const fields = { team: `${value} ${entity}` };
    await setValues(service.api, entity, idOf(entity), fields);
  }
}

/**
 * The fields of the invoice or window at `at`: its own fields, its customer's, its contract's, and its tokens lines'.
 */
function fieldsAt(answer: ApiAnswer, at: string) {
  const lines = answer.list(`${at}.line_items`).map((_, n) => `${at}.line_items[${n}]`);
  const tokens = lines.filter((line) => answer.at(`${line}.product_id`) === scenario.tokensProductId);
  const others = lines.filter((line) => !tokens.includes(line));
  return {
    invoice: answer.at(`${at}.custom_fields`),
    customer: answer.at(`${at}.customer_custom_fields`),
    contract: answer.at(`${at}.contract_custom_fields`),
    tokens: tokens.map((line) => answer.at(`${line}.product_custom_fields`)),
    others: others.map((line) => answer.at(`${line}.product_custom_fields`)),
  };
}

/** The same in every answer that shows the November invoice; one tokens line in each. */
async function expectTeams(value: string): Promise<void> {
  const team = (entity: string) => ({ team: `${value} ${entity}` });
  const head = { invoice: team('invoice'), customer: team('customer'), contract: team('contract') };
  const whole = { ...head, tokens: [team('contract_product')], others: [{}] };
  expect(fieldsAt(await list(), 'data[0]')).toEqual(whole);
  expect(fieldsAt(await get(), 'data')).toEqual(whole);
  const breakdown = await days();
  const windows = breakdown.list('data').map((_, index) => fieldsAt(breakdown, `data[${index}]`));
  expect(windows).toHaveLength(5);
  for (const window of windows) {
    expect(window).toMatchObject(head);
    for (const tokens of window.tokens) expect(tokens).toEqual(team('contract_product'));
  }
  expect(windows.flatMap(({ tokens }) => tokens).length).toBeGreaterThanOrEqual(2);
}

test('a draft shows the values as they are now', async () => {
  expect(fieldsAt(await get(), 'data')).toEqual({
    invoice: {},
    customer: {},
    contract: {},
    tokens: [{}],
    others: [{}],
  });
  await setTeams('first');
  await expectTeams('first');
  await setTeams('second');
  await expectTeams('second');
  await service.api.post(DELETE_VALUES, { entity: 'invoice', entity_id: draft, keys: ['team'] });
  expect((await get()).at('data.custom_fields')).toEqual({});
});

test('a finalized invoice always shows the custom fields of its finalization', async () => {
  await setTeams('frozen');
  await service.moveClock('2026-12-02T00:00:00Z');
  expect((await get()).text('data.status')).toBe('FINALIZED');
  await expectTeams('frozen');
  for (const entity of ENTITIES.filter((one) => one !== 'invoice')) {
    await setValues(service.api, entity, idOf(entity), { team: 'later' });
  }
  await expectTeams('frozen');
  for (const entity of ENTITIES) await removeKey(service.api, entity, 'team');
  await expectTeams('frozen');
  for (const entity of ENTITIES) await addKey(service.api, entity, 'team', { unique: true });
  await expectTeams('frozen');
  const reference = { customer_id: scenario.customerId, contract_id: scenario.contractId };
  await service.api.post('/v1/contracts/archive', { ...reference, void_invoices: true });
  expect((await get()).text('data.status')).toBe('VOID');
  await expectTeams('frozen');
});

test('a finalized invoice that showed no values shows none that come later', async () => {
  await service.moveClock('2026-12-02T00:00:00Z');
  await setValues(service.api, 'customer', scenario.customerId, { team: 'later' });
  expect((await get()).at('data.customer_custom_fields')).toEqual({});
  expect((await list()).at('data[1].customer_custom_fields')).toEqual({ team: 'later' });
});

test('fields of an invoice are its own: the draft of the next period starts without', async () => {
  await setValues(service.api, 'invoice', draft, { team: 'red' });
  await service.moveClock('2026-12-01T12:00:00Z');
  const both = await list();
  expect(both.at('data[0].status')).toBe('DRAFT');
  expect(both.at('data[0].custom_fields')).toEqual({ team: 'red' });
  expect(both.at('data[1].custom_fields')).toEqual({});
  await setValues(service.api, 'invoice', both.text('data[1].id'), { team: 'blue' });
  await setValues(service.api, 'invoice', draft, { team: 'grace' });
  const after = await list();
  expect(after.at('data[0].custom_fields')).toEqual({ team: 'grace' });
  expect(after.at('data[1].custom_fields')).toEqual({ team: 'blue' });
});

test('fields of a finalized invoice cannot be changed, those of an invoice that is not there cannot either', async () => {
  await setValues(service.api, 'invoice', draft, { team: 'red' });
  await service.moveClock('2026-12-02T00:00:00Z');
  const attempts = [
    await trySetValues(service.api, 'invoice', draft, { team: 'blue' }),
    await service.api.send('POST', DELETE_VALUES, { entity: 'invoice', entity_id: draft, keys: ['team'] }),
  ];
  for (const answer of attempts) {
    expect(answer.status).toBe(400);
    expect(answer.text('message')).toMatch(
      /^entity_id: invoice .* is finalized, and its custom fields with it/,
    );
  }
  expect((await get()).at('data.custom_fields')).toEqual({ team: 'red' });
  const unknown = await trySetValues(service.api, 'invoice', scenario.contractId, { team: 'blue' });
  expect(unknown.status).toBe(404);
  expect(unknown.text('message')).toBe(`invoice ${scenario.contractId} not found`);
});

test('a unique value of a finalized invoice stays taken', async () => {
  await addKey(service.api, 'invoice', 'number', { unique: true });
  await setValues(service.api, 'invoice', draft, { number: '1' });
  await service.moveClock('2026-12-02T00:00:00Z');
  const next = (await list()).text('data[1].id');
  expect((await trySetValues(service.api, 'invoice', next, { number: '1' })).status).toBe(409);
  await setValues(service.api, 'invoice', next, { number: '2' });
});

test('a value that is set while the invoice is being finalized is on it or is refused', async () => {
  const { customerId: customer_id, rateCardId: rate_card_id } = scenario;
  const drafts: string[] = [draft];
  for (let n = 0; n < 5; n++) {
    const body = { customer_id, rate_card_id, starting_at: '2026-11-01T00:00:00Z' };
    const contract_id = await createdId(service.api, CONTRACTS, body);
    const own = await service.api.get(path(), { query: { contract_id } });
    drafts.push(own.text('data[0].id'));
  }
  const [answers] = await Promise.all([
    Promise.all(drafts.map((id) => trySetValues(service.api, 'invoice', id, { team: 'red' }))),
    service.moveClock('2026-12-02T00:00:00Z'),
  ]);
  for (const [index, id] of drafts.entries()) {
    await expect.poll(async () => (await get(id)).text('data.status')).toBe('FINALIZED');
    const { status } = answers[index] ?? { status: 0 };
    expect([200, 400]).toContain(status);
    expect((await get(id)).at('data.custom_fields')).toEqual(status === 200 ? { team: 'red' } : {});
  }
});

/** Previews of changes: the invoices are those that the change would give, and nothing is changed. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ApiAnswer } from '../support/api-client.ts';
import { createdId } from '../support/catalogue-api.ts';
import { csvRows } from '../support/csv.ts';
import { completion, createScenario, type Scenario } from '../support/scenario.ts';
import { startTestService, type TestService } from '../support/service.ts';

const PATH = '/v1/invoices/preview';
const NOVEMBER = { starting_on: '2026-11-01T00:00:00Z', ending_before: '2026-12-01T00:00:00Z' };

let service: TestService;
let scenario: Scenario;

beforeEach(async () => {
  service = await startTestService({ sandboxNow: '2026-11-10T00:00:00Z' });
  scenario = await createScenario(service.api, { alias: 'ada' });
  // Costs 2 for the request and 5 for the tokens.
  await service.api.post('/v1/ingest', [
    completion('ada', { id: 'a', at: '2026-11-03T00:00:00Z', tokens: 1_000, model: 'small' }),
  ]);
});
afterEach(() => service.close());

function preview(
  body: Record<string, unknown>,
  query: Record<string, string | number> = {},
): Promise<ApiAnswer> {
  return service.api.post(PATH, body, { query });
}

function edit(changes: Record<string, unknown>) {
  return { customer_id: scenario.customerId, contract_id: scenario.contractId, ...changes };
}

const halfPrice = () => ({
  add_overrides: [
    {
      starting_at: '2026-11-01T00:00:00Z',
      product_id: scenario.tokensProductId,
      type: 'MULTIPLIER',
      multiplier: 0.5,
    },
  ],
});

const rate = (price: number) => ({
  rate_card_id: scenario.rateCardId,
  rates: [
    {
      product_id: scenario.requestsProductId,
      starting_at: '2026-11-01T00:00:00Z',
      entitled: true,
      rate_type: 'FLAT',
      price,
    },
  ],
});

async function drafts(): Promise<unknown> {
  return (await service.api.get(`/v1/customers/${scenario.customerId}/invoices`)).at('data');
}

/** Total now, as previewed, and the difference. */
function totals(answer: ApiAnswer, path = 'data[0].invoices[0]'): (string | undefined)[] {
  return ['current_total', 'preview_total', 'difference'].map((name) =>
    answer.at(`${path}.${name}`) === undefined ? undefined : answer.digits(`${path}.${name}`),
  );
}

describe('an edit', () => {
  test('an edit that changes no price gives the draft', async () => {
    const [draft] = (await drafts()) as unknown[];
    const answer = await preview({ edit: edit({ update_contract_name: 'new' }), include_invoices: true });
    expect(totals(answer)).toEqual(['7', '7', '0']);
    expect(answer.at('data[0].invoices[0].invoice')).toEqual(draft);
  });

  test('a preview equals the draft after the change, and the change is not applied', async () => {
    const before = await drafts();
    const answer = await preview({ edit: edit(halfPrice()), include_invoices: true });
    expect(totals(answer)).toEqual(['7', '4.5', '-2.5']);
    expect(answer.at('data[0].differences[0].difference')).toBe(-2.5);
    expect([answer.at('data[0].invoices[0].current_invoice')]).toEqual(before);
    expect(await drafts()).toEqual(before);
    const history = await service.api.post('/v2/contracts/getEditHistory', edit({}));
    expect(history.list('data')).toEqual([]);
    await service.api.post('/v2/contracts/edit', edit(halfPrice()));
    expect(await drafts()).toEqual([answer.at('data[0].invoices[0].invoice')]);
  });

  test('an edit shows scheduled invoices that come and drafts that go', async () => {
    const productId = await createdId(service.api, '/v1/contract-pricing/products/create', {
      name: 'Setup',
      type: 'FIXED',
    });
    const added = {
      add_scheduled_charges: [
        {
          product_id: productId,
          schedule: { schedule_items: [{ timestamp: '2026-11-20T00:00:00Z', amount: 900 }] },
        },
      ],
    };
    const charged = await preview({ edit: edit(added), ...NOVEMBER });
    expect(totals(charged)).toEqual(['7', '7', '0']);
    expect(totals(charged, 'data[0].invoices[1]')).toEqual([undefined, '900', '900']);
    const ended = { update_contract_end_date: '2026-11-02T00:00:00Z' };
    expect(totals(await preview({ edit: edit(ended), ...NOVEMBER }))).toEqual(['7', '0', '-7']);
  });

  test('an edit is refused as it would be, and its fields are named where they stand', async () => {
    const [override] = halfPrice().add_overrides;
    const wrong = { add_overrides: [{ ...override, starting_at: '2026-10-01T00:00:00Z', multiplier: -1 }] };
    const refused = await service.api.send('POST', PATH, { edit: edit(wrong) });
    const made = await service.api.send('POST', '/v2/contracts/edit', edit(wrong));
    expect([refused.status, made.status]).toEqual([400, 400]);
    expect(refused.text('message')).toBe(`edit.${made.text('message')}`);
    const archived = { ...edit({}), archive_commits: [{ id: scenario.customerId }] };
    const unknown = await service.api.send('POST', PATH, { edit: archived });
    const unmade = await service.api.send('POST', '/v2/contracts/edit', archived);
    expect(unknown.status).toBe(unmade.status);
    expect(unknown.text('message')).toBe(`edit.${unmade.text('message')}`);
    await service.api.post('/v1/contracts/archive', { ...edit({}), void_invoices: false });
    const late = await service.api.send('POST', PATH, { edit: edit({ update_contract_name: 'x' }) });
    expect([late.status, late.text('message')]).toEqual([400, `contract ${scenario.contractId} is archived`]);
    const other = { ...edit({}), contract_id: scenario.customerId };
    expect((await service.api.send('POST', PATH, { edit: other })).status).toBe(404);
  });
});

describe('rates', () => {
  test('rates give what each customer of the card would be billed, page by page', async () => {
    const alias = 'bob';
    const bob = await createdId(service.api, '/v1/customers', { name: alias, ingest_aliases: [alias] });
    await createdId(service.api, '/v1/contracts/create', {
      customer_id: bob,
      rate_card_id: scenario.rateCardId,
      starting_at: '2026-11-01T00:00:00Z',
    });
    const events = ['x', 'y'].map((id) => completion(alias, { id, at: '2026-11-04T00:00:00Z', tokens: 0 }));
    await service.api.post('/v1/ingest', events);
    const expected = [
      { customer: scenario.customerId, totals: ['7', '8', '1'] },
      { customer: bob, totals: ['4', '6', '2'] },
    ].sort((a, b) => (a.customer < b.customer ? -1 : 1));
    const all = await preview({ add_rates: rate(3) });
    const found = [0, 1].map((index) => ({
      customer: all.text(`data[${index}].customer_id`),
      totals: totals(all, `data[${index}].invoices[0]`),
    }));
    expect(found).toEqual(expected);
    const first = await preview({ add_rates: rate(3) }, { limit: 1 });
    expect(first.text('data[0].customer_id')).toBe(expected[0]?.customer);
    const second = await preview({ add_rates: rate(3) }, { limit: 1, next_page: first.text('next_page') });
    expect([second.text('data[0].customer_id'), second.at('next_page')]).toEqual([
      expected[1]?.customer,
      null,
    ]);
    const one = await preview({ add_rates: rate(3), customer_id: bob });
    expect([one.list('data').length, totals(one)]).toEqual([1, ['4', '6', '2']]);
    const csv = await service.api.post(PATH, { add_rates: rate(3) }, { headers: { accept: 'text/csv' } });
    expect(csvRows(csv.body).map((row) => row.difference)).toEqual(expected.map(({ totals: t }) => t[2]));
    const rates = await service.api.post('/v1/contract-pricing/rate-cards/getRates', {
      rate_card_id: scenario.rateCardId,
      at: '2026-11-10T00:00:00Z',
    });
    expect(JSON.stringify(rates.at('data'))).not.toContain('"price":3,');
  });

  test('rates are compared with what was billed for past periods, and are what regenerating bills', async () => {
    await service.moveClock('2026-12-10T00:00:00Z');
    const answer = await preview({ add_rates: rate(3), ...NOVEMBER });
    expect(totals(answer)).toEqual(['7', '8', '1']);
    expect(answer.text('data[0].invoices[0].current_status')).toBe('FINALIZED');
    const id = answer.text('data[0].invoices[0].current_invoice_id');
    await service.api.post('/v1/contract-pricing/rate-cards/addRates', rate(3));
    await service.api.post('/v1/invoices/void', { id });
    const again = await service.api.post('/v1/invoices/regenerate', { id });
    const path = `/v1/customers/${scenario.customerId}/invoices/${again.text('data.id')}`;
    expect((await service.api.get(path)).digits('data.total')).toBe('8');
  });

  test('rates are refused as they would be', async () => {
    const refused = await service.api.send('POST', PATH, { add_rates: rate(3), edit: edit({}) });
    expect(refused.text('message')).toBe('either edit or add_rates is required');
    expect((await service.api.send('POST', PATH, {})).status).toBe(400);
    const [one] = rate(3).rates;
    const unknown = { ...rate(3), rates: [{ ...one, product_id: scenario.customerId }] };
    const answer = await service.api.send('POST', PATH, { add_rates: unknown });
    expect([answer.status, answer.text('message')]).toEqual([
      404,
      `add_rates.rates[0].product_id: product ${scenario.customerId} not found`,
    ]);
    const card = { ...rate(3), rate_card_id: scenario.customerId };
    expect((await service.api.send('POST', PATH, { add_rates: card })).status).toBe(404);
    const unknownCustomer = { add_rates: rate(3), customer_id: scenario.rateCardId };
    expect((await service.api.send('POST', PATH, unknownCustomer)).status).toBe(404);
    const empty = { starting_on: NOVEMBER.ending_before, ending_before: NOVEMBER.starting_on };
    expect((await service.api.send('POST', PATH, { add_rates: rate(3), ...empty })).status).toBe(400);
  });
});

test('a change that arrives while a preview reads is waited for, and previews do not hold it up', async () => {
  const answers = await Promise.all([
    ...Array.from({ length: 6 }, () => preview({ add_rates: rate(3) })),
    ...Array.from({ length: 4 }, () => service.api.post('/v1/contract-pricing/rate-cards/addRates', rate(2))),
    ...Array.from({ length: 4 }, () => preview({ edit: edit(halfPrice()) })),
    service.api.post('/v2/contracts/edit', edit({ update_contract_name: 'new' })),
  ]);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(new Set(answers.slice(0, 6).map((answer) => totals(answer).join(' ')))).toEqual(new Set(['7 8 1']));
});

/** Usage that no rate covers: it is on no line, and every reader of the invoice sees it. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ADD_RATE } from '../support/catalogue-api.ts';
import { completion, createScenario, type Scenario } from '../support/scenario.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let scenario: Scenario;

beforeEach(async () => {
  service = await startTestService({ sandboxNow: '2026-11-10T00:00:00Z' });
  scenario = await createScenario(service.api, { alias: 'ada' });
});
afterEach(() => service.close());

let events = 0;

async function use(model: string, tokens: number, region = 'eu'): Promise<void> {
  events += 1;
  const at = '2026-11-03T10:00:00Z';
  await service.api.post('/v1/ingest', [completion('ada', { id: `e-${events}`, at, tokens, model, region })]);
}

const addRate = (fields: object) =>
  service.api.post(ADD_RATE, {
    rate_card_id: scenario.rateCardId,
    product_id: scenario.tokensProductId,
    starting_at: '2026-01-01T00:00:00Z',
    entitled: true,
    rate_type: 'FLAT',
    price: 1,
    ...fields,
  });

const list = () => service.api.get(`/v1/customers/${scenario.customerId}/invoices`);

/** `xl eu 7`: values and quantity of the warnings of the customer's first invoice, read on its own. */
async function warnings(): Promise<string[]> {
  const id = (await list()).text('data[0].id');
  const invoice = await service.api.get(`/v1/customers/${scenario.customerId}/invoices/${id}`);
  return invoice.list('data.warnings').map((_, index) => {
    const at = `data.warnings[${index}]`;
    const model = invoice.text(`${at}.pricing_group_values.model`);
    const region = invoice.text(`${at}.presentation_group_values.region`);
    return `${model} ${region} ${invoice.digits(`${at}.quantity`)}`;
  });
}

test('a draft without unpriced usage has an empty list of warnings', async () => {
  await use('small', 1_000);
  const invoices = await list();
  expect(invoices.at('data[0].warnings')).toEqual([]);
  expect(invoices.at('data[0].warnings_left_out')).toBeUndefined();
});

test('a draft names product, values, time and quantity of what has no rate, and what to do', async () => {
  await use('xl', 7);
  const invoices = await list();
  const { tokensProductId, tokensMetricId } = scenario;
  expect(invoices.list('data[0].warnings')).toMatchObject([
    {
      code: 'unpriced_usage',
      message:
        'no rate of the rate card covers "Tokens" with model "xl" from 2026-11-01T00:00:00.000Z to ' +
        '2026-12-01T00:00:00.000Z: add a rate for these values or a rate without group values',
      product_id: tokensProductId,
      product_name: 'Tokens',
      billable_metric_id: tokensMetricId,
      pricing_group_values: { model: 'xl' },
      presentation_group_values: { region: 'eu' },
      starting_at: '2026-11-01T00:00:00.000Z',
      ending_before: '2026-12-01T00:00:00.000Z',
      quantity: 7,
    },
  ]);
  // The request itself has a price.
  expect(invoices.digits('data[0].total')).toBe('2');
  expect(await warnings()).toEqual(['xl eu 7']);
});

test('warnings stand in the order of lines', async () => {
  await use('xxl', 1);
  await use('xl', 2, 'us');
  await use('xl', 3);
  expect(await warnings()).toEqual(['xl eu 3', 'xl us 2', 'xxl eu 1']);
});

test('a rate for the values, or one for all others, takes the warning away', async () => {
  await use('xl', 7);
  await use('xxl', 8);
  await addRate({ pricing_group_values: { model: 'xl' } });
  expect(await warnings()).toEqual(['xxl eu 8']);
  await addRate({});
  expect(await warnings()).toEqual([]);
});

test('usage that is not entitled is left out on purpose: no warning', async () => {
  await use('xl', 7);
  await use('small', 7);
  await addRate({ pricing_group_values: { model: 'xl' }, entitled: false });
  expect(await warnings()).toEqual([]);
});

test('usage without a rate that the contract takes out gives no warning', async () => {
  await use('xl', 7);
  await service.api.post('/v2/contracts/edit', {
    customer_id: scenario.customerId,
    contract_id: scenario.contractId,
    add_overrides: [
      { starting_at: '2026-11-01T00:00:00Z', entitled: false, product_id: scenario.tokensProductId },
    ],
  });
  expect(await warnings()).toEqual([]);
});

test('a finalized invoice keeps its warnings, also when it is voided and when a rate is added later', async () => {
  await use('xl', 7);
  await service.moveClock('2026-12-02T00:00:00Z');
  await addRate({ pricing_group_values: { model: 'xl' } });
  expect(await warnings()).toEqual(['xl eu 7']);
  expect((await list()).at('data[0].warnings[0].quantity')).toBe(7);
  await service.api.post('/v1/contracts/archive', {
    customer_id: scenario.customerId,
    contract_id: scenario.contractId,
    void_invoices: true,
  });
  expect((await list()).at('data[0].status')).toBe('VOID');
  expect(await warnings()).toEqual(['xl eu 7']);
});

test('of many warnings the first 100 are shown, and the others are counted, before and after finalization', async () => {
  const at = '2026-11-03T10:00:00Z';
  await service.api.post(
    '/v1/ingest',
    Array.from({ length: 100 }, (_, index) =>
      completion('ada', { id: `m-${index}`, at, tokens: 1, model: `model-${1_000 + index}` }),
    ),
  );
  await use('model-1100', 1);
  await use('model-1101', 1);
  const shown = async () => {
    const invoices = await list();
    const names = invoices
      .list('data[0].warnings')
      .map((_, index) => invoices.text(`data[0].warnings[${index}].pricing_group_values.model`));
    return [names.length, names.at(0), names.at(-1), invoices.at('data[0].warnings_left_out')];
  };
  expect(await shown()).toEqual([100, 'model-1000', 'model-1099', 2]);
  await service.moveClock('2026-12-02T00:00:00Z');
  expect(await shown()).toEqual([100, 'model-1000', 'model-1099', 2]);
});

test('windows of the breakdown carry no warnings', async () => {
  await use('xl', 7);
  const days = await service.api.get(`/v1/customers/${scenario.customerId}/invoices/breakdowns`, {
    query: { starting_on: '2026-11-03T00:00:00Z', ending_before: '2026-11-04T00:00:00Z' },
  });
  expect(days.list('data')).toHaveLength(1);
  expect(days.at('data[0].warnings')).toBeUndefined();
});

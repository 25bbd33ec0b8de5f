import { beforeAll, describe, expect, it } from 'vitest';
import { IGNORED_FIELDS } from '../../src/api/http/ignored-fields.ts';
import { fieldCheck } from '../../src/api/http/unknown-fields.ts';
import { createTermsCatalogue, type TermsCatalogue } from '../support/contract-terms.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

const { api, routes } = await serviceForFile();
let catalogue: TermsCatalogue;
let customer: string;

beforeAll(async () => {
  catalogue = await createTermsCatalogue(api);
  customer = (await api.post('/v1/customers', { name: 'Customer' })).text('data.id');
});

const contract = (more: object = {}) => ({
  customer_id: customer,
  rate_card_id: catalogue.card,
  starting_at: '2026-10-01T00:00:00Z',
  ...more,
});

const RATES = '/v1/contract-pricing/rate-cards/addRates';
const rate = (more: object = {}) => ({
  product_id: catalogue.tokens,
  entitled: true,
  starting_at: '2026-10-01T00:00:00Z',
  rate_type: 'FLAT',
  price: 1,
  ...more,
});

describe('a field that an operation about money does not have', () => {
  it.each<[string, () => object, string]>([
    [
      '/v1/contracts/create',
      () => ({ customer_id: customer, rate_card: catalogue.card, starting_at: '2026-10-01T00:00:00Z' }),
      'rate_card: is not a field of this operation; did you mean rate_card_id?',
    ],
    [
      '/v1/contracts/create',
      () => contract({ credits: [{ access_schedule: { schedule_items: [{ amonut: 1 }] } }] }),
      'credits[0].access_schedule.schedule_items[0].amonut: is not a field of this operation; did you mean amount?',
    ],
    [
      RATES,
      () => ({ rate_card_id: catalogue.card, rates: [rate(), rate({ is_prorated_by_luck: true })] }),
      'rates[1].is_prorated_by_luck: is not a field of this operation',
    ],
    [
      '/v1/contract-pricing/products/create',
      () => ({ name: 'x', type: 'FIXED', Name: 'x', biling: 1 }),
      'Name: is not a field of this operation; did you mean name?; biling: is not a field of this operation',
    ],
    [
      '/v1/contract-pricing/rate-cards/create',
      () => ({ name: 'x', currency: 'EUR' }),
      'currency: is not a field of this operation',
    ],
    [
      '/v1/contracts/customerCommits/create',
      () => ({ customerid: customer }),
      'customerid: is not a field of this operation; did you mean customer_id?',
    ],
    [
      '/v1/contracts/updateEndDate',
      () => ({ ends_before: null }),
      'ends_before: is not a field of this operation; did you mean ending_before?',
    ],
    [
      '/v1/packages/create',
      () => ({ name: 'x', constructor: 1 }),
      'constructor: is not a field of this operation',
    ],
  ])('is refused by %s, with the field that was probably meant', async (path, body, message) => {
    const refused = await api.send('POST', path, body());
    expect([refused.status, refused.at('message')]).toEqual([400, message]);
  });

  it('is not looked for inside of what clients name themselves', async () => {
    const made = await api.post(RATES, {
      rate_card_id: catalogue.card,
      rates: [rate({ pricing_group_values: {} })],
    });
    expect(made.at('warnings')).toBeUndefined();
  });

  it('does not matter elsewhere', async () => {
    expect((await api.send('POST', '/v1/customers', { name: 'x', colour: 'red' })).status).toBe(200);
  });
});

describe('a field that the official client knows and the service ignores', () => {
  it('is accepted and named in the answer', async () => {
    const made = await api.post(
      '/v1/contracts/create',
      contract({
        netsuite_sales_order_id: 'SO-1',
        total_contract_value: 100,
        salesforce_opportunity_id: null,
        scheduled_charges: [
          {
            product_id: catalogue.fee,
            netsuite_sales_order_id: 'SO-2',
            schedule: { schedule_items: [{ amount: 1, timestamp: '2026-12-01T00:00:00Z' }] },
          },
        ],
      }),
    );
    expect(made.at('warnings')).toEqual([
      { field: 'netsuite_sales_order_id', message: 'is accepted and ignored' },
      { field: 'total_contract_value', message: 'is accepted and ignored' },
      { field: 'scheduled_charges[0].netsuite_sales_order_id', message: 'is accepted and ignored' },
    ]);
  });

  it.each(Object.entries(IGNORED_FIELDS))('is taken out of bodies of %s', async (operationId, paths) => {
    const route = routes.find((one) => one.operationId === operationId);
    if (route?.body === undefined) throw new Error(`${operationId} is no operation with a body`);
    const check = fieldCheck(route.body, operationId);
    for (const path of paths) {
      const body = path.split('.').reduceRight<unknown>((value, name) => ({ [name]: value }), 'x');
      const checked = await check(body);
      expect(checked.warnings).toEqual([{ field: path, message: 'is accepted and ignored' }]);
      expect(JSON.stringify(checked.body)).not.toContain('"x"');
    }
  });
});

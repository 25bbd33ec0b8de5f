import { beforeAll, describe, expect, it } from 'vitest';
import { IGNORED_FIELDS } from '../../src/api/http/ignored-fields.ts';
import { fieldCheck } from '../../src/api/http/unknown-fields.ts';
import { createCatalogueApi } from '../support/catalogue-api.ts';
import { createTermsCatalogue, type TermsCatalogue } from '../support/contract-terms.ts';
import { databaseForFile, serviceForFile } from '../support/file-fixtures.ts';

const { api, routes } = await serviceForFile();
const pool = await databaseForFile();
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
  ])(
    'a field that an operation about money does not have is refused by %s, with the field that was probably meant',
    async (path, body, message) => {
      const refused = await api.send('POST', path, body());
      expect([refused.status, refused.at('message')]).toEqual([400, message]);
    },
  );

  it('a field that an operation about money does not have is not looked for inside of what clients name themselves', async () => {
    const made = await api.post(RATES, {
      rate_card_id: catalogue.card,
      rates: [rate({ pricing_group_values: {} })],
    });
    expect(made.at('warnings')).toBeUndefined();
  });

  it('a field that an operation about money does not have is ignored elsewhere, and named in a header', async () => {
    const made = await api.post('/v1/customers', { name: 'x', colour: 'red', 'größe, l': 1 });
    expect(made.headers.get('x-ignored-fields')).toBe('colour, gr%C3%B6%C3%9Fe%2C%20l');
  });

  it('a field that an operation about money does not have is ignored for a client that prefers lenient handling, and named in the answer', async () => {
    const body = contract({ colour: 'red', credits: [], discounts: [{ colour: 1 }], commits: null });
    const refused = await api.send('POST', '/v1/contracts/create', body);
    expect(refused.status).toBe(400);
    const headers = { prefer: 'respond-async, handling=lenient' };
    const lenient = contract({ colour: 'red' });
    const made = await api.post('/v1/contracts/create', lenient, { headers });
    expect(made.headers.get('x-ignored-fields')).toBe('colour');
    expect(made.at('warnings')).toEqual([{ field: 'colour', message: 'is accepted and ignored' }]);
  });

  it('a field that an operation about money does not have is ignored where the service is set to ignore it', async () => {
    const lenient = createCatalogueApi(pool.db, { strictFields: false });
    const made = await lenient.post('/v1/contract-pricing/products/create', {
      name: 'x',
      type: 'FIXED',
      colour: 1,
    });
    expect(made.headers.get('x-ignored-fields')).toBe('colour');
  });

  it('a field that an operation about money does not have is named only as far as a header may be long', async () => {
    const body = {
      name: 'x',
      ...Object.fromEntries(Array.from({ length: 900 }, (_, at) => [`field_${at}`, 1])),
    };
    const named = (await api.post('/v1/customers', body)).headers.get('x-ignored-fields') ?? '';
    expect(named.length).toBeLessThanOrEqual(2_000);
    expect(named).toMatch(/^field_0, field_1, .*, field_\d+, %E2%80%A6$/);
  });
});

describe('a field that the official client knows and the service ignores', () => {
  it('a field that the official client knows and the service ignores is accepted and named in the answer', async () => {
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

  it('a field that the official client knows and the service ignores is accepted wherever public programs send it', async () => {
    const rated = await api.post(RATES, {
      rate_card_id: catalogue.card,
      rates: [rate({ effective_at: '2026-10-01T00:00:00Z' })],
    });
    expect(rated.headers.get('x-ignored-fields')).toBe('rates[0].effective_at');
    const packaged = await api.post('/v1/packages/create', {
      name: 'x',
      rate_card_id: catalogue.card,
      tags: ['a'],
      product_tags: ['b'],
    });
    expect(packaged.headers.get('x-ignored-fields')).toBe('tags, product_tags');
    const alert = await api.post('/v1/alerts/create', {
      name: 'x',
      alert_type: 'spend_threshold_reached',
      threshold: 1,
      credit_grant_type_filters: ['trial'],
    });
    expect(alert.headers.get('x-ignored-fields')).toBe('credit_grant_type_filters');
    const threshold = {
      is_enabled: false,
      threshold_amount: 1000,
      recharge_to_amount: 2000,
      payment_gate_config: { payment_gate_type: 'NONE' },
      commit: {
        product_id: catalogue.fee,
        name: 'Top-up',
        type: 'PREPAID',
        access_schedule: { schedule_items: [] },
        duration: { value: 1, unit: 'YEARS' },
        rollover_fraction: 0,
      },
    };
    const made = await api.post(
      '/v1/contracts/create',
      contract({
        prepaid_balance_threshold_configuration: threshold,
        reseller_royalties: [{ reseller_type: 'AWS' }],
      }),
    );
    expect(made.headers.get('x-ignored-fields')?.split(', ').sort()).toEqual([
      ...['access_schedule', 'duration', 'rollover_fraction', 'type'].map(
        (name) => `prepaid_balance_threshold_configuration.commit.${name}`,
      ),
      'reseller_royalties',
    ]);
  });

  it.each(Object.entries(IGNORED_FIELDS))(
    'a field that the official client knows and the service ignores is taken out of bodies of %s',
    async (operationId, paths) => {
      const route = routes.find((one) => one.operationId === operationId);
      if (route?.body === undefined) throw new Error(`${operationId} is no operation with a body`);
      const check = fieldCheck(route.body, operationId);
      for (const path of paths) {
        const body = path.split('.').reduceRight<unknown>((value, name) => ({ [name]: value }), 'x');
        const checked = await check(body);
        expect(checked.warnings).toEqual([{ field: path, message: 'is accepted and ignored' }]);
        expect(JSON.stringify(checked.body)).not.toContain('"x"');
      }
    },
  );
});

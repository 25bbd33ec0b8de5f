/**
 * One month with the official client, unchanged: from events to a draft invoice, its breakdowns, and the
 * finalized invoice after the month is closed.
 *
 * SDK methods covered here: customers.create, customers.setIngestAliases, billableMetrics.create,
 * usage.ingest, contracts.products.create, contracts.rateCards.create, contracts.rateCards.rates.add,
 * contracts.rateCards.rates.addMany, contracts.create (rate_card_id and rate_card_alias),
 * customers.invoices.list, customers.invoices.retrieve, customers.invoices.listBreakdowns (hour and day).
 */
import Metronome from '@metronome/sdk';
import { beforeAll, describe, expect, it } from 'vitest';
import { collect } from '../support/collect.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

const MARCH = '2026-03-01T00:00:00.000Z';
const APRIL = '2026-04-01T00:00:00.000Z';

const service = await serviceForFile({ sandboxNow: '2026-03-20T12:00:00Z' });
let client: Metronome;

beforeAll(async () => {
  client = new Metronome({ baseURL: service.url, bearerToken: service.token });
});

/** Tokens by model: the small one flat, the large one with ten units at 2 cents and the rest at 1.5. */
async function createPriceList(alias: string) {
  const metric = await client.v1.billableMetrics.create({
    name: 'Tokens',
    event_type_filter: { in_values: ['completion'] },
    property_filters: [
      { name: 'tokens', exists: true },
      { name: 'model', exists: true },
    ],
    aggregation_type: 'SUM',
    aggregation_key: 'tokens',
    group_keys: [['model']],
  });
  const product = await client.v1.contracts.products.create({
    name: 'Tokens',
    type: 'USAGE',
    billable_metric_id: metric.data.id,
    pricing_group_key: ['model'],
  });
  const rateCard = await client.v1.contracts.rateCards.create({ name: 'List', aliases: [{ name: alias }] });
  const rate = { product_id: product.data.id, starting_at: MARCH, entitled: true } as const;
  const added = await client.v1.contracts.rateCards.rates.add({
    ...rate,
    rate_card_id: rateCard.data.id,
    rate_type: 'FLAT',
    price: 0.5,
    pricing_group_values: { model: 'small' },
  });
  expect(added.data).toMatchObject({
    rate_type: 'FLAT',
    price: 0.5,
    pricing_group_values: { model: 'small' },
  });
  const addedMany = await client.v1.contracts.rateCards.rates.addMany({
    rate_card_id: rateCard.data.id,
    rates: [
      {
        ...rate,
        rate_type: 'TIERED',
        tiers: [{ price: 2, size: 10 }, { price: 1.5 }],
        pricing_group_values: { model: 'large' },
      },
    ],
  });
  expect(addedMany.data.id).toBe(rateCard.data.id);
  return { rateCardId: rateCard.data.id, productId: product.data.id };
}

function completion(id: string, customer: string, timestamp: string, model: string, tokens: string) {
  return {
    transaction_id: id,
    customer_id: customer,
    event_type: 'completion',
    timestamp,
    properties: { model, tokens },
  };
}

const moveClock = (now: string) => client.post('/v1/sandbox/clock', { body: { now } });

describe('a month with the official client', () => {
  it('a month with the official client goes from events to a draft, its breakdowns and an invoice that stays as it was finalized', async () => {
    const { rateCardId, productId } = await createPriceList('list-of-month');
    const customer = await client.v1.customers.create({ name: 'Acme', ingest_aliases: ['acme'] });
    const contract = await client.v1.contracts.create({
      customer_id: customer.data.id,
      rate_card_id: rateCardId,
      starting_at: MARCH,
    });
    const customerId = customer.data.id;
    await client.v1.usage.ingest({
      usage: [
        completion('m-1', 'acme', '2026-03-02T10:15:00Z', 'small', '100'),
        completion('m-2', 'acme', '2026-03-02T11:00:00Z', 'large', '8'),
        completion('m-3', 'acme', '2026-03-15T09:59:59.999Z', 'large', '7'),
        completion('m-3', 'acme', '2026-03-15T09:59:59.999Z', 'large', '7'),
      ],
    });

    const drafts = await collect(
      client.v1.customers.invoices.list({ customer_id: customerId, status: 'DRAFT' }),
    );
    expect(drafts).toHaveLength(1);
    const [listed] = drafts;
    expect(listed).toMatchObject({
      status: 'DRAFT',
      type: 'USAGE',
      contract_id: contract.data.id,
      start_timestamp: MARCH,
      end_timestamp: APRIL,
      total: 77.5,
      credit_type: { name: 'USD (cents)' },
    });
    const invoiceId = listed?.id ?? '';
    const draft = await client.v1.customers.invoices.retrieve({
      customer_id: customerId,
      invoice_id: invoiceId,
    });
    expect(draft.data).toEqual(listed);
    const lines = draft.data.line_items.map((line) => [
      line.product_id,
      line.pricing_group_values?.model,
      line.quantity,
      line.unit_price,
      line.total,
    ]);
    expect(lines).toHaveLength(3);
    expect(lines).toEqual(
      expect.arrayContaining([
        [productId, 'small', 100, 0.5, 50],
        [productId, 'large', 10, 2, 20],
        [productId, 'large', 5, 1.5, 7.5],
      ]),
    );

    const readDays = () =>
      collect(
        client.v1.customers.invoices.listBreakdowns({
          customer_id: customerId,
          starting_on: MARCH,
          ending_before: APRIL,
          window_size: 'DAY',
          limit: 10,
        }),
      );
    const days = await readDays();
    const withCost = days.filter((day) => day.total !== 0);
    expect(
      withCost.map((day) => [day.breakdown_start_timestamp, day.breakdown_end_timestamp, day.total]),
    ).toEqual([
      ['2026-03-02T00:00:00.000Z', '2026-03-03T00:00:00.000Z', 66],
      ['2026-03-15T00:00:00.000Z', '2026-03-16T00:00:00.000Z', 11.5],
    ]);
    const hours = await collect(
      client.v1.customers.invoices.listBreakdowns({
        customer_id: customerId,
        starting_on: '2026-03-02T00:00:00Z',
        ending_before: '2026-03-03T00:00:00Z',
        window_size: 'HOUR',
      }),
    );
    expect(
      hours.filter((hour) => hour.total !== 0).map((hour) => [hour.breakdown_start_timestamp, hour.total]),
    ).toEqual([
      ['2026-03-02T10:00:00.000Z', 50],
      ['2026-03-02T11:00:00.000Z', 16],
    ]);

    await moveClock('2026-04-02T01:00:00Z');
    const finalized = await collect(
      client.v1.customers.invoices.list({ customer_id: customerId, status: 'FINALIZED' }),
    );
    const issued = { status: 'FINALIZED', issued_at: expect.any(String), invoice_number: expect.any(String) };
    expect(finalized).toEqual([{ ...draft.data, ...issued }]);
    await client.v1.usage.ingest({
      usage: [completion('m-late', 'acme', '2026-03-31T10:00:00Z', 'small', '1000')],
    });
    const after = await client.v1.customers.invoices.retrieve({
      customer_id: customerId,
      invoice_id: invoiceId,
    });
    expect(after.data).toMatchObject({ status: 'FINALIZED', total: 77.5 });
    const frozen = await readDays();
    expect(frozen.reduce((sum, day) => sum + day.total, 0)).toBe(77.5);
    const april = await collect(
      client.v1.customers.invoices.list({ customer_id: customerId, status: 'DRAFT' }),
    );
    expect(april.map((invoice) => [invoice.start_timestamp, invoice.total])).toEqual([[APRIL, 0]]);
  });

  it('a month with the official client finds the rate card by its alias, and takes usage along when an alias is set late', async () => {
    await createPriceList('list-by-alias');
    const customer = await client.v1.customers.create({ name: 'Late' });
    const { now } = (await client.get<{ data: { now: string } }>('/v1/sandbox/clock')).data;
    await client.v1.contracts.create({
      customer_id: customer.data.id,
      rate_card_alias: 'list-by-alias',
      starting_at: MARCH,
      usage_statement_schedule: { frequency: 'MONTHLY', day: 'FIRST_OF_MONTH' },
    });
    await client.v1.usage.ingest({ usage: [completion('late-1', 'late', now, 'small', '4')] });
    const total = async () => {
      const drafts = await collect(
        client.v1.customers.invoices.list({ customer_id: customer.data.id, status: 'DRAFT' }),
      );
      return drafts.reduce((sum, draft) => sum + draft.total, 0);
    };
    expect(await total()).toBe(0);
    await client.v1.customers.setIngestAliases({ customer_id: customer.data.id, ingest_aliases: ['late'] });
    expect(await total()).toBe(2);
  });
});

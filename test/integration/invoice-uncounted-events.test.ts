/**
 * An invoice is always issued: events that a metric cannot be evaluated with are left out of it, with a warning that
 * names them, and everything else is billed.
 */
import { sql } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { PLAIN_SUM, uncountableUsage } from '../support/uncountable-usage.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
const { api } = service;

const { createCustomer, contractOf, send, invoicesOf, linesOf, warningsOf } = await uncountableUsage(api);

describe.each(['HOUR', 'SERVICE_PERIOD'])('with granularity %s', (granularity) => {
  it('an event whose numbers overflow is left out, named, and stays so on the issued invoice', async () => {
    const customer = await createCustomer(`one-${granularity}`, { granularity });
    await send(
      customer.alias,
      ['a', '02T10', '2', '3'],
      ['b', '03T10', '1e30', '1e30'],
      ['c', '04T10', '5', '7'],
    );
    const warning = {
      code: 'uncounted_events',
      billable_metric_id: customer.metricId,
      billable_metric_name: `Work ${customer.alias}`,
      event_count: 1,
      transaction_ids: [`${customer.alias}-b`],
      starting_at: '2026-11-01T00:00:00.000Z',
      ending_before: '2026-12-01T00:00:00.000Z',
    };
    expect(await linesOf(customer)).toEqual(['Work 41', 'Calls 3']);
    expect(await warningsOf(customer)).toEqual([expect.objectContaining(warning)]);
    const drafts = await invoicesOf(customer);
    expect(drafts.text('data[0].warnings[0].message')).toMatch(
      new RegExp(`^event "${customer.alias}-b" is not counted by "Work ${customer.alias}", because`),
    );
    const one = await api.get(`/v1/customers/${customer.customerId}/invoices/${drafts.text('data[0].id')}`);
    expect(one.at('data')).toEqual(drafts.at('data[0]'));
  });
});

it('several such events at different times are all found, and the rest of their hours is counted', async () => {
  const customer = await createCustomer('several');
  await send(
    'several',
    ['x1', '02T10', '1e30', '1e30'],
    ['ok1', '02T10', '10', '2'],
    ['x2', '02T10', '1e30', '1e20'],
    ['ok2', '05T10', '3', '3'],
    ['x3', '09T23', '-1e30', '1e30'],
  );
  expect(await linesOf(customer)).toEqual(['Work 29', 'Calls 5']);
  expect(await warningsOf(customer)).toMatchObject([
    { event_count: 3, transaction_ids: ['several-x1', 'several-x2', 'several-x3'] },
  ]);
});

it('numbers that overflow only together are counted up to the event with which they do', async () => {
  const customer = await createCustomer('together', { query: PLAIN_SUM });
  // 36 digits each: the sum of 10,011 has more than 40.
  const large = `999${'0'.repeat(33)}`;
  await service.clickhouse.command(`
    INSERT INTO usage_events (transaction_id, customer_ref, event_type, timestamp, properties, ingested_at, version)
    SELECT concat('t-', leftPad(toString(number), 5, '0')), 'together', 'use',
      toDateTime64('2026-11-01 00:00:00', 3, 'UTC') + toIntervalSecond(number),
      map('v', '${large}'), toDateTime64('2026-11-05 00:00:00', 6, 'UTC'), 1
    FROM numbers(10100)`);
  const drafts = await invoicesOf(customer);
  expect(drafts.digits('data[0].line_items[0].quantity')).toBe(String(BigInt(large) * 10_010n));
  expect(drafts.at('data[0].warnings[0].event_count')).toBe(90);
});

it('the usage endpoints name the metric and the event', async () => {
  const customer = await createCustomer('usage');
  await send('usage', ['a', '02T10', '2', '3'], ['b', '03T10', '1e30', '1e30']);
  const range = {
    starting_on: '2026-11-01T00:00:00Z',
    ending_before: '2026-12-01T00:00:00Z',
    window_size: 'DAY',
  };
  const groups = await api.send('POST', '/v1/usage/groups', {
    customer_id: customer.customerId,
    billable_metric_id: customer.metricId,
    ...range,
  });
  const batch = await api.send('POST', '/v1/usage', {
    customer_ids: [customer.customerId],
    billable_metrics: [{ id: customer.metricId }],
    ...range,
  });
  for (const answer of [groups, batch]) {
    expect(answer.status).toBe(400);
    expect(answer.text('message')).toBe(
      'metric "Work usage" cannot be computed with event "usage-b": a number has more than 36 digits before the point',
    );
  }
});

it('the figures for operators count each warning once', async () => {
  const customer = await createCustomer('figures');
  const count = async () => {
    const text = await (await fetch(`${service.url}/metrics`)).text();
    return Number(/^tallyhouse_invoice_warnings_total\{code="uncounted_events"\} (\d+)$/m.exec(text)?.[1]);
  };
  const before = await count();
  await send('figures', ['x', '03T10', '1e30', '1e30']);
  await invoicesOf(customer);
  await invoicesOf(customer);
  expect(await count()).toBe(before + 1);
});

it('a draft that cannot be computed withholds no other draft of the page', async () => {
  const broken = await createCustomer('broken');
  await send('broken', ['a', '02T10', '2', '3']);
  const other = await createdId(api, '/v1/contract-pricing/rate-cards/create', { name: 'other' });
  const contractId = await contractOf(broken.customerId, other);
  const unit = await createdId(api, '/v1/credit-types/create', { name: 'Unit of broken' });
  // The state of a bug: a price in a unit that the card does not convert.
  await service.db.execute(
    sql`update rates set credit_type_id = ${unit} where identity in
      (select sequence from rate_identities where rate_card_id = ${broken.rateCardId})`,
  );
  const invoices = await invoicesOf(broken);
  const byContract = new Map(
    invoices.list('data').map((_, index) => [invoices.text(`data[${index}].contract_id`), index]),
  );
  const bad = `data[${byContract.get(broken.contractId)}]`;
  expect(invoices.at(bad)).toMatchObject({
    status: 'DRAFT',
    line_items: [],
    warnings: [{ code: 'not_computed', starting_at: '2026-11-01T00:00:00.000Z' }],
  });
  expect(invoices.at(`data[${byContract.get(contractId)}].warnings`)).toEqual([]);
  const alone = await api.send(
    'GET',
    `/v1/customers/${broken.customerId}/invoices/${invoices.text(`${bad}.id`)}`,
  );
  expect(alone.status).toBe(500);
});

it('an invoice is issued with its warnings', async () => {
  const customer = await createCustomer('issued');
  await send('issued', ['a', '02T10', '2', '3'], ['b', '03T10', '1e30', '1e30']);
  const [draft] = await warningsOf(customer);
  await service.moveClock('2027-01-03T00:00:00Z');
  const query = { status: 'FINALIZED', sort: 'date_asc' };
  expect(await linesOf(customer, query)).toEqual(['Work 6', 'Calls 2']);
  expect(await warningsOf(customer, query)).toEqual([draft]);
  const issued = await invoicesOf(customer, query);
  // Both periods are issued: the next one is not held up.
  expect(issued.list('data')).toHaveLength(2);
  const path = `/v1/customers/${customer.customerId}/invoices/${issued.text('data[0].id')}`;
  expect((await api.get(path)).at('data.unbilled_late_usage')).toEqual([]);
});

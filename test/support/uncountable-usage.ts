/** Customers whose SQL metric cannot be evaluated with some of their events. */
import type { ApiClient } from './api-client.ts';
import { createdId } from './catalogue-api.ts';

const PRODUCT_OF_TWO = 'SELECT SUM(properties.v * properties.w) AS value FROM events';
export const PLAIN_SUM = 'SELECT SUM(properties.v) AS value FROM events';

interface Customer {
  readonly alias: string;
  readonly customerId: string;
  readonly contractId: string;
  readonly rateCardId: string;
  readonly metricId: string;
}

export async function uncountableUsage(api: ApiClient) {
  const callsMetricId = await createdId(api, '/v1/billable-metrics/create', {
    name: 'Calls',
    aggregation_type: 'COUNT',
  });

  /** A customer who pays 1 for each unit of a SQL metric, and 1 for each event. */
  async function createCustomer(
    alias: string,
    { query = PRODUCT_OF_TWO, granularity = 'HOUR' } = {},
  ): Promise<Customer> {
    const customerId = await createdId(api, '/v1/customers', { name: alias, ingest_aliases: [alias] });
    const metricId = await createdId(api, '/v1/billable-metrics/create', {
      name: `Work ${alias}`,
      sql: query,
    });
    const product = async (name: string, billable_metric_id: string) =>
      createdId(api, '/v1/contract-pricing/products/create', {
        name,
        type: 'USAGE',
        billable_metric_id,
        ...(billable_metric_id === metricId ? { sql_breakdown_granularity: granularity } : {}),
      });
    const products = [await product('Work', metricId), await product('Calls', callsMetricId)];
    const rateCardId = await createdId(api, '/v1/contract-pricing/rate-cards/create', { name: alias });
    await api.post('/v1/contract-pricing/rate-cards/addRates', {
      rate_card_id: rateCardId,
      rates: products.map((product_id) => ({
        product_id,
        starting_at: '2026-01-01T00:00:00Z',
        entitled: true,
        rate_type: 'FLAT',
        price: 1,
      })),
    });
    const contractId = await contractOf(customerId, rateCardId);
    return { alias, customerId, contractId, rateCardId, metricId };
  }

  async function contractOf(customerId: string, rateCardId: string): Promise<string> {
    return createdId(api, '/v1/contracts/create', {
      customer_id: customerId,
      rate_card_id: rateCardId,
      starting_at: '2026-11-01T00:00:00Z',
    });
  }

  async function send(
    alias: string,
    ...events: (readonly [id: string, at: string, v: string, w?: string])[]
  ) {
    await api.post(
      '/v1/ingest',
      events.map(([id, at, v, w = '1']) => ({
        transaction_id: `${alias}-${id}`,
        customer_id: alias,
        event_type: 'use',
        timestamp: `2026-11-${at}:00:00Z`,
        properties: { v, w },
      })),
    );
  }

  async function invoicesOf({ customerId }: Customer, query: Record<string, string> = {}) {
    return api.get(`/v1/customers/${customerId}/invoices`, { query });
  }

  /** Name and total of each line of the first invoice. */
  async function linesOf(customer: Customer, query: Record<string, string> = {}): Promise<string[]> {
    const invoices = await invoicesOf(customer, query);
    return invoices.list('data[0].line_items').map((_, index) => {
      const line = `data[0].line_items[${index}]`;
      return `${invoices.text(`${line}.name`)} ${invoices.digits(`${line}.total`)}`;
    });
  }

  async function warningsOf(customer: Customer, query: Record<string, string> = {}): Promise<unknown[]> {
    return [...(await invoicesOf(customer, query)).list('data[0].warnings')];
  }

  return { createCustomer, contractOf, send, invoicesOf, linesOf, warningsOf };
}

/**
 * An AI gateway: it counts the tokens of each call, priced by model and kind, and shows a customer what this month costs
 * so far. With the official client.
 *
 *   TALLYHOUSE_URL=http://127.0.0.1:3000 TALLYHOUSE_TOKEN=… npx tsx examples/typescript/ai-gateway.ts
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import Metronome from '@metronome/sdk';

const { TALLYHOUSE_URL, TALLYHOUSE_TOKEN } = process.env;
assert(TALLYHOUSE_URL && TALLYHOUSE_TOKEN, 'TALLYHOUSE_URL and TALLYHOUSE_TOKEN must be set');
const client = new Metronome({ baseURL: TALLYHOUSE_URL, bearerToken: TALLYHOUSE_TOKEN });

const run = randomUUID();
const now = new Date();
const monthStart = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth())).toISOString();

/** Prices in US cents for a thousand tokens. */
const PRICES = [
  { model: 'large', kind: 'input', cents: 0.3 },
  { model: 'large', kind: 'output', cents: 1.5 },
  { model: 'small', kind: 'input', cents: 0.02 },
  { model: 'small', kind: 'output', cents: 0.08 },
];

async function createPriceList(): Promise<string> {
  const metric = await client.v1.billableMetrics.create({
    name: 'Tokens',
    event_type_filter: { in_values: ['llm_call'] },
    property_filters: ['tokens', 'model', 'kind'].map((name) => ({ name, exists: true })),
    aggregation_type: 'SUM',
    aggregation_key: 'tokens',
    group_keys: [['model', 'kind']],
  });
  const product = await client.v1.contracts.products.create({
    name: 'Tokens',
    type: 'USAGE',
    billable_metric_id: metric.data.id,
    pricing_group_key: ['model', 'kind'],
    quantity_conversion: { conversion_factor: 1000, operation: 'DIVIDE', name: 'thousand tokens' },
  });
  const card = await client.v1.contracts.rateCards.create({ name: 'Gateway' });
  await client.v1.contracts.rateCards.rates.addMany({
    rate_card_id: card.data.id,
    rates: PRICES.map(({ model, kind, cents }) => ({
      product_id: product.data.id,
      pricing_group_values: { model, kind },
      starting_at: '2026-01-01T00:00:00Z',
      entitled: true,
      rate_type: 'FLAT' as const,
      price: cents,
    })),
  });
  return card.data.id;
}

/** The events that the gateway sends after each call. The id of the answer is the identity, so a retry counts once. */
function eventsOf(
  answerId: string,
  customer: string,
  model: string,
  tokens: { input: number; output: number },
) {
  return Object.entries(tokens).map(([kind, count]) => ({
    transaction_id: `${answerId}:${kind}`,
    customer_id: customer,
    event_type: 'llm_call',
    timestamp: now.toISOString(),
    properties: { model, kind, tokens: String(count) },
  }));
}

const cardId = await createPriceList();
const alias = `acme-${run}`;
const customer = await client.v1.customers.create({ name: 'Acme', ingest_aliases: [alias] });
await client.v1.contracts.create({
  customer_id: customer.data.id,
  rate_card_id: cardId,
  starting_at: monthStart,
});

const usage = [
  ...eventsOf(`${run}-1`, alias, 'large', { input: 12_000, output: 3_000 }),
  ...eventsOf(`${run}-2`, alias, 'small', { input: 50_000, output: 20_000 }),
];
await client.v1.usage.ingest({ usage });
// The answer was lost, so the gateway sends the same again.
await client.v1.usage.ingest({ usage });

for await (const invoice of client.v1.customers.invoices.list({
  customer_id: customer.data.id,
  status: 'DRAFT',
})) {
  for (const { pricing_group_values: group, quantity, total } of invoice.line_items) {
    console.log(`${group?.model} ${group?.kind}: ${quantity} thousand tokens, ${total} cents`);
  }
  console.log(`so far this month: ${invoice.total} cents`);
  // 12 × 0.3 + 3 × 1.5 + 50 × 0.02 + 20 × 0.08
  assert.equal(invoice.total, 10.7);
}

/**
 * Events that arrive while drafts are computed. Several metrics count every event, each by a separate query. They agree
 * in every answer, and no answer misses an event that was acknowledged before the request.
 */
import { expect, test } from 'vitest';
import { ADD_RATES, CONTRACTS, createdId, METRICS, PRODUCTS, RATE_CARDS } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

const { api } = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
const RANGE = { starting_on: '2026-11-01T00:00:00Z', ending_before: '2026-12-01T00:00:00Z' };
const REQUESTS = 80;

interface Line {
  readonly name: string;
  readonly quantity: number;
}

interface Window {
  readonly line_items: readonly Line[];
}

const METERED = [
  { aggregation_type: 'COUNT', event_type_filter: { in_values: ['job'] } },
  {
    aggregation_type: 'SUM',
    aggregation_key: 'one',
    event_type_filter: { in_values: ['job'] },
    property_filters: [{ name: 'one', exists: true }],
  },
  { aggregation_type: 'UNIQUE', aggregation_key: 'id', property_filters: [{ name: 'id', exists: true }] },
  { sql: "SELECT count(*) AS value FROM events WHERE event_type = 'job'" },
];

/** A customer with a product for each metric, at 1 cent. */
async function createCustomer(alias: string): Promise<string> {
  const rate_card_id = await createdId(api, RATE_CARDS, { name: 'moments' });
  for (const [index, metric] of METERED.entries()) {
    const name = `Product ${index}`;
    const billable_metric_id = await createdId(api, METRICS, { name, ...metric });
    const product_id = await createdId(api, PRODUCTS, { name, type: 'USAGE', billable_metric_id });
    const rate = { starting_at: '2026-01-01T00:00:00Z', entitled: true, rate_type: 'FLAT', price: 1 };
    await api.post(ADD_RATES, { rate_card_id, rates: [{ ...rate, product_id }] });
  }
  const customer_id = await createdId(api, '/v1/customers', { name: alias, ingest_aliases: [alias] });
  const starting_at = '2026-11-01T00:00:00Z';
  await createdId(api, CONTRACTS, { customer_id, rate_card_id, starting_at });
  return customer_id;
}

/** The count of each product, over all windows. */
function countsOf(windows: readonly Window[]): number[] {
  const counts = new Map<string, number>();
  for (const { name, quantity } of windows.flatMap((window) => window.line_items)) {
    counts.set(name, (counts.get(name) ?? 0) + quantity);
  }
  return METERED.map((_, index) => counts.get(`Product ${index}`) ?? 0);
}

test('an event that arrives while an answer is computed is on all its lines or on none', async () => {
  const alias = 'moments';
  const customerId = await createCustomer(alias);
  const invoices = `/v1/customers/${customerId}/invoices`;
  const [draft] = ((await api.get(invoices)).body as { data: { id: string }[] }).data;
  const pageOf = async (path: string, query?: Record<string, string>) =>
    ((await api.get(path, query === undefined ? {} : { query })).body as { data: Window[] }).data;
  const reads = [
    () => pageOf(invoices),
    async () => [((await api.get(`${invoices}/${draft?.id}`)).body as { data: Window }).data],
    () => pageOf(`${invoices}/breakdowns`, { ...RANGE, window_size: 'DAY' }),
  ];

  let sent = 0;
  let acknowledged = 0;
  let isSending = true;
  const send = async () => {
    for (let request = 0; request < REQUESTS; request += 1) {
      const events = Array.from({ length: 1 + (request % 7) }, () => {
        sent += 1;
        return {
          ...{ transaction_id: `moment-${sent}`, customer_id: alias, event_type: 'job' },
          timestamp: `2026-11-0${1 + (sent % 9)}T10:00:00Z`,
          properties: { one: 1, id: `id-${sent}` },
        };
      });
      await api.post('/v1/ingest', events);
      acknowledged = sent;
    }
    isSending = false;
  };
  const answers: { readonly counts: number[]; readonly before: number; readonly after: number }[] = [];
  const read = async (one: () => Promise<readonly Window[]>) => {
    do {
      const before = acknowledged;
      const counts = countsOf(await one());
      answers.push({ counts, before, after: sent });
    } while (isSending);
  };
  await Promise.all([send(), ...reads.map(read)]);

  for (const { counts, before, after } of answers) {
    expect(new Set(counts).size, String(counts)).toBe(1);
    expect(counts[0]).toBeGreaterThanOrEqual(before);
    expect(counts[0]).toBeLessThanOrEqual(after);
  }
  for (const one of reads) expect(countsOf(await one())).toEqual(METERED.map(() => sent));
});

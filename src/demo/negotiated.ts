/**
 * One customer with negotiated terms, separate from the customers whose totals are proved: an override, a composite
 * product, a subscription, a scheduled charge, two commits and a credit. Shows its invoice, explains one of its lines,
 * and writes the files for finance.
 */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import type { Terminal } from '../app/commands/terminal/terminal.ts';
import { tableLines } from '../app/commands/terminal/text-table.ts';
import { DAY_MS, formatInstant, type Instant, type Interval } from '../core/time.ts';
import * as billing from './billing-api.ts';
import { DemoFailure } from './failure.ts';
import { exactNumber, type HttpApi } from './http-api.ts';
import { formatDollarsExact } from './money-format.ts';
import { at, listPrices, type Provisioned } from './provisioning.ts';
import { invoiceLines } from './report.ts';
import type { Scenario } from './scenario.ts';

const NAME = 'Vantage Robotics';
const EVENTS = 60;

export interface NegotiatedStory {
  readonly scenario: Scenario;
  readonly provisioned: Provisioned;
  readonly period: Interval;
  readonly runId: string;
  readonly now: Instant;
}

const created = z.object({ data: z.object({ id: z.string() }) });
const explained = z.object({
  data: z.array(
    z.object({
      line_item: z.object({ name: z.string(), total: exactNumber }),
      formula: z.array(z.string()),
      share: z.object({}).optional(),
    }),
  ),
});
const ledgers = z.object({
  data: z.array(
    z.object({
      name: z.string().optional(),
      ledger: z.array(z.object({ type: z.string(), timestamp: z.string(), amount: exactNumber })),
    }),
  ),
});

export async function showNegotiated(
  api: HttpApi,
  terminal: Terminal,
  story: NegotiatedStory,
): Promise<void> {
  const { customerId, contractId } = await createNegotiated(api, story);
  const invoice = await billing.invoiceOfPeriod(api, customerId, contractId, story.period.start);
  terminal.heading(`Negotiated terms: ${NAME}, ${invoice.status}`);
  terminal.line('  an override, a composite, a subscription, a scheduled charge, two commits and a credit');
  for (const line of invoiceLines(invoice, story.scenario.products)) terminal.line(line);

  const path = `/v1/customers/${customerId}/invoices/${invoice.id}`;
  const { data } = await api.call('GET', `${path}/explain?limit=100`, explained);
  const chosen = data.find(({ share }) => share !== undefined) ?? data[0];
  if (chosen === undefined) throw new DemoFailure('the invoice has no lines');
  terminal.heading(`How one line is computed: ${chosen.line_item.name}`);
  for (const step of chosen.formula) terminal.line(`  ${step}`);

  const body = { customer_id: customerId, include_contract_balances: true, include_ledgers: true };
  const list = '/v1/contracts/customerBalances/list';
  const { data: balances } = await api.call('POST', list, ledgers, body);
  terminal.heading('Ledgers');
  for (const line of ledgerLines(balances)) terminal.line(line);

  const directory = await mkdtemp(join(tmpdir(), 'tallyhouse-documents-'));
  const files = [
    ['invoice.pdf', await api.read('GET', `${path}/pdf`, 'application/pdf')],
    ['invoice.csv', await api.read('GET', path, 'text/csv')],
    ['ledgers.csv', await api.read('POST', list, 'text/csv', body)],
  ] as const;
  terminal.heading('Documents');
  for (const [name, bytes] of files) {
    const file = join(directory, name);
    await writeFile(file, bytes);
    terminal.line(`  ${file}  ${bytes.length.toLocaleString('en-US')} bytes`);
  }
  terminal.line();
  terminal.line('The CSV of the ledgers:');
  const csv = at(files, 2)[1].toString('utf8').trimEnd();
  for (const line of csv.split(/\r?\n/)) terminal.line(`  ${line}`);
}

function ledgerLines(balances: z.output<typeof ledgers>['data']): string[] {
  return tableLines(
    [
      { title: 'Balance', align: 'left' },
      { title: 'Day', align: 'left' },
      { title: 'Entry', align: 'left' },
      { title: 'Amount', align: 'right' },
    ],
    balances.flatMap(({ name = '', ledger }) =>
      ledger.map(({ type, timestamp, amount }) => [
        name,
        timestamp.slice(0, 10),
        type
          .replace(/^(PREPAID_COMMIT|POSTPAID_COMMIT|CREDIT)_/, '')
          .toLowerCase()
          .replaceAll('_', ' '),
        formatDollarsExact(amount),
      ]),
    ),
    [],
  );
}

/** Creates the customer, sends its usage, and returns its ids. */
async function createNegotiated(api: HttpApi, story: NegotiatedStory) {
  const { runId } = story;
  const alias = `vantage-robotics-${runId}`;
  const customerId = await billing.createCustomer(api, `${NAME} (${runId})`, [alias]);
  await sendUsage(api, story, alias);
  const create = async (path: string, body: object) => (await api.call('POST', path, created, body)).data.id;
  const product = (name: string, type: string, terms: object = {}) =>
    create('/v1/contract-pricing/products/create', { name, type, ...terms });
  const tokens = at(story.provisioned.productIds, 0);
  const support = await product('Priority support', 'COMPOSITE', { composite_product_ids: [tokens] });
  const seats = await product('Seats', 'SUBSCRIPTION');
  const setUp = await product('Set-up', 'FIXED');
  const prepaid = await product('Prepaid usage', 'FIXED');
  const starting_at = formatInstant(story.period.start);
  const common = { starting_at, entitled: true };
  // It has its own card: prices added to the card of the other customers would be on their invoices too.
  const { rateCardName } = story.scenario;
  const cardAlias = `demo-negotiated-${runId}`;
  const rateCardId = await billing.createRateCard(api, `${rateCardName}, negotiated (${runId})`, cardAlias);
  const prices = listPrices(story.scenario, story.provisioned.productIds);
  await billing.addRates(api, rateCardId, story.period.start, prices);
  await create('/v1/contract-pricing/rate-cards/addRates', {
    rate_card_id: rateCardId,
    rates: [
      { ...common, product_id: support, rate_type: 'PERCENTAGE', price: 0.1 },
      { ...common, product_id: seats, rate_type: 'FLAT', price: 2_500, billing_frequency: 'MONTHLY' },
    ],
  });
  const contractId = await create('/v1/contracts/create', {
    ...{ customer_id: customerId, rate_card_id: rateCardId, starting_at },
    ...negotiatedTerms(story.period, { tokens, seats, setUp, prepaid }),
  });
  return { customerId, contractId };
}

type NegotiatedProducts = Readonly<Record<'tokens' | 'seats' | 'setUp' | 'prepaid', string>>;

function negotiatedTerms(period: NegotiatedStory['period'], products: NegotiatedProducts) {
  const { tokens, seats, setUp, prepaid } = products;
  const starting_at = formatInstant(period.start);
  const later = formatInstant(period.end + 365 * DAY_MS);
  const access = (amount: number) => ({
    schedule_items: [{ amount, starting_at, ending_before: later }],
  });
  return {
    usage_statement_schedule: { frequency: 'MONTHLY', day: 'CONTRACT_START' },
    scheduled_charges_on_usage_invoices: 'ALL',
    overrides: [{ starting_at, type: 'MULTIPLIER', multiplier: 0.9, product_id: tokens }],
    subscriptions: [
      {
        ...{ subscription_rate: { billing_frequency: 'MONTHLY', product_id: seats }, initial_quantity: 12 },
        ...{ collection_schedule: 'ARREARS', proration: { is_prorated: true } },
      },
    ],
    scheduled_charges: [
      {
        product_id: setUp,
        schedule: {
          schedule_items: [{ timestamp: formatInstant(period.end), unit_price: 50_000, quantity: 1 }],
        },
      },
    ],
    commits: [
      {
        ...{ type: 'PREPAID', product_id: prepaid, name: 'Prepaid tokens', priority: 2 },
        access_schedule: access(2_000),
        applicable_product_ids: [tokens],
        invoice_schedule: { schedule_items: [{ amount: 1_800, timestamp: starting_at }] },
      },
      {
        ...{ type: 'POSTPAID', product_id: prepaid, name: 'Yearly minimum', priority: 3 },
        access_schedule: access(1_000_000),
        invoice_schedule: { schedule_items: [{ amount: 1_000_000, timestamp: later }] },
      },
    ],
    credits: [{ product_id: prepaid, name: 'Launch credit', priority: 1, access_schedule: access(500) }],
  };
}

/** The same usage in every run: one model in one region, evenly over the period until now. */
async function sendUsage(
  api: HttpApi,
  { scenario, period, now, runId }: NegotiatedStory,
  alias: string,
): Promise<void> {
  const [first] = at(scenario.products, 0).prices;
  const step = Math.floor((now - period.start) / (EVENTS + 1));
  const events = Array.from({ length: EVENTS }, (_, index) => ({
    transaction_id: `${runId}-negotiated-${index}`,
    customer_id: alias,
    event_type: scenario.eventType,
    timestamp: formatInstant(period.start + (index + 1) * step),
    properties: { ...first?.groupValues, tokens: '1500000', user_id: `user-${index % 7}` },
  }));
  await api.call('POST', '/v1/ingest', z.unknown(), events);
}

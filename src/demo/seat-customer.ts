/** One customer whose seats have separate credits: the amount that each seat was granted, has drawn, and has left. */
import { z } from 'zod';
import type { Terminal } from '../app/commands/terminal/terminal.ts';
import { tableLines } from '../app/commands/terminal/text-table.ts';
import { USD_CENTS } from '../core/credit-types.ts';
import { type Decimal, decimal, sum } from '../core/decimal.ts';
import { floorToHour, formatInstant, HOUR_MS, type Instant, type Interval } from '../core/time.ts';
import * as billing from './billing-api.ts';
import { exactNumber, type HttpApi } from './http-api.ts';
import { formatDollarsExact, formatDollarsRounded } from './money-format.ts';

const NAME = 'Fjord Legal';
const EVENT_TYPE = 'assistant_request';
/** In cents: the price of a request, of a seat per month, and the included allowance of a seat. */
const PRICES = { request: 10, seat: 3_000, allowance: 500 };
/** Requests of each seat. The allowance pays for 50 of them. */
const REQUESTS = { ada: 64, bob: 21, cleo: 12 };

export interface SeatStory {
  readonly period: Interval;
  readonly runId: string;
  readonly now: Instant;
}

const created = z.object({ data: z.object({ id: z.string() }) });
const contractState = z.object({
  data: z.object({ subscriptions: z.array(z.object({ id: z.string() })) }),
});
const seatBalances = z.object({
  data: z.array(
    z.object({
      seat_id: z.string(),
      balances: z.array(z.object({ balance: exactNumber, starting_balance: exactNumber })),
    }),
  ),
});

export async function showSeats(api: HttpApi, terminal: Terminal, story: SeatStory): Promise<void> {
  const { customerId, contractId } = await createSeatCustomer(api, story);
  const reference = { customer_id: customerId, contract_id: contractId };
  const { data } = await api.call('POST', '/v1/contracts/seatBalances/list', seatBalances, {
    ...{ ...reference, covering_date: formatInstant(story.now) },
  });
  const invoice = await billing.invoiceOfPeriod(api, customerId, contractId, story.period.start);
  terminal.heading(`Seats: ${NAME}, ${invoice.status}`);
  terminal.line(
    `  each seat costs ${formatDollarsExact(exactCents(PRICES.seat))} a month and has ` +
      `${formatDollarsExact(exactCents(PRICES.allowance))} of requests; the invoice is ` +
      `${formatDollarsRounded(invoice.total)} so far`,
  );
  for (const line of seatLines(data)) terminal.line(line);
}

function exactCents(cents: number): Decimal {
  return decimal(String(cents));
}

function seatLines(seats: z.output<typeof seatBalances>['data']): string[] {
  return tableLines(
    [
      { title: 'Seat', align: 'left' },
      { title: 'Granted', align: 'right' },
      { title: 'Drawn', align: 'right' },
      { title: 'Left', align: 'right' },
    ],
    seats.map(({ seat_id, balances }) => {
      const granted = sum(balances.map((one) => one.starting_balance));
      const left = sum(balances.map((one) => one.balance));
      return [seat_id, ...[granted, granted.minus(left), left].map(formatDollarsExact)];
    }),
  );
}

/** Ada and bob are assigned from the start, cleo from the middle of the time until now. Returns the ids. */
async function createSeatCustomer(api: HttpApi, story: SeatStory) {
  const { period, runId, now } = story;
  const alias = `fjord-legal-${runId}`;
  const customerId = await billing.createCustomer(api, `${NAME} (${runId})`, [alias]);
  const contractId = await createContract(api, story, customerId);
  const reference = { customer_id: customerId, contract_id: contractId };
  const { data } = await api.call('POST', '/v2/contracts/get', contractState, reference);
  const joinedAt = floorToHour(period.start + (now - period.start) / 2);
  const added = { seat_ids: ['cleo'], starting_at: formatInstant(joinedAt) };
  await api.call('POST', '/v2/contracts/edit', created, {
    ...reference,
    update_subscriptions: data.subscriptions.map(({ id }) => ({
      ...{ subscription_id: id, seat_updates: { add_seat_ids: [added] } },
    })),
  });
  const events = Object.entries(REQUESTS).flatMap(([user, requests]) => {
    const from = user === 'cleo' ? joinedAt : period.start;
    const step = (now - from - HOUR_MS) / requests;
    return Array.from({ length: requests }, (_, index) => ({
      ...{ transaction_id: `${runId}-${user}-${index}`, customer_id: alias, event_type: EVENT_TYPE },
      ...{ timestamp: formatInstant(Math.floor(from + index * step)), properties: { user } },
    }));
  });
  await api.call('POST', '/v1/ingest', z.unknown(), events);
  return { customerId, contractId };
}

/** With a separate rate card. */
async function createContract(api: HttpApi, { period, runId }: SeatStory, customerId: string) {
  const create = async (path: string, body: object) => (await api.call('POST', path, created, body)).data.id;
  const product = (name: string, type: string, terms: object = {}) =>
    create('/v1/contract-pricing/products/create', { name, type, ...terms });
  const billable_metric_id = await billing.createMetric(api, {
    ...{ name: `Requests (${runId})`, eventType: EVENT_TYPE, aggregation: 'COUNT' },
    ...{ property: null, groupKey: ['user'] },
  });
  const requests = await product('Requests', 'USAGE', {
    ...{ billable_metric_id, presentation_group_key: ['user'] },
  });
  const seats = await product('Assistant seats', 'SUBSCRIPTION');
  const allowance = await product('Allowance of a seat', 'FIXED');
  const alias = `seat-prices-${runId}`;
  const rate_card_id = await billing.createRateCard(api, `Seat price list (${runId})`, alias);
  const starting_at = formatInstant(period.start);
  const rate = { starting_at, entitled: true, rate_type: 'FLAT' };
  await create('/v1/contract-pricing/rate-cards/addRates', {
    rate_card_id,
    rates: [
      { ...rate, product_id: requests, price: PRICES.request },
      { ...rate, product_id: seats, price: PRICES.seat, billing_frequency: 'MONTHLY' },
    ],
  });
  return create('/v1/contracts/create', {
    ...{ customer_id: customerId, rate_card_id, starting_at },
    usage_statement_schedule: { frequency: 'MONTHLY', day: 'CONTRACT_START' },
    subscriptions: [
      {
        subscription_rate: { billing_frequency: 'MONTHLY', product_id: seats },
        ...{ collection_schedule: 'ARREARS', quantity_management_mode: 'SEAT_BASED' },
        ...{ proration: { is_prorated: true }, temporary_id: 'seats' },
        seat_config: { seat_group_key: 'user', initial_seat_ids: ['ada', 'bob'] },
      },
    ],
    recurring_credits: [
      {
        ...{ product_id: allowance, name: 'Allowance', priority: 1, starting_at },
        access_amount: { unit_price: PRICES.allowance, credit_type_id: USD_CENTS.id },
        subscription_config: {
          ...{ subscription_id: 'seats', allocation: 'INDIVIDUAL' },
          apply_seat_increase_config: { is_prorated: false },
        },
        commit_duration: { value: 1 },
      },
    ],
  });
}

/**
 * Subscriptions with many seats: a page of the history of one with many changes, and the cost of a contract whose seats
 * hold separate credits. Prints a Markdown table.
 */
import { type InProcessService, startInProcessService } from './in-process-service.ts';
import { machine, quantile, table } from './report.ts';

const CHANGES = 10_000;
const CHANGES_PER_REQUEST = 1_000;
const SEATS = 10_000;
const EVENTS_PER_REQUEST = 100;
const RUNS = 15;
const PAGES = 100;
const NOW = Date.UTC(2026, 10, 20);
const HOUR_MS = 3_600_000;

const at = (instant: number) => new Date(instant).toISOString();

/** Runs against a new service and returns the report. */
export async function benchSeats(): Promise<string> {
  const service = await startInProcessService({
    SANDBOX_NOW: at(NOW),
    SUBSCRIPTION_SEATS_MAX: String(SEATS),
  });
  try {
    const catalogue = await createCatalogue(service);
    const history = await historyTimes(service, await createChanged(service, catalogue));
    const company = await createCompany(service, catalogue);
    const draft = `/v1/customers/${company.customer_id}/invoices?status=DRAFT&type=USAGE&limit=1`;
    const change = () => service.newEvent('large');
    const drafts = await measured(RUNS, () => service.call('GET', draft), change);
    const balances = await measured(RUNS, () =>
      service.call('POST', '/v1/contracts/seatBalances/list', { ...company, covering_date: at(NOW) }),
    );
    return report([
      [`page of 10 of the seats history, ${count(CHANGES)} changes`, '50 ms', ...figures(history)],
      [`draft invoice, ${count(SEATS)} seats with separate credits`, '1,000 ms', ...figures(drafts)],
      [`page of 25 of the balances of these seats`, '–', ...figures(balances)],
    ]);
  } finally {
    await service.close();
  }
}

const count = (value: number) => value.toLocaleString('en');

/** Milliseconds of one read; of CPU time those of all threads of the process, the embedded stores included. */
interface Measured {
  readonly passed: number;
  readonly cpu: number;
}

/** The first read of the process is not counted. */
async function measured(
  runs: number,
  read: () => Promise<unknown>,
  before: () => Promise<unknown> = async () => {},
): Promise<Measured[]> {
  await read();
  const found: Measured[] = [];
  for (let run = 0; run < runs; run += 1) {
    await before();
    const [start, cpu] = [performance.now(), process.cpuUsage()];
    await read();
    const passed = performance.now() - start;
    const { user, system } = process.cpuUsage(cpu);
    found.push({ passed, cpu: (user + system) / 1_000 });
  }
  return found;
}

function figures(runs: readonly Measured[]): string[] {
  const of = (name: keyof Measured, share: number) =>
    `${quantile(
      runs.map((one) => one[name]),
      share,
    ).toFixed(0)} ms`;
  return [of('passed', 0.5), of('passed', 1), of('cpu', 0.5)];
}

function report(rows: readonly string[][]): string {
  return `${machine()}; one read at a time, in the process of the service\n\n${table(['read', 'target', 'p50', 'max', 'CPU p50'], rows)}`;
}

interface Catalogue {
  readonly rate_card_id: string;
  readonly seats: string;
  readonly allowance: string;
}

interface Reference {
  readonly customer_id: string;
  readonly contract_id: string;
}

async function createCatalogue(service: InProcessService): Promise<Catalogue> {
  const products = '/v1/contract-pricing/products/create';
  const billable_metric_id = await service.create('/v1/billable-metrics/create', {
    ...{ name: 'Calls', aggregation_type: 'COUNT', event_type_filter: { in_values: ['call'] } },
    ...{ property_filters: [{ name: 'user', exists: true }], group_keys: [['user']] },
  });
  const calls = await service.create(products, {
    ...{ name: 'Calls', type: 'USAGE', billable_metric_id, presentation_group_key: ['user'] },
  });
  const seats = await service.create(products, { name: 'Seats', type: 'SUBSCRIPTION' });
  const allowance = await service.create(products, { name: 'Allowance', type: 'FIXED' });
  const rate_card_id = await service.create('/v1/contract-pricing/rate-cards/create', { name: 'Card' });
  const rate = { starting_at: '2020-01-01T00:00:00Z', entitled: true, rate_type: 'FLAT' };
  await service.call('POST', '/v1/contract-pricing/rate-cards/addRates', {
    rate_card_id,
    rates: [
      { ...rate, product_id: calls, price: 10 },
      { ...rate, product_id: seats, price: 1_000, billing_frequency: 'MONTHLY' },
    ],
  });
  return { rate_card_id, seats, allowance };
}

function seatBased({ seats }: Catalogue, initial_seat_ids: readonly string[]) {
  return {
    subscription_rate: { billing_frequency: 'MONTHLY', product_id: seats },
    collection_schedule: 'ARREARS',
    quantity_management_mode: 'SEAT_BASED',
    seat_config: { seat_group_key: 'user', initial_seat_ids },
    proration: { is_prorated: false, invoice_behavior: 'BILL_ON_NEXT_COLLECTION_DATE' },
    temporary_id: 'seats',
  };
}

/** One change an hour up to now: somebody joins, and goes again an hour later. */
async function createChanged(service: InProcessService, catalogue: Catalogue) {
  const start = NOW - (CHANGES + 1) * HOUR_MS;
  const customer_id = await service.create('/v1/customers', { name: 'Changing' });
  const contract_id = await service.create('/v1/contracts/create', {
    ...{ customer_id, rate_card_id: catalogue.rate_card_id, starting_at: at(start) },
    usage_statement_schedule: { frequency: 'ANNUAL' },
    subscriptions: [seatBased(catalogue, idsOf(100))],
  });
  const contract = (await service.call('POST', '/v2/contracts/get', { customer_id, contract_id })) as {
    data: { subscriptions: { id: string }[] };
  };
  const subscription_id = contract.data.subscriptions[0]?.id ?? '';
  for (let first = 0; first < CHANGES; first += CHANGES_PER_REQUEST) {
    const entry = (index: number) => ({
      ...{ seat_ids: [`guest-${index % 50}`], starting_at: at(start + (first + index + 1) * HOUR_MS) },
    });
    const indexes = Array.from({ length: CHANGES_PER_REQUEST }, (_, index) => index);
    const seat_updates = {
      add_seat_ids: indexes.filter((index) => index % 2 === 0).map(entry),
      remove_seat_ids: indexes
        .filter((index) => index % 2 === 1)
        .map((index) => ({ ...entry(index), seat_ids: [`guest-${(index - 1) % 50}`] })),
    };
    await service.call('POST', '/v2/contracts/edit', {
      ...{ customer_id, contract_id },
      update_subscriptions: [{ subscription_id, seat_updates }],
    });
  }
  return { customer_id, contract_id, subscription_id };
}

function idsOf(seats: number): string[] {
  return Array.from({ length: seats }, (_, index) => `user-${index}@example.com`);
}

/** One page after the other, from the first on. */
function historyTimes(service: InProcessService, reference: Reference): Promise<Measured[]> {
  let cursor: string | null = null;
  return measured(PAGES, async () => {
    const body = { ...reference, cursor };
    const answer: unknown = await service.call('POST', '/v1/contracts/getSubscriptionSeatsHistory', body);
    const { data, next_page } = answer as { data: unknown[]; next_page: string | null };
    if (data.length !== 10 || next_page === null) throw new Error('the history has fewer pages than changes');
    cursor = next_page;
  });
}

/** Each seat has a separate credit, and usage. */
async function createCompany(service: InProcessService, catalogue: Catalogue): Promise<Reference> {
  const starting_at = '2026-11-01T00:00:00Z';
  const customer_id = await service.create('/v1/customers', { name: 'Large', ingest_aliases: ['large'] });
  const seats = idsOf(SEATS);
  const contract_id = await service.create('/v1/contracts/create', {
    ...{ customer_id, rate_card_id: catalogue.rate_card_id, starting_at },
    subscriptions: [seatBased(catalogue, seats)],
    recurring_credits: [
      {
        product_id: catalogue.allowance,
        access_amount: { unit_price: 15, credit_type_id: '2714e483-4ff1-48e4-9e25-ac732e8f24f2' },
        subscription_config: {
          ...{ subscription_id: 'seats', allocation: 'INDIVIDUAL' },
          apply_seat_increase_config: { is_prorated: false },
        },
        ...{ commit_duration: { value: 1 }, priority: 1, starting_at },
      },
    ],
  });
  for (let first = 0; first < SEATS; first += EVENTS_PER_REQUEST / 2) {
    const users = seats.slice(first, first + EVENTS_PER_REQUEST / 2);
    const events = users.flatMap((user, index) =>
      [0, 1].map((call) => ({
        ...{ customer_id: 'large', event_type: 'call', transaction_id: `${first + index} ${call}` },
        ...{ timestamp: at(NOW - (index + 1) * HOUR_MS), properties: { user } },
      })),
    );
    await service.call('POST', '/v1/ingest', events);
  }
  return { customer_id, contract_id };
}

/**
 * A contract with as many overrides as it can have: how fast it is read and rated, and for how long that holds the event
 * loop. Prints a Markdown table.
 */
import { type MeasuredRequest, timed } from './measured-request.ts';
import { quantile, table } from './report.ts';
import { startTemporaryService, type TemporaryService } from './temporary-service.ts';

const OVERRIDES = 10_000;
/** Added while reads are measured, 16 times for each of two, so that the contract has about as many as it may. */
const ADDED_LATER = 40;
const PER_REQUEST = 5_000;
const PRODUCTS = 100;
const MODELS = 50;
const RUNS = 15;
/** The first day of the last month: invoices of more months would be finalized beside the reads. */
const START = monthsFromNow(-1);
/** After the draft invoice: its lines are not split by ends of overrides. */
const END = monthsFromNow(48);

interface Reference {
  readonly customer_id: string;
  readonly contract_id: string;
}

/** Runs against a new service and returns the report. */
export async function benchOverrides(): Promise<string> {
  const service = await startTemporaryService();
  try {
    const { reference, writes } = await createContract(service);
    const { customer_id, contract_id } = reference;
    const add = () =>
      service.post('/v2/contracts/edit', { ...reference, add_overrides: [overrideOfOneDay()] });
    const schedule = () =>
      service.post('/v1/contracts/getContractRateSchedule?limit=100', { customer_id, contract_id });
    const reads: [string, () => Promise<unknown>, (() => Promise<unknown>)?][] = [
      ['contract (v2)', () => service.post('/v2/contracts/get', reference)],
      ['contract (v2) after an override was added', () => service.post('/v2/contracts/get', reference), add],
      ['contract (v1)', () => service.post('/v1/contracts/get', reference)],
      ['contracts of the customer (v2)', () => service.post('/v2/contracts/list', { customer_id })],
      ['edit history', () => service.post('/v2/contracts/getEditHistory', reference)],
      ['page of 100 of the rate schedule', schedule],
      ['the same after an override was added', schedule, add],
      ['draft invoice', () => service.get(`/v1/customers/${customer_id}/invoices?status=DRAFT&limit=1`)],
    ];
    const requests = writes.map(([name, write]): [string, readonly MeasuredRequest[]] => [name, [write]]);
    for (const [name, read, change] of reads) requests.push([name, await measured(service, read, change)]);
    return report(requests);
  } finally {
    await service.close();
  }
}

/** The first read of the process, which finds nothing kept; then the others. */
async function measured(
  service: TemporaryService,
  read: () => Promise<unknown>,
  change: () => Promise<unknown> = async () => undefined,
): Promise<MeasuredRequest[]> {
  const once = async () => {
    await change();
    return await timed(service, read);
  };
  const first = await once();
  for (let run = 0; run < 2; run += 1) await read();
  const runs = [first];
  for (let run = 0; run < RUNS; run += 1) runs.push(await once());
  return runs;
}

interface Created {
  readonly reference: Reference;
  readonly writes: readonly (readonly [string, MeasuredRequest])[];
}

async function createContract(service: TemporaryService): Promise<Created> {
  const create = async (path: string, body: unknown) =>
    ((await service.post(path, body)).body as { data: { id: string } }).data.id;
  const metric = await create('/v1/billable-metrics/create', {
    name: 'Tokens',
    aggregation_type: 'SUM',
    aggregation_key: 'tokens',
    event_type_filter: { in_values: ['completion'] },
    property_filters: ['tokens', 'model'].map((name) => ({ name, exists: true })),
    group_keys: [['model']],
  });
  const products: string[] = [];
  for (let index = 0; index < PRODUCTS; index += 1) {
    products.push(
      await create('/v1/contract-pricing/products/create', {
        name: `Tokens ${index}`,
        type: 'USAGE',
        billable_metric_id: metric,
        pricing_group_key: ['model'],
        tags: [`family-${index % 10}`],
      }),
    );
  }
  const rate_card_id = await create('/v1/contract-pricing/rate-cards/create', { name: 'Card' });
  await service.post('/v1/contract-pricing/rate-cards/addRates', {
    rate_card_id,
    rates: products.map((product_id) => ({
      product_id,
      starting_at: START,
      entitled: true,
      rate_type: 'FLAT',
      price: 2,
    })),
  });
  const customer_id = await create('/v1/customers', { name: 'Customer', ingest_aliases: ['customer'] });
  const overrides = overridesFor(products);
  let contract_id = '';
  const creation = await timed(service, async () => {
    contract_id = await create('/v1/contracts/create', {
      customer_id,
      rate_card_id,
      starting_at: START,
      overrides: overrides.slice(0, PER_REQUEST),
    });
  });
  const reference = { customer_id, contract_id };
  const rest = overrides.slice(PER_REQUEST);
  const edit = await timed(service, () =>
    service.post('/v2/contracts/edit', { ...reference, add_overrides: rest }),
  );
  await use(service);
  return {
    reference,
    writes: [
      [`creation with ${PER_REQUEST} overrides`, creation],
      [`edit that adds ${rest.length}`, edit],
    ],
  };
}

/** Fixed prices of models, and multipliers for tags and products, half of them for some days each. */
function overridesFor(products: readonly string[]): object[] {
  return Array.from({ length: OVERRIDES - ADDED_LATER }, (_, index) => {
    const product_id = products[index % PRODUCTS];
    const model = `model-${Math.floor(index / PRODUCTS) % MODELS}`;
    if (index % 2 === 0) {
      return {
        starting_at: START,
        type: 'OVERWRITE',
        overwrite_rate: { rate_type: 'FLAT', price: Number((1 + index / 100).toFixed(2)) },
        override_specifiers: [{ product_id, pricing_group_values: { model } }],
      };
    }
    const day = index % 27;
    return {
      starting_at: daysAfter(START, day),
      ending_before: daysAfter(END, day),
      type: 'MULTIPLIER',
      multiplier: Number((0.5 + index / 100_000).toFixed(5)),
      override_specifiers: [index % 3 === 0 ? { product_tags: [`family-${index % 10}`] } : { product_id }],
    };
  });
}

function overrideOfOneDay(): object {
  return { starting_at: END, ending_before: daysAfter(END, 1), type: 'MULTIPLIER', multiplier: 0.5 };
}

/** The first instant of a month in UTC. */
function monthsFromNow(months: number): string {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months)).toISOString();
}

function daysAfter(instant: string, days: number): string {
  return new Date(Date.parse(instant) + days * 86_400_000).toISOString();
}

async function use(service: TemporaryService): Promise<void> {
  const events = Array.from({ length: 100 }, (_, index) => ({
    transaction_id: `${Date.now()} ${index}`,
    customer_id: 'customer',
    event_type: 'completion',
    timestamp: new Date(Date.now() - index * 60_000).toISOString(),
    properties: { tokens: 1, model: `model-${index}` },
  }));
  await service.post('/v1/ingest', events);
}

function report(requests: readonly (readonly [string, readonly MeasuredRequest[]])[]): string {
  const header = [
    'request',
    'first, ms',
    'first holds the loop, ms',
    'p50 ms',
    'max ms',
    'CPU p50 ms',
    'holds the loop, p50 ms',
    'max ms',
  ];
  const rows = requests.map(([name, runs]) => [name, ...cells(runs)]);
  const longest = Math.max(...requests.flatMap(([, runs]) => runs.map(({ hold }) => hold)));
  return `A contract with ${OVERRIDES.toLocaleString('en')} overrides, one request at a time. Holding the event loop is CPU time of its thread between two turns. Targets: a read 200 ms, the loop 50 ms.\n\n${table(header, rows)}\n\nThe loop was held for ${longest.toFixed(0)} ms at most.`;
}

/** The first run, then the others; writes have no others. */
function cells([first, ...runs]: readonly MeasuredRequest[]): string[] {
  const of = (name: keyof MeasuredRequest, share: number) =>
    quantile(
      runs.map((one) => one[name]),
      share,
    );
  const others =
    runs.length === 0
      ? []
      : [of('passed', 0.5), of('passed', 1), of('cpu', 0.5), of('hold', 0.5), of('hold', 1)];
  const shown = [first?.passed, first?.hold, ...others].map((milliseconds) => milliseconds?.toFixed(0) ?? '');
  return [...shown, ...Array<string>(7 - shown.length).fill('')];
}

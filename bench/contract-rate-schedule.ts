/**
 * How fast a page of a contract's rate schedule is: a card with 10,000 rates, a contract with 500
 * overrides, pages of 100 rates from the first to the last. Prints a Markdown table.
 */
import { quantile, table } from './report.ts';
import { startTemporaryService, type TemporaryService } from './temporary-service.ts';

const PRODUCTS = 100;
const RATES_PER_PRODUCT = 100;
const OVERRIDES = 500;
const WARM_UP_PAGES = 20;

/** Runs against a new service and returns the report. */
export async function benchContractRateSchedule(): Promise<string> {
  const service = await startTemporaryService();
  try {
    const products = await createProducts(service);
    const entitled = await readAll(service, await createContract(service, products, true));
    const sparse = await readAll(service, await createContract(service, products, false));
    return report([
      ['all rates entitled', entitled],
      ['1 rate in 100 entitled, by override', sparse],
    ]);
  } finally {
    await service.close();
  }
}

async function create(service: TemporaryService, path: string, body: unknown): Promise<string> {
  const { body: answer } = await service.post(path, body);
  return (answer as { data: { id: string } }).data.id;
}

async function createProducts(service: TemporaryService): Promise<string[]> {
  const metric = await create(service, '/v1/billable-metrics/create', {
    name: 'Tokens',
    aggregation_type: 'SUM',
    aggregation_key: 'tokens',
    event_type_filter: { in_values: ['completion'] },
    property_filters: ['tokens', 'model'].map((name) => ({ name, exists: true })),
    group_keys: [['model']],
  });
  const products: string[] = [];
  for (let index = 0; index < PRODUCTS; index++) {
    products.push(
      await create(service, '/v1/contract-pricing/products/create', {
        name: `Tokens ${index}`,
        type: 'USAGE',
        billable_metric_id: metric,
        pricing_group_key: ['model'],
        tags: [`family-${index % 10}`],
      }),
    );
  }
  return products;
}

interface ContractOfBench {
  readonly customer_id: string;
  readonly contract_id: string;
}

/** One product's rates are entitled by an override where the card entitles none. */
async function createContract(
  service: TemporaryService,
  products: readonly string[],
  entitled: boolean,
): Promise<ContractOfBench> {
  const rateCardId = await create(service, '/v1/contract-pricing/rate-cards/create', { name: 'Card' });
  const starting_at = '2026-01-01T00:00:00Z';
  await service.post('/v1/contract-pricing/rate-cards/addRates', {
    rate_card_id: rateCardId,
    rates: products.flatMap((product_id) =>
      Array.from({ length: RATES_PER_PRODUCT }, (_, index) => ({
        product_id,
        pricing_group_values: { model: `model-${index}` },
        starting_at,
        entitled,
        rate_type: 'FLAT',
        price: 1 + index,
      })),
    ),
  });
  const customer_id = await create(service, '/v1/customers', { name: 'Customer' });
  const contract_id = await create(service, '/v1/contracts/create', {
    customer_id,
    rate_card_id: rateCardId,
    starting_at,
    overrides: overridesFor(products, entitled),
  });
  return { customer_id, contract_id };
}

/** Multipliers for tags, products and models, half of them for a separate month each. */
function overridesFor(products: readonly string[], entitled: boolean): object[] {
  const targets = (index: number) => {
    const product_id = products[index % products.length];
    if (index % 3 === 0) return [{ product_tags: [`family-${index % 10}`] }];
    if (index % 3 === 1) return [{ product_id }];
    return [{ product_id, pricing_group_values: { model: `model-${index % RATES_PER_PRODUCT}` } }];
  };
  const overrides = Array.from({ length: OVERRIDES - 1 }, (_, index) => ({
    starting_at: index % 2 === 0 ? '2026-01-01T00:00:00Z' : `2026-${month(index)}-01T00:00:00Z`,
    ...(index % 2 === 0 ? {} : { ending_before: `2026-${month(index)}-20T00:00:00Z` }),
    type: 'MULTIPLIER',
    multiplier: 0.5 + index / 1_000,
    override_specifiers: targets(index),
  }));
  return [
    ...overrides,
    {
      starting_at: '2026-01-01T00:00:00Z',
      entitled: true,
      ...(entitled ? {} : { override_specifiers: [{ product_id: products.at(-1) }] }),
    },
  ];
}

function month(index: number): string {
  return String(1 + (index % 12)).padStart(2, '0');
}

/** The milliseconds of every page. */
async function readAll(service: TemporaryService, contract: ContractOfBench): Promise<number[]> {
  for (let page = 0; page < WARM_UP_PAGES; page++) await readPage(service, contract, null);
  const times: number[] = [];
  let next: string | null = null;
  do {
    const page: { readonly next: string | null; readonly milliseconds: number } = await readPage(
      service,
      contract,
      next,
    );
    times.push(page.milliseconds);
    next = page.next;
  } while (next !== null);
  return times;
}

async function readPage(service: TemporaryService, contract: ContractOfBench, cursor: string | null) {
  const query = cursor === null ? '' : `&next_page=${encodeURIComponent(cursor)}`;
  const path = `/v1/contracts/getContractRateSchedule?limit=100${query}`;
  const answer = await service.post(path, { ...contract, at: '2026-07-10T00:00:00Z' });
  const { next_page: next } = answer.body as { next_page: string | null };
  return { next, milliseconds: answer.milliseconds };
}

function report(runs: readonly (readonly [string, readonly number[]])[]): string {
  const rows = runs.map(([name, times]) => [
    name,
    String(times.length),
    ...[0.5, 0.99, 1].map((share) => quantile(times, share).toFixed(1)),
  ]);
  const header = ['rates of the contract', 'pages of 100', 'p50 ms', 'p99 ms', 'max ms'];
  return `getContractRateSchedule over a card with ${PRODUCTS * RATES_PER_PRODUCT} rates and ${OVERRIDES} overrides, one request at a time. Target: 100 ms.\n\n${table(header, rows)}`;
}

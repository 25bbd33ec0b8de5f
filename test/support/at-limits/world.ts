/** Customers, cards and contracts as large as they may be, for operations that are driven at their limits. */
import { type ChangingWorld, createChangingWorld, type LimitsOfChangingWorld } from './changing-world.ts';
import { created, inParallel, type LimitsClient } from './client.ts';
import { createFurtherWorld, type FurtherWorld, type LimitsOfFurtherWorld } from './further-world.ts';
import { CARDS, type Company, cardWith, MONTH, PRODUCTS, RATE, sendValues, USD_CENTS } from './parts.ts';

/** How large they are. */
export interface LimitsOfWorld extends LimitsOfFurtherWorld, LimitsOfChangingWorld {
  /** Values of a property of the events of one customer; lines of an invoice that has one for each. */
  readonly values: number;
  /** Events with each value of the one customer, in as many hours. */
  readonly eventsOfValue: number;
  /** Contracts of one customer. */
  readonly contracts: number;
  /** Rates of a call, and products of a card. */
  readonly rates: number;
  readonly aliases: number;
  /** Commits of one contract. */
  readonly commits: number;
}

export interface LimitsWorld extends FurtherWorld, ChangingWorld {
  readonly limits: LimitsOfWorld;
  readonly metric: string;
  /** One line of usage, whose events have many values of `user`. */
  readonly wide: Company;
  /** A line for each value. */
  readonly long: Company;
  /** Many contracts. */
  readonly contracts: Company;
  /** Many commits. */
  readonly commits: Company;
  readonly card: string;
  /** A product for each rate of a call. */
  readonly products: readonly string[];
}

export async function createWorld(client: LimitsClient, limits: LimitsOfWorld): Promise<LimitsWorld> {
  const metric = await created(client, '/v1/billable-metrics/create', {
    name: 'Tokens',
    aggregation_type: 'SUM',
    aggregation_key: 'tokens',
    property_filters: ['tokens', 'user'].map((name) => ({ name, exists: true })),
    group_keys: [['user']],
  });
  const usage = { type: 'USAGE', billable_metric_id: metric };
  const plain = await created(client, `${PRODUCTS}/create`, { ...usage, name: 'All' });
  const byUser = await created(client, `${PRODUCTS}/create`, {
    ...usage,
    name: 'By user',
    presentation_group_key: ['user'],
  });
  const prepaid = await created(client, `${PRODUCTS}/create`, { name: 'Prepaid', type: 'FIXED' });
  const products: string[] = new Array<string>(limits.rates);
  await inParallel(limits.rates, async (index) => {
    products[index] = await created(client, `${PRODUCTS}/create`, { ...usage, name: `Product ${index}` });
  });
  const card = await created(client, `${CARDS}/create`, { name: 'Large' });
  const wide = await companyOf(client, 'wide', [plain]);
  const long = await companyOf(client, 'long', [byUser]);
  await sendValues(client, 'wide', limits.values, limits.eventsOfValue);
  await sendValues(client, 'long', limits.values, 1);
  const commits = await manyCommits(client, prepaid, plain, limits.commits);
  return {
    ...{ limits, metric, wide, long, card, products, commits },
    ...(await createFurtherWorld(client, limits, { metric, plain, byUser })),
    ...(await createChangingWorld(client, limits, commits)),
    contracts: await manyContracts(client, plain, limits.contracts),
  };
}

/** As many rates as a call may have. */
export function addRatesBody({ card, products }: Pick<LimitsWorld, 'card' | 'products'>): object {
  return { rate_card_id: card, rates: products.map((product_id) => ({ ...RATE, product_id })) };
}

async function companyOf(
  client: LimitsClient,
  name: string,
  products: readonly string[],
  terms: object = {},
): Promise<Company> {
  const rate_card_id = await cardWith(client, name, products);
  const customer_id = await created(client, '/v1/customers', { name, ingest_aliases: [name] });
  const contract_id = await created(client, '/v1/contracts/create', {
    ...{ customer_id, rate_card_id, starting_at: MONTH.start },
    ...terms,
  });
  return { customer_id, contract_id };
}

async function manyContracts(client: LimitsClient, product: string, count: number): Promise<Company> {
  await client.post('/v1/customFields/addKey', {
    ...{ entity: 'contract', key: 'team', enforce_uniqueness: false },
  });
  const company = await companyOf(client, 'contracts', [product]);
  const rate_card_id = await cardWith(client, 'of many', [product]);
  await inParallel(count - 1, () =>
    client.post('/v1/contracts/create', {
      ...{ customer_id: company.customer_id, rate_card_id, starting_at: MONTH.start },
      custom_fields: { team: 'red' },
    }),
  );
  return company;
}

async function manyCommits(
  client: LimitsClient,
  product_id: string,
  plain: string,
  count: number,
): Promise<Company> {
  return await companyOf(client, 'commits', [plain], {
    commits: Array.from({ length: count }, (_, index) => ({
      ...{ product_id, type: 'PREPAID', priority: index + 1, name: `Commit ${index}` },
      access_schedule: {
        credit_type_id: USD_CENTS,
        schedule_items: [{ amount: 1_000, starting_at: MONTH.start, ending_before: MONTH.end }],
      },
    })),
  });
}

/** The endpoints of the service that the demo uses, as functions. All answers are parsed; all numbers are exact. */
import { z } from 'zod';
import { ZERO } from '../core/decimal.ts';
import { formatInstant, type Instant, type Interval, parseRfc3339 } from '../core/time.ts';
import { DemoFailure } from './failure.ts';
import { exactNumber, type HttpApi } from './http-api.ts';
import type { DemoAggregation, PricedGroup } from './scenario.ts';

const PAGE_ROWS = 100;

const created = z.object({ data: z.object({ id: z.string() }) });

async function create(api: HttpApi, path: string, body: unknown): Promise<string> {
  return (await api.call('POST', path, created, body)).data.id;
}

/** The service's clock: its sandbox clock if it has one, else this machine's. */
export async function serviceNow(api: HttpApi, machineNow: () => Instant): Promise<Instant> {
  const answer = await api.send('GET', '/v1/sandbox/clock');
  if (answer.status !== 200) return machineNow();
  const clock = z.object({ data: z.object({ now: z.string() }) }).safeParse(JSON.parse(answer.text));
  return (clock.success ? parseRfc3339(clock.data.data.now) : null) ?? machineNow();
}

/** Fails early, with a clear message, if the address or the token is wrong. */
export async function checkAccess(api: HttpApi): Promise<void> {
  await api.call('GET', '/v1/customers?limit=1', z.object({ data: z.array(z.unknown()) }));
}

const STRIPE = { billing_provider: 'stripe', delivery_method: 'direct_to_billing_provider' };

/** `stripeId`: the customer at Stripe; null: it does not exist there. */
export function createCustomer(
  api: HttpApi,
  name: string,
  ingestAliases: readonly string[],
  stripeId: string | null = null,
): Promise<string> {
  const configurations = [{ ...STRIPE, configuration: { stripe_customer_id: stripeId } }];
  return create(api, '/v1/customers', {
    name,
    ingest_aliases: ingestAliases,
    ...(stripeId === null ? {} : { customer_billing_provider_configurations: configurations }),
  });
}

export async function setIngestAliases(api: HttpApi, customerId: string, aliases: readonly string[]) {
  const path = `/v1/customers/${customerId}/setIngestAliases`;
  const answer = await api.send('POST', path, Buffer.from(JSON.stringify({ ingest_aliases: aliases })));
  if (answer.status !== 200)
    throw new DemoFailure(`POST ${path} was answered ${answer.status}: ${answer.text}`);
}

export interface MetricDefinition {
  readonly name: string;
  readonly eventType: string;
  readonly aggregation: DemoAggregation;
  readonly property: string | null;
  readonly groupKey: readonly string[];
}

export function createMetric(api: HttpApi, metric: MetricDefinition): Promise<string> {
  const properties = [...(metric.property === null ? [] : [metric.property]), ...metric.groupKey];
  return create(api, '/v1/billable-metrics/create', {
    name: metric.name,
    event_type_filter: { in_values: [metric.eventType] },
    property_filters: properties.map((name) => ({ name, exists: true })),
    aggregation_type: metric.aggregation,
    ...(metric.property === null ? {} : { aggregation_key: metric.property }),
    ...(metric.groupKey.length === 0 ? {} : { group_keys: [metric.groupKey] }),
  });
}

export function createUsageProduct(
  api: HttpApi,
  product: { name: string; metricId: string; pricingGroupKey: readonly string[] },
): Promise<string> {
  return create(api, '/v1/contract-pricing/products/create', {
    name: product.name,
    type: 'USAGE',
    billable_metric_id: product.metricId,
    ...(product.pricingGroupKey.length === 0 ? {} : { pricing_group_key: product.pricingGroupKey }),
  });
}

export function createRateCard(api: HttpApi, name: string, alias: string): Promise<string> {
  return create(api, '/v1/contract-pricing/rate-cards/create', { name, aliases: [{ name: alias }] });
}

export async function addRates(
  api: HttpApi,
  rateCardId: string,
  startingAt: Instant,
  rates: readonly { productId: string; price: PricedGroup }[],
): Promise<void> {
  await create(api, '/v1/contract-pricing/rate-cards/addRates', {
    rate_card_id: rateCardId,
    rates: rates.map(({ productId, price }) => ({
      product_id: productId,
      starting_at: formatInstant(startingAt),
      entitled: true,
      ...(Object.keys(price.groupValues).length === 0 ? {} : { pricing_group_values: price.groupValues }),
      ...rateTerms(price),
    })),
  });
}

function rateTerms({ tiers }: PricedGroup) {
  const [first] = tiers;
  if (first !== undefined && tiers.length === 1) return { rate_type: 'FLAT', price: first.price };
  return {
    rate_type: 'TIERED',
    tiers: tiers.map(({ price, size }) => (size === null ? { price } : { price, size })),
  };
}

/** A contract with monthly billing from its start. */
export function createContract(
  api: HttpApi,
  contract: { customerId: string; rateCardAlias: string; startingAt: Instant; isBilled: boolean },
): Promise<string> {
  return create(api, '/v1/contracts/create', {
    customer_id: contract.customerId,
    rate_card_alias: contract.rateCardAlias,
    starting_at: formatInstant(contract.startingAt),
    usage_statement_schedule: { frequency: 'MONTHLY', day: 'CONTRACT_START' },
    ...(contract.isBilled ? { billing_provider_configuration: STRIPE } : {}),
  });
}

const instant = z.string().transform((text, context) => {
  const at = parseRfc3339(text);
  if (at !== null) return at;
  context.addIssue({ code: 'custom', message: `not a timestamp: ${text}` });
  return z.NEVER;
});
const groupValues = z.record(z.string(), z.string());

const usageRow = z.object({
  starting_on: instant,
  group: groupValues.nullish(),
  value: exactNumber.nullable(),
});
export type UsageRow = z.infer<typeof usageRow>;

const lineItem = z.object({
  name: z.string(),
  product_id: z.string(),
  /** Applied lines have none. */
  quantity: exactNumber.optional().transform((quantity) => quantity ?? ZERO),
  unit_price: exactNumber.optional(),
  total: exactNumber,
  pricing_group_values: groupValues.optional(),
});
export type LineItem = z.infer<typeof lineItem>;

const invoice = z.object({
  id: z.string(),
  status: z.string(),
  start_timestamp: instant,
  end_timestamp: instant,
  total: exactNumber,
  line_items: z.array(lineItem),
});
export type Invoice = z.infer<typeof invoice>;

const breakdown = z.object({
  contract_id: z.string().optional(),
  breakdown_start_timestamp: instant,
  total: exactNumber,
  line_items: z.array(lineItem),
});
export type Breakdown = z.infer<typeof breakdown>;

type WindowSize = 'HOUR' | 'DAY' | 'NONE';

export interface UsageQuery {
  readonly customerId: string;
  readonly metricId: string;
  readonly windowSize: WindowSize;
  readonly period: Interval;
  /** Empty for one value per window. */
  readonly groupKey: readonly string[];
}

/** All rows of a usage query, page after page. */
export function usage(api: HttpApi, query: UsageQuery): Promise<UsageRow[]> {
  return readPages(
    api,
    'POST',
    '/v1/usage/groups',
    usageRow,
    {},
    {
      customer_id: query.customerId,
      billable_metric_id: query.metricId,
      window_size: query.windowSize,
      starting_on: formatInstant(query.period.start),
      ending_before: formatInstant(query.period.end),
      ...(query.groupKey.length === 0 ? {} : { group_key: query.groupKey }),
    },
  );
}

/** The usage invoice of a contract's period that starts at `start`, as the single read returns it. */
export async function invoiceOfPeriod(
  api: HttpApi,
  customerId: string,
  contractId: string,
  start: Instant,
): Promise<Invoice> {
  const path = `/v1/customers/${customerId}/invoices`;
  const listed = await readPages(api, 'GET', path, invoice, { contract_id: contractId, type: 'USAGE' });
  const found = listed.find((each) => each.start_timestamp === start);
  if (found === undefined) {
    throw new DemoFailure(
      `customer ${customerId} has no invoice for the period from ${formatInstant(start)}`,
    );
  }
  return (await api.call('GET', `${path}/${found.id}`, z.object({ data: invoice }))).data;
}

/** All windows of the breakdown of one contract's invoices in `period`. */
export async function breakdowns(
  api: HttpApi,
  customerId: string,
  contractId: string,
  windowSize: 'HOUR' | 'DAY',
  period: Interval,
): Promise<Breakdown[]> {
  const rows = await readPages(api, 'GET', `/v1/customers/${customerId}/invoices/breakdowns`, breakdown, {
    window_size: windowSize,
    starting_on: formatInstant(period.start),
    ending_before: formatInstant(period.end),
  });
  return rows.filter((row) => row.contract_id === contractId);
}

async function readPages<T>(
  api: HttpApi,
  method: 'GET' | 'POST',
  path: string,
  row: z.ZodType<T>,
  query: Readonly<Record<string, string>>,
  body?: unknown,
): Promise<T[]> {
  const page = z.object({ data: z.array(row), next_page: z.string().nullish() });
  const rows: T[] = [];
  let cursor: string | null | undefined;
  do {
    const parameters = new URLSearchParams({ limit: String(PAGE_ROWS), ...query });
    if (cursor) parameters.set('next_page', cursor);
    const answer = await api.call(method, `${path}?${parameters.toString()}`, page, body);
    rows.push(...answer.data);
    cursor = answer.next_page;
  } while (cursor);
  return rows;
}

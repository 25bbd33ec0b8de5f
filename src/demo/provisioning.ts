/**
 * Creates the objects of a scenario in the service: metrics, products, one rate card with all prices, customers,
 * contracts.
 */

import type { Interval } from '../core/time.ts';
import { mapConcurrently } from '../runtime/concurrently.ts';
import * as billing from './billing-api.ts';
import type { HttpApi } from './http-api.ts';
import type { Scenario } from './scenario.ts';
import type { StripeStandIn } from './stripe/stand-in.ts';

interface ProvisionedCustomer {
  readonly id: string;
  readonly contractId: string;
}

/** Ids in the order of the scenario's products and customers. */
export interface Provisioned {
  readonly rateCardId: string;
  readonly metricIds: readonly string[];
  readonly productIds: readonly string[];
  readonly customers: readonly ProvisionedCustomer[];
}

const CONCURRENCY = 4;

interface Provisioning {
  readonly scenario: Scenario;
  readonly period: Interval;
  /** Distinguishes names and aliases of several runs on one server. */
  readonly runId: string;
  /** The index of a customer whose ingest alias is set later by `setIngestAliases`, or null. */
  readonly lateAlias: number | null;
  /** The billing provider of the customers; null: none. */
  readonly stripe: Pick<StripeStandIn, 'state'> | null;
}

export async function provision(
  api: HttpApi,
  { scenario, period, runId, lateAlias, stripe }: Provisioning,
): Promise<Provisioned> {
  const metricIds = await mapConcurrently(scenario.products, CONCURRENCY, (product) =>
    billing.createMetric(api, {
      name: `${product.name} (${runId})`,
      eventType: scenario.eventType,
      aggregation: product.aggregation,
      property: product.property,
      groupKey: product.pricingGroupKey,
    }),
  );
  // One after the other, so that the invoice shows the products in the scenario's order.
  const productIds: string[] = [];
  for (const [index, product] of scenario.products.entries()) {
    const metricId = at(metricIds, index);
    const { name, pricingGroupKey } = product;
    productIds.push(await billing.createUsageProduct(api, { name, metricId, pricingGroupKey }));
  }
  const rateCardAlias = `demo-price-list-${runId}`;
  const rateCardId = await billing.createRateCard(api, `${scenario.rateCardName} (${runId})`, rateCardAlias);
  await billing.addRates(api, rateCardId, period.start, listPrices(scenario, productIds));
  const customers = await mapConcurrently(scenario.customers, CONCURRENCY, async ({ name, alias }, index) => {
    const aliases = index === lateAlias ? [] : [alias];
    const stripeId = stripe?.state.addCustomer() ?? null;
    const id = await billing.createCustomer(api, `${name} (${runId})`, aliases, stripeId);
    const contract = { customerId: id, rateCardAlias, startingAt: period.start, isBilled: stripeId !== null };
    return { id, contractId: await billing.createContract(api, contract) };
  });
  return { rateCardId, metricIds, productIds, customers };
}

/** The prices of all products. */
export function listPrices(scenario: Scenario, productIds: readonly string[]) {
  return scenario.products.flatMap((product, index) =>
    product.prices.map((price) => ({ productId: at(productIds, index), price })),
  );
}

/** The element at `index`, which is known to exist. */
export function at<Item>(items: readonly Item[], index: number): Item {
  const item = items[index];
  if (item === undefined) throw new Error(`there is no element ${index}`);
  return item;
}

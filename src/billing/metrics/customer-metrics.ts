/** The billable metrics that matter to a customer. */
import { notFound } from '../../core/errors.ts';
import type { Page, PageRequest } from '../../core/paging.ts';
import type { Instant } from '../../core/time.ts';
import { versionAt } from '../../rating/quantities/product-spans.ts';
import type { Database } from '../../store/base/database.ts';
import { loadContracts } from '../../store/contracts/contracts.ts';
import { findCustomer } from '../../store/customers/customers.ts';
import { listMetrics, type StoredMetric } from '../../store/metrics/billable-metrics.ts';
import { loadProducts } from '../../store/products/products.ts';
import { rateCardProductOrder } from '../../store/rate-cards/rate-cards.ts';
import type { RowContext } from '../billing-context.ts';
import { pageWithCustomFields, type WithCustomFields } from '../custom-fields/with-fields.ts';

export interface CustomerMetricsFilter {
  readonly customerId: string;
  /** Only metrics of products that have rates on the rate cards of the contracts now in force. */
  readonly onCurrentPlan: boolean;
  readonly includeArchived: boolean;
}

/**
 * Every metric measures every customer, so without `onCurrentPlan` all metrics are listed. Refuses an unknown customer.
 */
export async function listCustomerMetrics(
  { db, clock }: RowContext,
  { customerId, onCurrentPlan, includeArchived }: CustomerMetricsFilter,
  page: PageRequest,
): Promise<Page<WithCustomFields<StoredMetric>>> {
  const customer = await findCustomer(db, customerId);
  if (customer === null) throw notFound('customer', customerId);
  const ids = onCurrentPlan ? await metricsOnPlan(db, customer.id, clock.now()) : null;
  return pageWithCustomFields(db, await listMetrics(db, { includeArchived, ids }, page));
}

async function metricsOnPlan(db: Database, customerId: string, now: Instant): Promise<string[]> {
  const contracts = await loadContracts(db, { customerIds: [customerId], coveringDate: now });
  const cardIds = new Set(contracts.flatMap(({ rateCardId }) => rateCardId ?? []));
  const onCards = await rateCardProductOrder(db, [...cardIds]);
  const products = await loadProducts(db, [...new Set([...onCards.values()].flat())]);
  const metricIds = [...products.values()].flatMap(
    (product) => versionAt(product, now).billableMetricId ?? [],
  );
  return [...new Set(metricIds)];
}

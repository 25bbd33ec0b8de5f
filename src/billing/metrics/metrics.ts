/** Use cases of billable metrics. A definition never changes: another definition is another metric. */
import { notFound } from '../../core/errors.ts';
import { isUuid, newId } from '../../core/ids.ts';
import type { Page, PageRequest } from '../../core/paging.ts';
import type { ClickHouse } from '../../metering/client/clickhouse.ts';
import type { Transaction } from '../../store/base/database.ts';
import {
  archiveMetric,
  findMetric,
  insertMetric,
  listMetrics as listStoredMetrics,
  renameMetric,
  type StoredMetric,
} from '../../store/metrics/billable-metrics.ts';
import type { RowContext } from '../billing-context.ts';
import { storeCustomFields } from '../custom-fields/store-fields.ts';
import {
  oneWithCustomFields,
  pageWithCustomFields,
  type WithCustomFields,
} from '../custom-fields/with-fields.ts';
import { checkDefinition, type MetricDefinition } from './metric-definition.ts';

export interface CreateMetricInput {
  readonly name: string;
  readonly definition: MetricDefinition;
  readonly customFields: Readonly<Record<string, string>>;
}

/**
 * Refuses an unsound definition and undeclared custom fields (`invalid`, naming the field; for a query also
 * the place in it), and the value of a custom field that another metric holds (`conflict`).
 */
export async function createMetric(
  context: RowContext & { readonly clickhouse: ClickHouse },
  { name, definition, customFields }: CreateMetricInput,
): Promise<StoredMetric> {
  await checkDefinition(context.clickhouse, definition);
  return context.db.transaction((tx) => createMetricIn(tx, context, { name, definition, customFields }));
}

/** `createMetric` within a transaction, for a definition that is checked (`checkDefinition`). */
export async function createMetricIn(
  tx: Transaction,
  { clock }: Pick<RowContext, 'clock'>,
  { name, definition, customFields }: CreateMetricInput,
): Promise<StoredMetric> {
  const metric: StoredMetric = {
    ...definition,
    name,
    id: newId(),
    createdAt: clock.now(),
    archivedAt: null,
  };
  await insertMetric(tx, metric);
  await storeCustomFields(tx, [
    { entity: 'billable_metric', entityId: metric.id, fields: customFields, path: [] },
  ]);
  return metric;
}

/** The metric, archived or not. Refuses an unknown one. */
export async function getMetric(
  context: Pick<RowContext, 'db'>,
  id: string,
): Promise<WithCustomFields<StoredMetric>> {
  const metric = await findMetric(context.db, id);
  if (metric === null) throw notFound('billable metric', id);
  return oneWithCustomFields(context.db, metric);
}

export async function listMetrics(
  context: Pick<RowContext, 'db'>,
  filter: { readonly includeArchived: boolean },
  page: PageRequest,
): Promise<Page<WithCustomFields<StoredMetric>>> {
  return pageWithCustomFields(context.db, await listStoredMetrics(context.db, filter, page));
}

/** Changes the display name, the only thing about a metric that can change. Refuses an unknown metric. */
export async function setMetricName(
  context: Pick<RowContext, 'db'>,
  id: string,
  name: string,
): Promise<void> {
  const found = isUuid(id) && (await context.db.transaction((tx) => renameMetric(tx, id, name)));
  if (!found) throw notFound('billable metric', id);
}

/**
 * Removes a metric from lists and from new products; products that use it continue to meter. Idempotent. Refuses an
 * unknown metric.
 */
export async function retireMetric(context: RowContext, id: string): Promise<void> {
  const found =
    isUuid(id) && (await context.db.transaction((tx) => archiveMetric(tx, id, context.clock.now())));
  if (!found) throw notFound('billable metric', id);
}

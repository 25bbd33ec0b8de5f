/** Billable metrics. A definition is written once; only the name and the archive date may change. */
import { and, asc, eq, isNull } from 'drizzle-orm';
import { z } from 'zod';
import { assert } from '../../core/errors.ts';
import { isUuid } from '../../core/ids.ts';
import type { BillableMetric, StreamingMetric } from '../../core/metric.ts';
import type { Page, PageRequest } from '../../core/paging.ts';
import type { Instant } from '../../core/time.ts';
import { rowInsertion } from '../base/built-once.ts';
import type { Database, Transaction } from '../base/database.ts';
import { isOneOf } from '../base/is-one-of.ts';
import { behind, keysetPage } from '../base/keyset.ts';
import { billableMetrics } from './billable-metrics.tables.ts';

export type StoredMetric = BillableMetric & { readonly createdAt: Instant };

export async function insertMetric(db: Database | Transaction, metric: StoredMetric): Promise<void> {
  await addMetric(db, { ...NOTHING_ELSE, ...toRow(metric) });
}

/** The columns that metrics of one kind do not use. */
const NOTHING_ELSE = { sql: null, eventTypeFilter: null, aggregation: null, aggregationKey: null } as const;

const addMetric = rowInsertion(billableMetrics, [
  ...(['id', 'kind', 'name', 'eventTypeFilter', 'propertyFilters', 'aggregation'] as const),
  ...(['aggregationKey', 'groupKeys', 'sql', 'createdAt', 'archivedAt'] as const),
]);

/** The metric, archived or not; null if the id is unknown or not a UUID. */
export async function findMetric(db: Database | Transaction, id: string): Promise<StoredMetric | null> {
  return (await loadMetrics(db, isUuid(id) ? [id] : [])).get(id.toLowerCase()) ?? null;
}

/** The metrics by id; unknown ids are absent. */
export async function loadMetrics(
  db: Database | Transaction,
  ids: readonly string[],
): Promise<Map<string, StoredMetric>> {
  if (ids.length === 0) return new Map();
  const rows = await db.select().from(billableMetrics).where(isOneOf(billableMetrics.id, ids));
  return new Map(rows.map((row) => [row.id, fromRow(row)]));
}

export interface MetricFilter {
  readonly includeArchived: boolean;
  /** Only these metrics; null: all. */
  readonly ids?: readonly string[] | null;
}

export async function listMetrics(
  db: Database | Transaction,
  filter: MetricFilter,
  page: PageRequest,
): Promise<Page<StoredMetric>> {
  const { includeArchived, ids = null } = filter;
  if (ids?.length === 0) return { rows: [], next: null };
  const rows = await db
    .select()
    .from(billableMetrics)
    .where(
      and(
        includeArchived ? undefined : isNull(billableMetrics.archivedAt),
        ids === null ? undefined : isOneOf(billableMetrics.id, ids),
        behind(billableMetrics, page.after),
      ),
    )
    .orderBy(asc(billableMetrics.createdAt), asc(billableMetrics.id))
    .limit(page.limit + 1);
  return keysetPage(rows.map(fromRow), page.limit);
}

/** All metrics in the order of their ids. `listMetrics` reads a page of them. */
export async function allMetrics(
  db: Database | Transaction,
  filter: Pick<MetricFilter, 'includeArchived'>,
): Promise<StoredMetric[]> {
  const rows = await db
    .select()
    .from(billableMetrics)
    .where(filter.includeArchived ? undefined : isNull(billableMetrics.archivedAt))
    .orderBy(asc(billableMetrics.id));
  return rows.map(fromRow);
}

/** Changes the name. Returns whether the metric exists. */
export async function renameMetric(db: Database | Transaction, id: string, name: string): Promise<boolean> {
  const rows = await db
    .update(billableMetrics)
    .set({ name })
    .where(eq(billableMetrics.id, id))
    .returning({ id: billableMetrics.id });
  return rows.length > 0;
}

/** Sets the archive date unless there is one. Returns whether the metric exists. */
export async function archiveMetric(db: Database | Transaction, id: string, at: Instant): Promise<boolean> {
  await db
    .update(billableMetrics)
    .set({ archivedAt: at })
    .where(and(eq(billableMetrics.id, id), isNull(billableMetrics.archivedAt)));
  return (await findMetric(db, id)) !== null;
}

const valuesColumn = z.array(z.string()).nullable();

const eventTypeFilterColumn = z
  .object({ in_values: valuesColumn, not_in_values: valuesColumn })
  .transform((filter) => ({ inValues: filter.in_values, notInValues: filter.not_in_values }))
  .nullable();

const propertyFiltersColumn = z.array(
  z
    .object({
      name: z.string(),
      exists: z.boolean().nullable(),
      in_values: valuesColumn,
      not_in_values: valuesColumn,
    })
    .transform(({ name, exists, in_values, not_in_values }) => ({
      name,
      exists,
      inValues: in_values,
      notInValues: not_in_values,
    })),
);

const groupKeysColumn = z.array(z.array(z.string()));

function toRow(metric: StoredMetric) {
  const { id, kind, name, createdAt, archivedAt } = metric;
  const head = { id, kind, name, createdAt, archivedAt };
  return metric.kind === 'sql'
    ? { ...head, sql: metric.sql, propertyFilters: [], groupKeys: [] }
    : { ...head, ...streamingToRow(metric) };
}

function streamingToRow(metric: StreamingMetric) {
  const { eventTypeFilter } = metric;
  return {
    eventTypeFilter:
      eventTypeFilter === null
        ? null
        : { in_values: eventTypeFilter.inValues, not_in_values: eventTypeFilter.notInValues },
    propertyFilters: metric.propertyFilters.map((filter) => ({
      name: filter.name,
      exists: filter.exists,
      in_values: filter.inValues,
      not_in_values: filter.notInValues,
    })),
    aggregation: metric.aggregation,
    aggregationKey: metric.aggregationKey,
    groupKeys: metric.groupKeys,
  };
}

function fromRow(row: typeof billableMetrics.$inferSelect): StoredMetric {
  const { id, kind, name, createdAt, archivedAt } = row;
  const head = { id, name, createdAt, archivedAt };
  if (kind === 'sql') {
    assert(row.sql !== null, `SQL metric ${id} has a query`);
    return { ...head, kind, sql: row.sql };
  }
  assert(row.aggregation !== null, `streaming metric ${id} has an aggregation`);
  return {
    ...head,
    kind,
    eventTypeFilter: eventTypeFilterColumn.parse(row.eventTypeFilter),
    propertyFilters: propertyFiltersColumn.parse(row.propertyFilters),
    aggregation: row.aggregation,
    aggregationKey: row.aggregationKey,
    groupKeys: groupKeysColumn.parse(row.groupKeys),
  };
}

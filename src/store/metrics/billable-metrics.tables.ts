import { sql } from 'drizzle-orm';
import { check, index, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { AGGREGATIONS } from '../../core/metric.ts';
import { instant } from '../base/columns.ts';

/** The definition of a metric. Only the name and `archived_at` ever change: the definition is the metric's identity. */
export const billableMetrics = pgTable(
  'billable_metrics',
  {
    id: uuid('id').primaryKey(),
    kind: text('kind', { enum: ['streaming', 'sql'] }).notNull(),
    name: text('name').notNull(),
    /** Streaming only: `{in_values, not_in_values}`. */
    eventTypeFilter: jsonb('event_type_filter'),
    /** Streaming only: a list of `{name, exists, in_values, not_in_values}`. */
    propertyFilters: jsonb('property_filters').notNull(),
    aggregation: text('aggregation', { enum: AGGREGATIONS }),
    aggregationKey: text('aggregation_key'),
    /** Streaming only: a list of lists of property names. */
    groupKeys: jsonb('group_keys').notNull(),
    /** SQL metrics only: the query as the client wrote it. */
    sql: text('sql'),
    createdAt: instant('created_at').notNull(),
    archivedAt: instant('archived_at'),
  },
  (table) => [
    index('billable_metrics_created').on(table.createdAt, table.id),
    check(
      'billable_metrics_one_definition',
      sql`case ${table.kind} when 'streaming' then ${table.aggregation} is not null and ${table.sql} is null else ${table.aggregation} is null and ${table.sql} is not null end`,
    ),
  ],
);

import { boolean, index, jsonb, pgTable, primaryKey, text, unique, uuid } from 'drizzle-orm/pg-core';
import { ALERT_STATES, ALERT_TYPES } from '../../core/alerts.ts';
import { exact, instant } from '../base/columns.ts';
import { customers } from '../customers/customers.tables.ts';
import { billableMetrics } from '../metrics/billable-metrics.tables.ts';

/** Threshold notifications. An alert never changes, except that it can be archived. */
export const alerts = pgTable(
  'alerts',
  {
    id: uuid('id').primaryKey(),
    name: text('name').notNull(),
    type: text('type', { enum: ALERT_TYPES }).notNull(),
    /** An archived alert keeps its key unless it has released it. */
    uniquenessKey: text('uniqueness_key'),
    threshold: exact('threshold').notNull(),
    /** The unit of the compared amounts; null if no amounts are compared. */
    creditTypeId: uuid('credit_type_id'),
    /** Null: all customers. */
    customerId: uuid('customer_id').references(() => customers.id),
    billableMetricId: uuid('billable_metric_id').references(() => billableMetrics.id),
    evaluateOnCreate: boolean('evaluate_on_create').notNull(),
    /** `AlertFilters` of core/alerts.ts in JSON. */
    filters: jsonb('filters').notNull(),
    createdAt: instant('created_at').notNull(),
    createdBy: text('created_by').notNull(),
    archivedAt: instant('archived_at'),
  },
  (table) => [
    unique('alerts_uniqueness_key_unique').on(table.uniquenessKey),
    index('alerts_created').on(table.createdAt, table.id),
    index('alerts_customer').on(table.customerId),
  ],
);

/**
 * The states of alerts. The row with an empty target exists from the first evaluation of the customer on, and
 * represents all its alarms. An alarm with a target has a row only if it is not ok.
 */
export const alertStates = pgTable(
  'alert_states',
  {
    alertId: uuid('alert_id')
      .notNull()
      .references(() => alerts.id),
    customerId: uuid('customer_id')
      .notNull()
      .references(() => customers.id),
    /** The subject of the alarm: a value, or the id of a segment, contract or invoice. */
    target: text('target').notNull(),
    state: text('state', { enum: ALERT_STATES }).notNull(),
    /** Whether the alarm was reported, so that its end is reported too. */
    isTold: boolean('is_told').notNull(),
    /** The start of the period that it was evaluated for; null if there are no periods. */
    since: instant('since'),
    updatedAt: instant('updated_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.alertId, table.customerId, table.target] }),
    index('alert_states_customer').on(table.customerId),
  ],
);

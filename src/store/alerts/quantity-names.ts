/** The properties of events that prices depend on, for estimating the cost of events before they are rated. */
import { inArray, type SQL, sql } from 'drizzle-orm';
import { alertTypesTaking } from '../../core/alerts.ts';
import { QUANTITY_NAMES_MAX, type QuantityNames } from '../../core/event-quantities.ts';
import { aggregationsReading } from '../../core/metric.ts';
import type { Database } from '../base/database.ts';
import { contractUsageFilters } from '../contracts/contracts.tables.ts';
import { billableMetrics } from '../metrics/billable-metrics.tables.ts';
import { productVersions } from '../products/products.tables.ts';
import { alerts } from './alerts.tables.ts';

/** An archived metric still counts for the products and alerts that use it. */
const IS_COUNTED = sql`(
  archived_at is null
  or exists (select from ${productVersions} where billable_metric_id = ${billableMetrics.id})
  or exists (select from ${alerts} where billable_metric_id = ${billableMetrics.id} and archived_at is null))`;

const AMOUNTS = sql`
  select aggregation_key as name from ${billableMetrics}
  where ${IS_COUNTED} and ${inArray(billableMetrics.aggregation, aggregationsReading('number'))}`;

const OF_METRICS = sql`
  select filter->>'name' as name from ${billableMetrics}, jsonb_array_elements(property_filters) as filter
  where ${IS_COUNTED} and (filter->'in_values' <> 'null' or filter->'not_in_values' <> 'null')`;

/**
 * The property names that decide which usage a contract bills, and at which price. Values named by balances and
 * overrides are not included: there may be a million of them, and these names are read every few seconds.
 */
const OF_TERMS = sql`
  select unnest(pricing_group_key) as name from ${productVersions}
  union select group_key from ${contractUsageFilters}`;

/** The property names by which alerts select usage. */
const OF_ALERTS = sql`
  select entry->>'key' as name from ${alerts}, jsonb_array_elements(filters->'groupValues') as entry
  where archived_at is null and ${inArray(alerts.type, alertTypesTaking('groupValues'))} and filters->'groupValues' <> '[]'
  union select filters->'seat'->>'groupKey' from ${alerts}
  where archived_at is null and ${inArray(alerts.type, alertTypesTaking('seatFilter'))}`;

/**
 * The properties that metrics aggregate, and those by which metrics, terms and alerts distinguish usage, without those
 * of SQL metrics. At most `QUANTITY_NAMES_MAX` names.
 */
export async function loadQuantityNames(db: Database): Promise<QuantityNames> {
  const names = async (found: SQL) => {
    const rows = await db.execute<{ name: string }>(
      sql`select distinct name from (${found}) as names where name is not null order by name limit ${QUANTITY_NAMES_MAX}`,
    );
    return rows.map(({ name }) => name);
  };
  const amounts = await names(AMOUNTS);
  const shapes = await names(sql`${OF_METRICS} union ${OF_TERMS} union ${OF_ALERTS}`);
  return { amounts, shapes };
}

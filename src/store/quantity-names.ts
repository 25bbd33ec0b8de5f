/** The properties of events that prices depend on, for those who estimate what events cost before they are rated. */
import { sql } from 'drizzle-orm';
import { QUANTITY_NAMES_MAX, type QuantityNames } from '../core/event-quantities.ts';
import type { Database } from './database.ts';
import { billableMetrics } from './schema/billable-metrics.ts';
import { productVersions } from './schema/products.ts';

/**
 * What metrics add up, and what their filters and the prices of products look at. Without those of SQL metrics. Of more
 * than `QUANTITY_NAMES_MAX` names the first.
 */
export async function loadQuantityNames(db: Database): Promise<QuantityNames> {
  const names = async (found: ReturnType<typeof sql>) => {
    const rows = await db.execute<{ name: string }>(
      sql`select distinct name from (${found}) as names where name is not null order by name limit ${QUANTITY_NAMES_MAX}`,
    );
    return rows.map(({ name }) => name);
  };
  const amounts = await names(sql`
    select aggregation_key as name from ${billableMetrics}
    where archived_at is null and aggregation in ('SUM', 'MAX', 'LATEST')`);
  const shapes = await names(sql`
    select filter->>'name' as name from ${billableMetrics}, jsonb_array_elements(property_filters) as filter
    where archived_at is null and (filter->'in_values' <> 'null' or filter->'not_in_values' <> 'null')
    union select unnest(pricing_group_key) from ${productVersions}`);
  return { amounts, shapes };
}

/**
 * The job that erases the events of a customer (docs/how-to/erasure.md). Events keep their ids, so that each still
 * counts once. Idempotent, so a killed process leaves a job that is repeated.
 */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { isUsageLine } from '../../core/invoice.ts';
import type { BillableMetric } from '../../core/metric.ts';
import type { Instant, Interval } from '../../core/time.ts';
import { eraseProperties, eraseRepeats, type KeptProperties } from '../../metering/events/erase-events.ts';
import type { SystemChange } from '../../store/access/system-changes.ts';
import type { Database } from '../../store/base/database.ts';
import { listInvoiceHeads } from '../../store/invoices/invoice-lists.ts';
import { loadInvoiceTerms } from '../../store/invoices/invoice-terms.ts';
import { loadInvoiceWarnings } from '../../store/invoices/invoice-warnings.ts';
import type { IssuedInvoice } from '../../store/invoices/invoices.ts';
import { withLines } from '../../store/invoices/whole-invoices.ts';
import type { Job, NewJob } from '../../store/jobs/jobs.ts';
import { loadMetrics } from '../../store/metrics/billable-metrics.ts';
import type { BillingContext } from '../billing-context.ts';

/** The kind of the job. */
export const ERASE_EVENTS_JOB = 'erase_events';

const payloadSchema = z.object({ customer_id: z.uuid(), refs: z.array(z.string()) });

/** Each has a separate key: a later one may include other aliases. */
export function eraseEventsJob(customerId: string, refs: readonly string[], runAt: Instant): NewJob {
  const payload = { customer_id: customerId, refs };
  return { kind: ERASE_EVENTS_JOB, key: `${customerId}:${randomUUID()}`, subject: null, runAt, payload };
}

export async function eraseEvents(context: BillingContext, jobs: readonly Job[]): Promise<void> {
  for (const { payload } of jobs) {
    const { customer_id: customerId, refs } = payloadSchema.parse(payload);
    const kept = await neededProperties(context.db, customerId);
    await eraseProperties(context.clickhouse, context.cluster, refs, kept);
    await eraseRepeats(context.clickhouse, context.cluster, refs);
    context.usageSource.forget();
  }
}

/** The change for the audit log. */
export function erasedChange({ payload }: Job): SystemChange {
  const { customer_id: resourceId } = payloadSchema.parse(payload);
  const description = 'Erase the properties of events';
  return { action: 'eraseEvents', resourceType: 'customer', resourceId, description };
}

/** More than any customer has. */
const INVOICES_MAX = 100_000;

/** The properties that explain the finalized usage invoices: those read by the metrics of their lines and warnings. */
async function neededProperties(db: Database, customerId: string): Promise<KeptProperties[]> {
  const heads = await listInvoiceHeads(
    db,
    { customerId, status: 'FINALIZED', type: 'USAGE' },
    { order: 'ascending', after: null, limit: INVOICES_MAX },
  );
  const kept: KeptProperties[] = [];
  for (const head of heads) {
    if (head.isHistorical) continue;
    for (const invoice of await withLines(db, [head])) kept.push(await keptFor(db, invoice));
  }
  return kept;
}

async function keptFor(db: Database, invoice: IssuedInvoice): Promise<KeptProperties> {
  const { frozen, period, lines } = invoice;
  const within: Interval = { start: period.countedFrom, end: period.end };
  if (frozen === null) return { within, names: [] };
  const { card, contract } = await loadInvoiceTerms(db, frozen);
  const warnings = (await loadInvoiceWarnings(db, [invoice.id], null)).get(invoice.id) ?? [];
  const shown = new Set([
    ...lines.flatMap((line) => (isUsageLine(line) ? [line.productId] : [])),
    ...warnings.flatMap((warning) => (warning.kind === 'unpriced_usage' ? [warning.productId] : [])),
  ]);
  const versions = card.products.flatMap(({ product }) => (shown.has(product.id) ? product.versions : []));
  const metrics = await loadMetrics(
    db,
    versions.flatMap(({ billableMetricId }) => billableMetricId ?? []),
  );
  const names = [...metrics.values()].map(propertiesOf);
  // It is unknown which properties a query reads.
  if (names.includes(null)) return { within, names: null };
  const filters = contract.usageFilters.map(({ groupKey }) => groupKey);
  return { within, names: [...new Set([...names.flatMap((some) => some ?? []), ...filters])] };
}

/** Null for all. A path into nested values (`a.b`) reads the property `a`, or one with the whole name. */
function propertiesOf(metric: BillableMetric): string[] | null {
  if (metric.kind === 'sql') return null;
  const { propertyFilters, aggregationKey, groupKeys } = metric;
  const names = [...propertyFilters.map(({ name }) => name), ...groupKeys.flat()];
  if (aggregationKey !== null) names.push(aggregationKey);
  return names.flatMap((name) => [...pathsInto(name)]);
}

function* pathsInto(name: string): Generator<string> {
  yield name;
  for (let at = name.lastIndexOf('.'); at > 0; at = name.lastIndexOf('.', at - 1)) yield name.slice(0, at);
}

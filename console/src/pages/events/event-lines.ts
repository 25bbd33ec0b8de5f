/** Which lines of which invoices an event is on: of products of its metrics, with its group values, at its time. */
import { call, callAll } from '../../api/client.ts';
import type { Schemas } from '../../api/operations.gen.d.ts';
import type { Invoice, Line } from '../invoice/line.ts';

type FoundEvent = Schemas['FoundEvent'];
type Product = Schemas['Product'];
export type Metric = FoundEvent['matched_billable_metrics'][number];

export interface EventLine {
  readonly invoice: Invoice;
  readonly line: Line;
  readonly metric: Metric;
  /** Whether the product converts or rounds quantities, so that the event has no separate amount. */
  readonly isConverted: boolean;
}

export interface EventBilling {
  readonly lines: readonly EventLine[];
  /** Invoices of the time of the event. */
  readonly invoices: readonly Invoice[];
  /** The warnings of these invoices about unbilled usage of the metrics of the event. */
  readonly warnings: readonly { readonly invoice: Invoice; readonly message: string }[];
}

export async function billingOf(event: FoundEvent, signal: AbortSignal): Promise<EventBilling> {
  const customer = event.matched_customer;
  if (customer === null) return { lines: [], invoices: [], warnings: [] };
  const [invoices, products] = await Promise.all([
    invoicesOf(customer.id, event, signal),
    callAll(
      'POST /v1/contract-pricing/products/list',
      { body: { archive_filter: 'ALL' }, query: { limit: '100' } },
      { signal },
    ),
  ]);
  const metrics = new Map(event.matched_billable_metrics.map((metric) => [metric.id, metric]));
  const counted = new Map(products.flatMap((product) => metricEntries(product, event.timestamp, metrics)));
  return {
    invoices,
    lines: invoices.flatMap((invoice) =>
      invoice.line_items.flatMap((line) => eventLine(invoice, line, event, counted)),
    ),
    warnings: invoices.flatMap((invoice) =>
      invoice.warnings
        .filter((warning) => isAbout(warning, event, counted))
        .map(({ message }) => ({ invoice, message })),
    ),
  };
}

/** Usage invoices and drafts of the customer whose period has the event. */
async function invoicesOf(customerId: string, event: FoundEvent, signal: AbortSignal): Promise<Invoice[]> {
  const params = { customer_id: customerId };
  const at = `'${new Date(event.timestamp).toISOString()}'`;
  const sql = `SELECT invoice_id FROM invoices WHERE customer_id = '${customerId}' AND type = 'USAGE'
    AND status = 'FINALIZED' AND start_timestamp <= ${at} AND end_timestamp > ${at}`;
  const [issued, drafts] = await Promise.all([
    call('POST /v1/sql', { body: { sql } }, signal),
    callAll(
      'GET /v1/customers/{customer_id}/invoices',
      { params, query: { status: 'DRAFT', type: 'USAGE', limit: '100' } },
      { signal },
    ),
  ]);
  const read = issued.data.map(async ({ invoice_id }) => {
    const path = { ...params, invoice_id: String(invoice_id) };
    return (await call('GET /v1/customers/{customer_id}/invoices/{invoice_id}', { params: path }, signal))
      .data;
  });
  return [...(await Promise.all(read)), ...drafts.filter((draft) => isWithin(draft, event))];
}

type Counted = ReadonlyMap<string, { readonly metric: Metric; readonly isConverted: boolean }>;

/** The product with the metric that it counts at an instant, where that counts the event. */
function metricEntries(
  product: Product,
  at: string,
  metrics: ReadonlyMap<string, Metric>,
): [string, { readonly metric: Metric; readonly isConverted: boolean }][] {
  let metricId = product.initial.billable_metric_id;
  let { quantity_conversion: conversion, quantity_rounding: rounding } = product.initial;
  for (const update of product.updates) {
    if (update.starting_at !== undefined && Date.parse(update.starting_at) > Date.parse(at)) continue;
    metricId = update.billable_metric_id ?? metricId;
    if (update.quantity_conversion !== undefined) conversion = update.quantity_conversion;
    if (update.quantity_rounding !== undefined) rounding = update.quantity_rounding;
  }
  const metric = metrics.get(metricId ?? '');
  const isConverted = (conversion ?? null) !== null || (rounding ?? null) !== null;
  return metric === undefined ? [] : [[product.id, { metric, isConverted }]];
}

function isWithin(
  { start_timestamp: start, end_timestamp: end }: Invoice,
  { timestamp }: FoundEvent,
): boolean {
  const at = Date.parse(timestamp);
  return start !== undefined && end !== undefined && Date.parse(start) <= at && at < Date.parse(end);
}

function eventLine(invoice: Invoice, line: Line, event: FoundEvent, counted: Counted): EventLine[] {
  const known = counted.get(line.product_id ?? '');
  if (line.type !== 'usage' || known === undefined) return [];
  const at = Date.parse(event.timestamp);
  const isBefore = line.starting_at !== undefined && at < Date.parse(line.starting_at);
  const isBehind = line.ending_before !== undefined && at >= Date.parse(line.ending_before);
  const values = { ...line.pricing_group_values, ...line.presentation_group_values };
  return isBefore || isBehind || !hasValues(event, values) ? [] : [{ invoice, line, ...known }];
}

/** Groups of a query are columns of it, which an event need not have. */
function hasValues({ properties }: FoundEvent, values: Readonly<Record<string, string>>): boolean {
  return Object.entries(values).every(
    ([key, value]) => properties[key] === undefined || properties[key] === value,
  );
}

function isAbout(warning: Invoice['warnings'][number], event: FoundEvent, counted: Counted): boolean {
  const { product_id: productId, transaction_ids: ids } = warning;
  if (ids?.includes(event.transaction_id)) return true;
  if (productId === undefined || !counted.has(productId)) return false;
  return hasValues(event, { ...warning.pricing_group_values, ...warning.presentation_group_values });
}

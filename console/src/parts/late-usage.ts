/** Usage that came after its invoice was issued, and that no invoice bills. */
import { call } from '../api/client.ts';
import type { Schemas } from '../api/operations.gen.d.ts';
import { type Interval, monthOfInvoice } from '../format/time.ts';

export interface LateInvoice {
  readonly invoiceId: string;
  readonly customerId: string;
  /** The month of the invoice: `2026-11` */
  readonly month: string;
  /** Null where it is not known, because events were removed. */
  readonly entries: readonly Schemas['UnbilledLateUsage'][] | null;
  readonly leftOut: number;
}

/** Each of them is read to learn what it misses; of more, the ones with most late events are. */
const INVOICES_MAX = 25;

/** Issued invoices of the months of the interval that miss usage. An end at its start is in the month before. */
export async function readLateInvoices(
  { starting_on, ending_before }: Interval,
  signal: AbortSignal,
): Promise<readonly LateInvoice[]> {
  const sql = `SELECT i.invoice_id AS invoice_id, i.customer_id AS customer_id, COUNT(DISTINCT e.transaction_id) AS late
    FROM events e JOIN invoices i ON e.customer_id = i.customer_id
    WHERE i.type = 'USAGE' AND i.status = 'FINALIZED' AND i.end_timestamp > '${starting_on}'
    AND i.end_timestamp <= '${ending_before}' AND e.timestamp >= i.start_timestamp
    AND e.timestamp < i.end_timestamp AND e.ingested_at > i.issued_at
    GROUP BY invoice_id, customer_id ORDER BY late DESC LIMIT ${INVOICES_MAX}`;
  const { data } = await call('POST /v1/sql', { body: { sql } }, signal);
  const read = data.map(async ({ invoice_id, customer_id }) => {
    const [invoiceId, customerId] = [String(invoice_id), String(customer_id)];
    const params = { customer_id: customerId, invoice_id: invoiceId };
    const invoice = await call('GET /v1/customers/{customer_id}/invoices/{invoice_id}', { params }, signal);
    const { unbilled_late_usage: entries = null, unbilled_late_usage_left_out: leftOut = '0' } = invoice.data;
    const month = monthOfInvoice(invoice.data);
    return { invoiceId, customerId, month, entries, leftOut: Number(leftOut) };
  });
  // An event that the invoice counted at the last moment is no late one.
  return (await Promise.all(read)).filter(({ entries }) => entries === null || entries.length > 0);
}

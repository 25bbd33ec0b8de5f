/** Usage that arrived after its invoice was issued, and that no invoice bills. */
import { callAll } from '../api/client.ts';
import type { Schemas } from '../api/operations.gen.d.ts';

export type LateInvoice = Schemas['LateInvoice'];

/** The issued invoices of a month with late usage. */
export function readLateInvoices(month: string, signal: AbortSignal): Promise<readonly LateInvoice[]> {
  return callAll('GET /v1/late-usage', { query: { month, limit: '25' } }, { signal });
}

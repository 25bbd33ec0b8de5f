/**
 * The rows of month end: one for each invoice of the month, with its change and the points that a person has to check.
 */
import Big from 'big.js';
import { callAll } from '../../api/client.ts';
import type { Schemas } from '../../api/operations.gen.d.ts';
import type { CreditType } from '../../format/money.ts';
import { type Interval, intervalOf, monthAfter } from '../../format/time.ts';
import { changeOf, type Reasons } from '../invoice/change.ts';

type Invoice = Schemas['Invoice'];

export interface MonthRow {
  readonly id: string;
  readonly customerId: string;
  readonly contractId: string;
  readonly customer: string;
  readonly status: string;
  readonly type: string;
  readonly number: string | undefined;
  readonly unit: CreditType;
  readonly total: Big;
  /** Null where the contract had no invoice in the month before. */
  readonly before: Big | null;
  /** The id of that invoice. */
  readonly beforeId: string | null;
  readonly reasons: Reasons | null;
  readonly warnings: readonly string[];
  readonly delivery: string | undefined;
}

export interface Month {
  readonly rows: readonly MonthRow[];
  /** The issued invoices. */
  readonly issued: readonly Invoice[];
  /** The issued invoices of the month before. */
  readonly former: readonly Invoice[];
}

/** Reads all invoices of the month, and those of the month before, which are compared with them. */
export async function readMonth(
  month: string,
  options: { readonly signal: AbortSignal; onProgress(invoices: number): void },
): Promise<Month> {
  const [interval, former] = [intervalOf(month), intervalOf(monthAfter(month, -1))];
  const counts = new Map<string, number>();
  const read = (status: string, of: Interval) =>
    callAll(
      'GET /v1/invoices',
      { query: { ...of, status, limit: '100' } },
      {
        signal: options.signal,
        onPage(items) {
          counts.set(`${status} ${of.starting_on}`, items);
          options.onProgress([...counts.values()].reduce((all, each) => all + each, 0));
        },
      },
    );
  const [issued, drafts, before] = await Promise.all([
    read('FINALIZED', interval),
    read('DRAFT', interval),
    read('FINALIZED', former),
  ]);
  const earlier = new Map(before.filter(isCompared).map((invoice) => [comparedKey(invoice), invoice]));
  const rows = [...drafts, ...issued].map((invoice) => rowOf(invoice, earlier.get(comparedKey(invoice))));
  return { rows, issued, former: before };
}

function isCompared({ type }: Invoice): boolean {
  return type !== 'SCHEDULED';
}

function comparedKey({ contract_id, type }: Invoice): string {
  return `${contract_id} ${type}`;
}

function rowOf(invoice: Invoice, earlier: Invoice | undefined): MonthRow {
  const compared = isCompared(invoice) ? earlier : undefined;
  return {
    id: invoice.id,
    customerId: invoice.customer_id,
    contractId: invoice.contract_id,
    customer: invoice.customer_name ?? invoice.customer_id,
    status: invoice.status,
    type: invoice.type,
    number: invoice.invoice_number,
    unit: invoice.credit_type,
    total: new Big(invoice.total),
    before: compared === undefined ? null : new Big(compared.total),
    beforeId: compared?.id ?? null,
    reasons: compared === undefined ? null : changeOf(invoice, compared),
    warnings: invoice.warnings.map(({ message }) => message),
    delivery: deliveryOf(invoice),
  };
}

/** The state that a billing provider tells of the invoice. */
function deliveryOf({ external_invoice: external }: Invoice): string | undefined {
  if (external === null) return undefined;
  const status = 'external_status' in external ? external.external_status : undefined;
  return typeof status === 'string' ? status : 'sent';
}

/** The largest reason of a change, in words. */
export function mainReason(reasons: Reasons): string {
  const named = Object.entries({
    price: reasons.price,
    volume: reasons.volume,
    mix: reasons.mix,
    terms: reasons.terms,
  }).sort(([, a], [, b]) => b.abs().cmp(a.abs()));
  const [[name, amount] = ['', new Big(0)]] = named;
  return amount.eq(0) ? '' : name;
}

/**
 * The rows of month end: one for each invoice of the month, with its change and the points that a person has to check.
 */
import Big from 'big.js';
import { call, callAll } from '../../api/client.ts';
import type { Schemas } from '../../api/operations.gen.d.ts';
import type { CreditType } from '../../format/money.ts';
import { monthAfter } from '../../format/time.ts';
import { changeOf, type Reasons } from '../invoice/change.ts';

type Invoice = Schemas['Invoice'];

/**
 * Whether the amount of an invoice is in the sums: that of a voided one is not, nor that of a consolidated one, which
 * repeats other invoices of the month.
 */
type Part = 'counted' | 'void' | 'repeated';

export interface MonthRow {
  readonly id: string;
  readonly customerId: string;
  readonly contractId: string;
  readonly customer: string;
  readonly status: string;
  readonly type: string;
  readonly number: string | undefined;
  /** Undefined for a scheduled invoice. */
  readonly period: { readonly start: string; readonly end: string } | undefined;
  readonly unit: CreditType;
  readonly part: Part;
  /** The total of the invoice, even if it counts in no sum. */
  readonly amount: Big;
  /** The amount that counts in the sums: zero if the invoice counts in none. */
  readonly total: Big;
  /** The amount of the invoice of the month before that stands beside it; null: there is none. */
  readonly before: Big | null;
  /** The id of that invoice. */
  readonly beforeId: string | null;
  /** Whether the contract had fewer invoices in the month before, all of which stand beside other rows. */
  readonly isFurther: boolean;
  readonly reasons: Reasons | null;
  readonly warnings: readonly string[];
  readonly delivery: string | undefined;
}

export interface Month {
  readonly rows: readonly MonthRow[];
  /** The invoices that are no drafts. */
  readonly issued: readonly Invoice[];
  /** The invoices that the sum of the month before has. */
  readonly former: readonly Invoice[];
}

/** More pages without a draft are not read to learn whether a month has one. */
const EMPTY_PAGES_MAX = 30;

/**
 * The month that is opened: the last one, else the one that is running, else the next one, in which the period of a
 * draft may end. The last one when all are empty.
 */
export async function monthToOpen(running: string, signal: AbortSignal): Promise<string> {
  const last = monthAfter(running, -1);
  for (const month of [last, running, monthAfter(running, 1)]) {
    if ((await hasAny({ month }, signal)) || (await hasAny({ month, status: 'DRAFT' }, signal))) return month;
  }
  return last;
}

async function hasAny(
  filter: { readonly month: string; readonly status?: 'DRAFT' },
  signal: AbortSignal,
): Promise<boolean> {
  let next: { next_page?: string } = {};
  for (let page = 0; page < EMPTY_PAGES_MAX; page++) {
    const { data, next_page } = await call(
      'GET /v1/invoices',
      { query: { ...filter, ...next, limit: '1' } },
      signal,
    );
    if (data.length > 0) return true;
    if (next_page === null) return false;
    next = { next_page };
  }
  return true;
}

/** Reads all invoices of the month, and those of the month before, which are compared with them. */
export async function readMonth(
  month: string,
  options: { readonly signal: AbortSignal; onProgress(invoices: number): void },
): Promise<Month> {
  const counts = new Map<string, number>();
  const read = (query: { readonly month: string; readonly status?: 'DRAFT' }) =>
    callAll(
      'GET /v1/invoices',
      { query: { ...query, limit: '100' } },
      {
        signal: options.signal,
        onPage(items) {
          counts.set(JSON.stringify(query), items);
          options.onProgress([...counts.values()].reduce((all, each) => all + each, 0));
        },
      },
    );
  const before = monthAfter(month, -1);
  const [issued, drafts, formerIssued, formerDrafts] = await Promise.all([
    read({ month }),
    read({ month, status: 'DRAFT' }),
    read({ month: before }),
    read({ month: before, status: 'DRAFT' }),
  ]);
  const former = [...formerIssued, ...formerDrafts].filter((invoice) => partOf(invoice) === 'counted');
  return { rows: rowsOf([...drafts, ...issued], former), issued, former };
}

function partOf({ status, type }: Pick<Invoice, 'status' | 'type'>): Part {
  if (status === 'VOID') return 'void';
  return type === 'USAGE_CONSOLIDATED' ? 'repeated' : 'counted';
}

/** A row for each invoice. An invoice of the month before stands beside one of them at most. */
export function rowsOf(invoices: readonly Invoice[], former: readonly Invoice[]): MonthRow[] {
  const earlier = byContract(former);
  const pairs = new Map<string, Invoice | undefined>();
  for (const [key, own] of byContract(invoices.filter((invoice) => partOf(invoice) === 'counted'))) {
    own.forEach((invoice, at) => void pairs.set(invoice.id, earlier.get(key)?.[at]));
  }
  return invoices.map((invoice) => {
    const isFurther = pairs.has(invoice.id) && earlier.has(contractKey(invoice));
    return rowOf(invoice, pairs.get(invoice.id), isFurther);
  });
}

/** Usage invoices by contract and currency, in the order of their periods: the first one of each month is compared. */
function byContract(invoices: readonly Invoice[]): Map<string, Invoice[]> {
  const all = new Map<string, Invoice[]>();
  for (const invoice of invoices) {
    if (invoice.type === 'SCHEDULED') continue;
    const own = all.get(contractKey(invoice)) ?? [];
    all.set(contractKey(invoice), own);
    own.push(invoice);
  }
  const orderOf = ({ end_timestamp = '', start_timestamp = '', id }: Invoice) =>
    `${end_timestamp} ${start_timestamp} ${id}`;
  for (const own of all.values()) own.sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
  return all;
}

function contractKey({ contract_id, credit_type }: Invoice): string {
  return `${contract_id} ${credit_type.id}`;
}

function rowOf(invoice: Invoice, earlier: Invoice | undefined, isFurther: boolean): MonthRow {
  const { start_timestamp: start, end_timestamp: end } = invoice;
  const [part, amount] = [partOf(invoice), new Big(invoice.total)];
  return {
    id: invoice.id,
    customerId: invoice.customer_id,
    contractId: invoice.contract_id,
    customer: invoice.customer_name ?? invoice.customer_id,
    status: invoice.status,
    type: invoice.type,
    number: invoice.invoice_number,
    period: start === undefined || end === undefined ? undefined : { start, end },
    unit: invoice.credit_type,
    part,
    amount,
    total: part === 'counted' ? amount : new Big(0),
    before: earlier === undefined ? null : new Big(earlier.total),
    beforeId: earlier?.id ?? null,
    isFurther: isFurther && earlier === undefined,
    reasons: earlier === undefined ? null : changeOf(invoice, earlier),
    warnings: part === 'counted' ? invoice.warnings.map(({ message }) => message) : [],
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

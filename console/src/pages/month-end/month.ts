/** The rows of month end: one for each invoice of the month, with its change and the points to check. */
import Big from 'big.js';
import { type AnswerOf, call } from '../../api/client.ts';
import type { CreditType } from '../../format/money.ts';
import { monthAfter } from '../../format/time.ts';

type Answer = AnswerOf<'GET /v1/month-end/{month}'>;
type Contract = Answer['data'][number];
type Invoice = Contract['invoices'][number];
export type MonthSummary = Answer['summary'];
type Reasons = NonNullable<Invoice['reasons']>;

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
  readonly part: Invoice['part'];
  /** The total of the invoice, even if it counts in no sum. */
  readonly amount: Big;
  /** The amount that counts in the sums: zero if the invoice counts in none. */
  readonly total: Big;
  /** The amount of the invoice of the month before that stands beside it; null: there is none. */
  readonly before: Big | null;
  /** Against that invoice; without one it is the total. */
  readonly change: Big;
  /** Whether the contract had fewer invoices in the month before, all of which stand beside other rows. */
  readonly isFurther: boolean;
  readonly reasons: Reasons | undefined;
  readonly warnings: readonly string[];
  readonly delivery: string | undefined;
  /** Events of the customer this month, and in the same days of the month before; undefined: events were removed. */
  readonly events: { readonly now: number; readonly before: number } | undefined;
  readonly isUsageMissing: boolean;
}

interface Month {
  readonly rows: readonly MonthRow[];
  readonly summary: MonthSummary;
}

/** The maximum pages without a draft that are read to find out whether a month has one. */
const EMPTY_PAGES_MAX = 30;

/**
 * The initial month: the last one, else the current one, else the next one, in which the period of a draft may end. The
 * last one if all are empty.
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

/** A month with more pages is shown as far as it was read. */
const PAGES_MAX = 2_000;
const CONTRACTS_PER_PAGE = '100';

/** Reads the month page by page. The sums of the last page are those of the month. */
export async function readMonth(
  month: string,
  options: { readonly signal: AbortSignal; onProgress(invoices: number): void },
): Promise<Month> {
  const rows: MonthRow[] = [];
  let cursor: { readonly next_page?: string } = {};
  for (let page = 1; ; page++) {
    const query = { ...cursor, limit: CONTRACTS_PER_PAGE };
    const answer = await call('GET /v1/month-end/{month}', { params: { month }, query }, options.signal);
    for (const contract of answer.data) rows.push(...rowsOf(contract));
    options.onProgress(rows.length);
    if (answer.next_page === null || page === PAGES_MAX) return { rows, summary: answer.summary };
    cursor = { next_page: answer.next_page };
  }
}

function rowsOf(contract: Contract): MonthRow[] {
  const { customer_id: customerId, contract_id: contractId, customer_name: name, events } = contract;
  const own = {
    ...{ customerId, contractId, customer: name ?? customerId, isUsageMissing: contract.is_usage_missing },
    events:
      events === undefined ? undefined : { now: Number(events), before: Number(contract.events_before) },
  };
  return contract.invoices.map((invoice) => ({ ...own, ...rowOf(invoice) }));
}

function rowOf(invoice: Invoice) {
  const { start_timestamp: start, end_timestamp: end, former_invoice: former, part } = invoice;
  const amount = new Big(invoice.total);
  const total = part === 'counted' ? amount : new Big(0);
  return {
    ...{ id: invoice.id, status: invoice.status, type: invoice.type, number: invoice.invoice_number },
    period: start === undefined || end === undefined ? undefined : { start, end },
    ...{ unit: invoice.credit_type, part, amount, total },
    before: former === undefined ? null : new Big(former.total),
    change: invoice.change === undefined ? total : new Big(invoice.change),
    ...{ isFurther: invoice.is_further, reasons: invoice.reasons, warnings: invoice.warnings },
    delivery: invoice.external_status,
  };
}

/** The largest reason of a change, in words. */
export function mainReason(reasons: Reasons): string {
  const named = Object.entries({
    price: reasons.price_change,
    volume: reasons.volume_change,
    mix: reasons.mix_change,
    terms: reasons.terms_change,
  })
    .map(([name, amount]) => [name, new Big(amount)] as const)
    .sort(([, a], [, b]) => b.abs().cmp(a.abs()));
  const [[name, amount] = ['', new Big(0)]] = named;
  return amount.eq(0) ? '' : name;
}

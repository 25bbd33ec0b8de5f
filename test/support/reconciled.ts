/** Reconciliation through the API: all pages, with differences as text. */
import type { ApiAnswer, ApiClient } from './api-client.ts';

export interface Reconciled {
  readonly customers: readonly string[];
  readonly invoices: number;
  /** `hours quantity 10 → 9, line 2 "Tokens" 2026-11-03T10` */
  readonly differences: readonly string[];
  /** `Tokens 7 = 14` */
  readonly late: readonly string[];
  readonly unchecked: readonly string[];
  readonly pages: number;
}

export interface ReconcileQuery {
  readonly starting_on: string;
  readonly ending_before: string;
  readonly customer_id?: string;
}

export async function reconcile(api: ApiClient, body: ReconcileQuery, limit = 100): Promise<Reconciled> {
  const found = {
    customers: [] as string[],
    differences: [] as string[],
    late: [] as string[],
    unchecked: [] as string[],
  };
  let [invoices, pages] = [0, 0];
  let next: string | null = null;
  do {
    const query = { limit, ...(next === null ? {} : { next_page: next }) };
    const answer: ApiAnswer = await api.post('/v1/invoices/reconcile', body, { query });
    pages += 1;
    for (const index of answer.list('data').keys()) {
      const row = `data[${index}]`;
      found.customers.push(answer.text(`${row}.customer_id`));
      invoices += Number(answer.digits(`${row}.invoice_count`));
      for (const at of answer.list(`${row}.differences`).keys())
        found.differences.push(differenceText(answer, `${row}.differences[${at}]`));
      for (const at of answer.list(`${row}.late_usage`).keys())
        found.late.push(lateText(answer, `${row}.late_usage[${at}]`));
      for (const at of answer.list(`${row}.unchecked`).keys())
        found.unchecked.push(answer.text(`${row}.unchecked[${at}].reason`));
    }
    const cursor = answer.at('next_page');
    next = typeof cursor === 'string' ? cursor : null;
  } while (next !== null);
  return { ...found, invoices, pages };
}

function differenceText(answer: ApiAnswer, path: string): string {
  const at = (name: string) => answer.at(`${path}.${name}`);
  const line =
    at('line_number') === undefined ? '' : `, line ${at('line_number')} ${JSON.stringify(at('line_name'))}`;
  const start = at('starting_at');
  const time = start === undefined ? '' : ` ${String(start).slice(0, 13)}`;
  const numbers =
    at('field') === undefined ? '' : ` ${at('field')} ${at('expected') ?? 'none'} → ${at('found') ?? 'none'}`;
  return `${answer.text(`${path}.code`)}${numbers}${line}${time}`;
}

function lateText(answer: ApiAnswer, path: string): string {
  const total = answer.at(`${path}.total`);
  const price = total === undefined ? '' : ` = ${total}`;
  return `${answer.text(`${path}.product_name`)} ${answer.digits(`${path}.quantity`)}${price}`;
}

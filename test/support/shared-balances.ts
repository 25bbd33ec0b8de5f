/** Families that share balances, and what their invoices and ledgers say of them. */
import type { ApiAnswer, ApiClient } from './api-client.ts';
import { createdId, PRODUCTS } from './catalogue-api.ts';
import type { Member } from './hierarchies.ts';

/** Children that pay for themselves, on separate statements. */
export const APART = { hierarchy: { payer: 'SELF', usage_statement_behavior: 'SEPARATE' } };

export const ALL = { hierarchy_configuration: { child_access: { type: 'ALL' } } };

export function sharedWith(...contract_ids: string[]) {
  return { hierarchy_configuration: { child_access: { type: 'CONTRACT_IDS', contract_ids } } };
}

let products = 0;

export function commitProduct(api: ApiClient): Promise<string> {
  products += 1;
  return createdId(api, PRODUCTS, { name: `Balance ${products}`, type: 'FIXED' });
}

export interface Access {
  readonly starting_at: string;
  readonly ending_before: string;
}

/** A prepaid commit that costs nothing. */
export function prepaid(
  product_id: string,
  amount: number,
  access: Access,
  terms: Record<string, unknown> = {},
) {
  return {
    ...{ product_id, type: 'PREPAID', priority: 1 },
    access_schedule: { schedule_items: [{ amount, ...access }] },
    ...terms,
  };
}

/** `DRAFT 2026-01 pays 4, covered 6` for each usage invoice of the customer, by its start. */
export async function bills(
  api: ApiClient,
  { customerId }: Pick<Member, 'customerId'>,
  query: Record<string, string> = {},
): Promise<string[]> {
  const answer = await api.get(`/v1/customers/${customerId}/invoices`, {
    query: { limit: 100, sort: 'date_asc', type: 'USAGE', ...query },
  });
  return answer.list('data').map((_, index) => billText(answer, `data[${index}]`));
}

/** The same of one invoice, as it is read alone. */
export async function bill(
  api: ApiClient,
  { customerId }: Pick<Member, 'customerId'>,
  id: string,
): Promise<string> {
  return billText(await api.get(`/v1/customers/${customerId}/invoices/${id}`), 'data');
}

function billText(answer: ApiAnswer, path: string): string {
  const start = answer.text(`${path}.start_timestamp`).slice(0, 7);
  const applied = answer
    .list(`${path}.line_items`)
    .map((_, line) => `${path}.line_items[${line}]`)
    .filter((line) => answer.at(`${line}.type`) === 'applied_commit_or_credit')
    .map((line) => -Number(answer.digits(`${line}.total`)))
    .reduce((sum, one) => sum + one, 0);
  return `${answer.text(`${path}.status`)} ${start} pays ${answer.digits(`${path}.total`)}, covered ${applied}`;
}

/** The ids of the balances that pay for something on the customer's usage invoices. */
export async function payers(api: ApiClient, { customerId }: Pick<Member, 'customerId'>): Promise<string[]> {
  const answer = await api.get(`/v1/customers/${customerId}/invoices`, {
    query: { limit: 100, type: 'USAGE' },
  });
  const lines = answer.list('data') as { readonly line_items: readonly { readonly commit_id?: string }[] }[];
  return [
    ...new Set(lines.flatMap(({ line_items }) => line_items.flatMap(({ commit_id }) => commit_id ?? []))),
  ];
}

export interface ShownBalance {
  readonly id: string;
  readonly balance: string;
  /** `deduction -6 child-contract`, in the order of the ledger. */
  readonly ledger: readonly string[];
}

/** The balances of the customer and of its contracts. */
export async function balances(
  api: ApiClient,
  { customerId }: Pick<Member, 'customerId'>,
  nameOf: (contractId: string) => string = () => '',
): Promise<ShownBalance[]> {
  const answer = await api.post('/v1/contracts/customerBalances/list', {
    customer_id: customerId,
    ...{ include_ledgers: true, include_balance: true, include_contract_balances: true },
  });
  return answer.list('data').map((_, index) => ({
    id: answer.text(`data[${index}].id`),
    balance: answer.digits(`data[${index}].balance`),
    ledger: answer.list(`data[${index}].ledger`).map((entry, at) => {
      const { type, contract_id } = entry as { readonly type: string; readonly contract_id?: string };
      const kind = type.replace(/^(PREPAID_COMMIT|POSTPAID_COMMIT|CREDIT)_/, '');
      const amount = answer.digits(`data[${index}].ledger[${at}].amount`);
      return [kind, amount, contract_id === undefined ? '' : nameOf(contract_id)].join(' ').trim();
    }),
  }));
}

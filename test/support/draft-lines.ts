import type { ApiClient } from './api-client.ts';

/** Name, quantity, unit price and total of each line of usage on the first draft of a customer. */
export async function linesOf(api: ApiClient, customerId: string): Promise<string[][]> {
  const answer = await api.get(`/v1/customers/${customerId}/invoices`, { query: { status: 'DRAFT' } });
  return answer
    .list('data[0].line_items')
    .map((_, index) => `data[0].line_items[${index}]`)
    .filter((line) => answer.at(`${line}.type`) === 'usage')
    .map((line) =>
      ['name', 'quantity', 'unit_price', 'total'].map((name) => String(answer.at(`${line}.${name}`))),
    );
}

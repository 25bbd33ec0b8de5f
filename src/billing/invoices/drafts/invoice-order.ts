/** The order of invoices in lists: by issue date and id. */
import type { Instant } from '../../../core/time.ts';
import type { InvoicePageRequest } from '../../../store/invoices/invoice-lists.ts';

/** The position of an invoice in lists. A draft has its expected issue date. */
export interface Placed {
  readonly id: string;
  readonly issuedAt: Instant;
}

type Comparison = (a: Placed, b: Placed) => number;

export function byPosition(order: InvoicePageRequest['order']): Comparison {
  const sign = order === 'ascending' ? 1 : -1;
  return (a, b) => sign * (a.issuedAt - b.issuedAt || (a.id < b.id ? -1 : Number(a.id > b.id)));
}

export function isBeyond(place: Placed, { after, order }: InvoicePageRequest): boolean {
  return after === null || byPosition(order)(place, { issuedAt: after.at, id: after.id }) > 0;
}

/** The months of issued invoices, and their lists by time: the SQL form of core/invoice-month.ts. */
import { and, gte, lt, lte, ne, or, type SQL, sql } from 'drizzle-orm';
import type { InvoiceTimeFilter } from '../../core/invoice-month.ts';
import { formatInstant } from '../../core/time.ts';
import { invoiceMonth, invoices } from './invoices.tables.ts';

export function timeConditions({ startingOn, endingBefore, month }: InvoiceTimeFilter): (SQL | undefined)[] {
  const { type, periodStart, periodEnd } = invoices;
  return [
    startingOn === undefined ? undefined : gte(periodStart, startingOn),
    endingBefore === undefined
      ? undefined
      : and(lte(periodEnd, endingBefore), or(ne(type, 'SCHEDULED'), lt(periodEnd, endingBefore))),
    // Equal to an expression that is indexed with the order of lists.
    month === undefined
      ? undefined
      : sql`${invoiceMonth(invoices)} = ${formatInstant(month).slice(0, -1)}::timestamp`,
  ];
}

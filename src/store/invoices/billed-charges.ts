/** Which charges of subscriptions are on issued invoices, voided ones included. */
import { and, eq, inArray, ne, sql } from 'drizzle-orm';
import { assert } from '../../core/errors.ts';
import type { BilledCharge } from '../../core/terms/subscriptions.ts';
import type { Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { invoicedItems, invoiceLineItems } from './invoices.tables.ts';

/** The charges on all invoices except `exceptInvoiceId`. A charge that balances partly pay has several lines. */
export async function loadBilledCharges(
  db: Database | Transaction,
  subscriptionIds: readonly string[],
  exceptInvoice: string | null = null,
): Promise<BilledCharge[]> {
  if (subscriptionIds.length === 0) return [];
  const { scheduleItemId, sourceId, startingAt, endingBefore, quantity, type } = invoiceLineItems;
  const rows = await db
    .select({
      id: invoicedItems.itemId,
      subscriptionId: sourceId,
      startingAt,
      endingBefore,
      quantity: sql`sum(${quantity})`.mapWith(quantity),
    })
    .from(invoiceLineItems)
    .innerJoin(
      invoicedItems,
      and(eq(invoicedItems.itemId, scheduleItemId), eq(invoicedItems.invoiceId, invoiceLineItems.invoiceId)),
    )
    .where(
      and(
        eq(type, 'subscription'),
        inArray(sourceId, [...subscriptionIds]),
        exceptInvoice === null ? undefined : ne(invoicedItems.invoiceId, exceptInvoice),
      ),
    )
    .groupBy(invoicedItems.itemId, sourceId, startingAt, endingBefore);
  return rows.map(({ id, subscriptionId, startingAt: start, endingBefore: end, quantity: billed }) => {
    assert(subscriptionId !== null, 'a line of a subscription names it');
    return { id, subscriptionId, interval: { start, end }, quantity: billed };
  });
}

/** A charge on an invoice, with its start. */
export interface ChargeStart {
  readonly id: string;
  readonly subscriptionId: string;
  readonly startingAt: Instant;
}

/** The charges on an issued invoice, without duplicates. */
export async function loadChargeStarts(
  db: Database | Transaction,
  invoiceId: string,
): Promise<ChargeStart[]> {
  const { scheduleItemId, sourceId, startingAt, type } = invoiceLineItems;
  const rows = await db
    .selectDistinct({ id: scheduleItemId, subscriptionId: sourceId, startingAt })
    .from(invoiceLineItems)
    .where(and(eq(invoiceLineItems.invoiceId, invoiceId), eq(type, 'subscription')));
  return rows.map(({ id, subscriptionId, startingAt: start }) => {
    assert(id !== null && subscriptionId !== null, 'a line of a subscription names its charge');
    return { id, subscriptionId, startingAt: start };
  });
}

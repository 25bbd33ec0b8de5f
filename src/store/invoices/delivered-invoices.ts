/** Issued invoices that are sent to billing providers, in the order of their issue. */
import { and, asc, eq, gt, gte, lt, min, or } from 'drizzle-orm';
import type { KeysetPosition } from '../../core/paging.ts';
import type { Instant, Interval } from '../../core/time.ts';
import type { Database } from '../base/database.ts';
import { invoiceDeliveries } from './invoice-deliveries.tables.ts';
import { type Delivery, deliveryFromRow } from './invoice-deliveries.ts';
import { invoices } from './invoices.tables.ts';
import { type IssuedHead, invoiceFromRow } from './invoices.ts';

export interface DeliveredInvoice {
  readonly invoice: IssuedHead;
  readonly delivery: Delivery;
}

interface DeliveredFilter {
  /** The range of issue dates. */
  readonly range: Interval;
  /** Null: all customers. */
  readonly customerId: string | null;
}

/** Invoices after `after`, at most `limit`. */
export async function listDelivered(
  db: Database,
  filter: DeliveredFilter,
  { after, limit }: { readonly after: KeysetPosition | null; readonly limit: number },
): Promise<DeliveredInvoice[]> {
  const rows = await db
    .select({ invoice: invoices, delivery: invoiceDeliveries })
    .from(invoices)
    .innerJoin(invoiceDeliveries, eq(invoiceDeliveries.invoiceId, invoices.id))
    .where(
      and(
        isInside(filter),
        after === null
          ? undefined
          : or(
              gt(invoices.issuedAt, after.at),
              and(eq(invoices.issuedAt, after.at), gt(invoices.id, after.id)),
            ),
      ),
    )
    .orderBy(asc(invoices.issuedAt), asc(invoices.id))
    .limit(limit);
  return rows.map(({ invoice, delivery }) => ({
    invoice: invoiceFromRow(invoice),
    delivery: deliveryFromRow(delivery),
  }));
}

/** When the first of them was sent to its provider, in real time; null: none was. */
export async function firstMappedAt(db: Database, filter: DeliveredFilter): Promise<Instant | null> {
  const [row] = await db
    .select({ at: min(invoiceDeliveries.mappedAt) })
    .from(invoices)
    .innerJoin(invoiceDeliveries, eq(invoiceDeliveries.invoiceId, invoices.id))
    .where(isInside(filter));
  return row?.at ?? null;
}

function isInside({ range, customerId }: DeliveredFilter) {
  return and(
    gte(invoices.issuedAt, range.start),
    lt(invoices.issuedAt, range.end),
    customerId === null ? undefined : eq(invoices.customerId, customerId),
  );
}

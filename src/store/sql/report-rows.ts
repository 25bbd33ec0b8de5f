/** Rows of all customers, or of some, in the order of their ids, for queries across customers. */

import { and, asc, eq, gt, inArray, ne, notExists, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import { assert } from '../../core/errors.ts';
import type { ExternalInvoice } from '../../core/external-invoice.ts';
import type { Hold } from '../../core/hold.ts';
import type { Database, Transaction } from '../base/database.ts';
import { contracts } from '../contracts/contracts.tables.ts';
import { customers, ingestAliases } from '../customers/customers.tables.ts';
import { holds } from '../holds/holds.tables.ts';
import { invoiceDeliveries } from '../invoices/invoice-deliveries.tables.ts';
import { deliveryFromRow } from '../invoices/invoice-deliveries.ts';
import { invoiceNumbers } from '../invoices/invoice-numbers.tables.ts';
import { invoices } from '../invoices/invoices.tables.ts';
import { type IssuedHead, invoiceFromRow } from '../invoices/invoices.ts';

/** The rows after `after`, at most `limit`; `customerIds` null: all customers. */
export interface ReportPart {
  readonly customerIds: readonly string[] | null;
  readonly after: string | null;
  readonly limit: number;
}

type Reader = Database | Transaction;

export async function reportCustomers(db: Reader, { customerIds, after, limit }: ReportPart) {
  return db
    .select({
      id: customers.id,
      name: customers.name,
      createdAt: customers.createdAt,
      archivedAt: customers.archivedAt,
      country: sql<string | null>`${customers.billingAddress} ->> 'country'`,
    })
    .from(customers)
    .where(
      and(
        customerIds === null ? undefined : inArray(customers.id, [...customerIds]),
        after === null ? undefined : gt(customers.id, after),
      ),
    )
    .orderBy(asc(customers.id))
    .limit(limit);
}

/** References of events with their customers, written by PostgreSQL: there may be hundreds of thousands. */
export interface ReportOwners {
  /** A line for each reference, `reference TAB customer`, with the escapes of `TabSeparated`. */
  readonly lines: string;
  readonly count: number;
  /** The number of characters of the references. */
  readonly characters: number;
  /** The position after which the next part begins; null if there is nothing. */
  readonly last: string | null;
}

/** The owners of ingest aliases, in the order of the aliases. */
export async function reportAliasOwners(
  db: Reader,
  { customerIds, after, limit }: ReportPart,
): Promise<ReportOwners> {
  const rows = db
    .select({ ref: ingestAliases.alias, owner: ingestAliases.customerId })
    .from(ingestAliases)
    .where(
      and(
        customerIds === null ? undefined : inArray(ingestAliases.customerId, [...customerIds]),
        after === null ? undefined : gt(ingestAliases.alias, after),
      ),
    )
    .orderBy(asc(ingestAliases.alias))
    .limit(limit);
  return ownersIn(db, rows.getSQL());
}

/** The owners of the ids of customers, in the order of the ids. An id that is also an alias is left out. */
export async function reportIdOwners(
  db: Reader,
  { customerIds, after, limit }: ReportPart,
): Promise<ReportOwners> {
  const reference = sql<string>`${customers.id}::text`;
  const rows = db
    .select({ ref: reference.as('ref'), owner: customers.id })
    .from(customers)
    .where(
      and(
        customerIds === null ? undefined : inArray(customers.id, [...customerIds]),
        after === null ? undefined : gt(customers.id, after),
        notExists(
          db
            .select({ alias: ingestAliases.alias })
            .from(ingestAliases)
            .where(eq(ingestAliases.alias, reference)),
        ),
      ),
    )
    .orderBy(asc(customers.id))
    .limit(limit);
  return ownersIn(db, rows.getSQL());
}

/** Characters that `TabSeparated` writes with a backslash, the backslash first. Texts of PostgreSQL have no character 0. */
const ESCAPED = [
  ['\\', '\\\\'],
  ['\t', '\\t'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\b', '\\b'],
  ['\f', '\\f'],
] as const;

const OWNERS = z
  .array(
    z.object({ lines: z.string(), count: z.number(), characters: z.number(), last: z.string().nullable() }),
  )
  .length(1);

/** `rows` has `ref` and `owner`, in order. PostgreSQL aggregates them in the order in which it reads them. */
async function ownersIn(db: Reader, rows: SQL): Promise<ReportOwners> {
  const escaped = ESCAPED.reduce((text, [from, to]) => sql`replace(${text}, ${from}, ${to})`, sql`ref`);
  const read = await db.execute(sql`
    select coalesce(string_agg(${escaped} || E'\t' || owner::text || E'\n', ''), '') as lines,
           count(*)::int as count,
           coalesce(sum(length(ref)), 0)::int as characters,
           (array_agg(ref))[count(*)] as last
    from (${rows}) as owned (ref, owner)`);
  const [owners] = OWNERS.parse(read);
  assert(owners !== undefined, 'an aggregate has a row');
  return owners;
}

export async function reportContracts(db: Reader, { customerIds, after, limit }: ReportPart) {
  return db
    .select({
      id: contracts.id,
      customerId: contracts.customerId,
      name: contracts.name,
      rateCardId: contracts.rateCardId,
      startingAt: contracts.startingAt,
      endingBefore: contracts.endingBefore,
      archivedAt: contracts.archivedAt,
    })
    .from(contracts)
    .where(
      and(
        customerIds === null ? undefined : inArray(contracts.customerId, [...customerIds]),
        after === null ? undefined : gt(contracts.id, after),
      ),
    )
    .orderBy(asc(contracts.id))
    .limit(limit);
}

export async function reportHolds(db: Reader, { customerIds, after, limit }: ReportPart): Promise<Hold[]> {
  return db
    .select()
    .from(holds)
    .where(
      and(
        customerIds === null ? undefined : inArray(holds.customerId, [...customerIds]),
        after === null ? undefined : gt(holds.id, after),
      ),
    )
    .orderBy(asc(holds.id))
    .limit(limit);
}

/**
 * Issued invoices without their lines, their numbers, and their state at billing providers. Without consolidated ones,
 * which repeat others.
 */
export async function reportInvoices(
  db: Reader,
  { customerIds, after, limit }: ReportPart,
): Promise<
  Array<IssuedHead & { readonly number: string | null; readonly external: ExternalInvoice | null }>
> {
  const rows = await db
    .select({ invoice: invoices, number: invoiceNumbers.number, delivery: invoiceDeliveries })
    .from(invoices)
    .leftJoin(invoiceNumbers, eq(invoiceNumbers.invoiceId, invoices.id))
    .leftJoin(invoiceDeliveries, eq(invoiceDeliveries.invoiceId, invoices.id))
    .where(
      and(
        ne(invoices.type, 'USAGE_CONSOLIDATED'),
        customerIds === null ? undefined : inArray(invoices.customerId, [...customerIds]),
        after === null ? undefined : gt(invoices.id, after),
      ),
    )
    .orderBy(asc(invoices.id))
    .limit(limit);
  return rows.map(({ invoice, number, delivery }) => ({
    ...invoiceFromRow(invoice),
    number,
    external: delivery === null ? null : deliveryFromRow(delivery).external,
  }));
}

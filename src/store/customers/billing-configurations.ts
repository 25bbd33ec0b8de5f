/** Customers' billing configurations: where the invoices of their contracts go. */
import { and, asc, eq, isNull } from 'drizzle-orm';
import { z } from 'zod';
import type { BillingProvider, DeliveryMethod, TaxProvider } from '../../core/billing-providers.ts';
import type { Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { isOneOf } from '../base/is-one-of.ts';
import { customerBillingConfigurations } from './customers.tables.ts';

export interface BillingConfiguration {
  readonly id: string;
  readonly customerId: string;
  readonly billingProvider: BillingProvider;
  readonly deliveryMethod: DeliveryMethod;
  /** The service's own connection that it goes through; null where it has none to this provider. */
  readonly connectionId: string | null;
  readonly taxProvider: TaxProvider | null;
  readonly configuration: Readonly<Record<string, unknown>>;
  readonly createdAt: Instant;
  readonly archivedAt: Instant | null;
}

export async function insertBillingConfigurations(
  tx: Transaction,
  configurations: readonly BillingConfiguration[],
): Promise<void> {
  if (configurations.length > 0) await tx.insert(customerBillingConfigurations).values([...configurations]);
}

/** The configurations by id, archived ones too; unknown ids are absent. */
export async function loadBillingConfigurations(
  db: Database | Transaction,
  ids: readonly string[],
): Promise<Map<string, BillingConfiguration>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .select()
    .from(customerBillingConfigurations)
    .where(isOneOf(customerBillingConfigurations.id, ids));
  return new Map(rows.map((row) => [row.id, fromRow(row)]));
}

/** The configuration, archived or not, under a shared lock until the transaction ends; null if the id is unknown. */
export async function holdBillingConfiguration(
  db: Database | Transaction,
  id: string,
): Promise<BillingConfiguration | null> {
  const [row] = await db
    .select()
    .from(customerBillingConfigurations)
    .where(eq(customerBillingConfigurations.id, id))
    .for('share');
  return row === undefined ? null : fromRow(row);
}

/** The configurations of a customer in the order in which they were created. */
export async function listBillingConfigurations(
  db: Database | Transaction,
  customerId: string,
  { includeArchived }: { readonly includeArchived: boolean },
): Promise<BillingConfiguration[]> {
  const rows = await db
    .select()
    .from(customerBillingConfigurations)
    .where(
      and(
        eq(customerBillingConfigurations.customerId, customerId),
        includeArchived ? undefined : isNull(customerBillingConfigurations.archivedAt),
      ),
    )
    .orderBy(asc(customerBillingConfigurations.sequence));
  return rows.map(fromRow);
}

/** Archives those that are not archived yet. */
export async function archiveBillingConfigurations(
  tx: Transaction,
  ids: readonly string[],
  now: Instant,
): Promise<void> {
  if (ids.length === 0) return;
  await tx
    .update(customerBillingConfigurations)
    .set({ archivedAt: now })
    .where(
      and(isOneOf(customerBillingConfigurations.id, ids), isNull(customerBillingConfigurations.archivedAt)),
    );
}

const configurationColumn = z.record(z.string(), z.unknown());

function fromRow(row: typeof customerBillingConfigurations.$inferSelect): BillingConfiguration {
  const { sequence: _, ...rest } = row;
  return { ...rest, configuration: configurationColumn.parse(row.configuration) };
}

/** Customers' billing configurations: where the invoices of their contracts go. */
import { and, asc, eq, gt, isNull, sql } from 'drizzle-orm';
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
  /** The service's own connection that it uses; null if there is none to this provider. */
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

/** The maximum number of configurations that are sealed at once. */
const SEALED_AT_ONCE = 500;

/** Configurations of custom receivers whose secret is not sealed, in the order of their ids, starting after `after`. */
export async function listUnsealedReceivers(
  db: Database,
  after: string | null,
): Promise<BillingConfiguration[]> {
  const { id, billingProvider, deliveryMethod, configuration } = customerBillingConfigurations;
  const isPlain = sql`jsonb_typeof(${configuration} -> 'signing_secret') = 'string'`;
  const isReceiver = and(eq(billingProvider, 'custom'), eq(deliveryMethod, 'webhook'), isPlain);
  const rows = await db
    .select()
    .from(customerBillingConfigurations)
    .where(and(isReceiver, after === null ? undefined : gt(id, after)))
    .orderBy(asc(id))
    .limit(SEALED_AT_ONCE);
  return rows.map(fromRow);
}

/** Replaces the signing secret if the configuration still has the one that was read. */
export async function replaceSigningSecret(
  db: Database,
  id: string,
  { read, stored }: { readonly read: string; readonly stored: unknown },
): Promise<void> {
  const { id: column, configuration } = customerBillingConfigurations;
  await db
    .update(customerBillingConfigurations)
    .set({
      configuration: sql`jsonb_set(${configuration}, '{signing_secret}', ${JSON.stringify(stored)}::jsonb)`,
    })
    .where(and(eq(column, id), sql`${configuration} ->> 'signing_secret' = ${read}`));
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

/** Archives the configurations that are not archived yet. */
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

/** Removes the data that identify a customer from PostgreSQL (docs/how-to/erasure.md). */
import { and, eq, inArray, isNotNull, or, sql } from 'drizzle-orm';
import { NO_ALERT_FILTERS } from '../../core/alerts.ts';
import type { Instant } from '../../core/time.ts';
import { idempotencyKeys } from '../access/idempotency-keys.tables.ts';
import { lockAlertStates } from '../alerts/alert-states.ts';
import { alertStates, alerts } from '../alerts/alerts.tables.ts';
import { commits } from '../balances/commits.tables.ts';
import type { Database, Transaction } from '../base/database.ts';
import { contracts } from '../contracts/contracts.tables.ts';
import { customFieldValues } from '../custom-fields/custom-fields.tables.ts';
import { deleteValues, lockKeys } from '../custom-fields/custom-fields.ts';
import { customerBillingConfigurations, customers, ingestAliases } from '../customers/customers.tables.ts';
import { scheduledMessages } from '../lifecycle-messages/scheduled-messages.tables.ts';
import { webhookMessages } from '../messages/webhooks.tables.ts';
import { alertFiltersDocument } from '../stored-documents/document-kinds.ts';

const ERASED_NAME = 'Erased customer';
const ERASED_ALERT_NAME = 'Alert of an erased customer';

/** The header and the aliases. The customer is archived, unless it already was. */
export async function eraseHeader(tx: Transaction, id: string, now: Instant): Promise<void> {
  await tx
    .update(customers)
    .set({
      name: ERASED_NAME,
      crmAccountId: null,
      billingAddress: null,
      updatedAt: now,
      archivedAt: sql`coalesce(${customers.archivedAt}, ${new Date(now).toISOString()})`,
      erasedAt: sql`coalesce(${customers.erasedAt}, ${new Date(now).toISOString()})`,
    })
    .where(eq(customers.id, id));
  await tx.delete(ingestAliases).where(eq(ingestAliases.customerId, id));
}

/** The customer's ids at billing providers. */
export async function eraseConfigurations(tx: Transaction, customerId: string, now: Instant): Promise<void> {
  const { archivedAt } = customerBillingConfigurations;
  await tx
    .update(customerBillingConfigurations)
    .set({ configuration: {}, archivedAt: sql`coalesce(${archivedAt}, ${new Date(now).toISOString()})` })
    .where(eq(customerBillingConfigurations.customerId, customerId));
}

/** The custom fields of the customer, of its contracts, and of its commits and credits. */
export async function eraseCustomFields(tx: Transaction, customerId: string): Promise<void> {
  const ofContracts = tx
    .select({ id: contracts.id })
    .from(contracts)
    .where(eq(contracts.customerId, customerId));
  const ofCommits = tx.select({ id: commits.id }).from(commits).where(eq(commits.customerId, customerId));
  const { entityId, keyId } = customFieldValues;
  const values = await tx
    .select({ entityId, keyId })
    .from(customFieldValues)
    .where(or(eq(entityId, customerId), inArray(entityId, ofContracts), inArray(entityId, ofCommits)));
  const keyIds = [...new Set(values.map((value) => value.keyId))];
  await lockKeys(tx, keyIds, 'alone');
  await deleteValues(tx, values);
}

/** The states of alerts, and the customer's data in its own alerts, which are archived. */
export async function eraseAlerts(tx: Transaction, customerId: string, now: Instant): Promise<void> {
  await lockAlertStates(tx, [customerId]);
  await tx.delete(alertStates).where(eq(alertStates.customerId, customerId));
  await tx
    .update(alerts)
    .set({
      name: ERASED_ALERT_NAME,
      uniquenessKey: null,
      filters: alertFiltersDocument.write(NO_ALERT_FILTERS),
      archivedAt: sql`coalesce(${alerts.archivedAt}, ${new Date(now).toISOString()})`,
    })
    .where(eq(alerts.customerId, customerId));
}

/** Messages about it, including undelivered and scheduled ones. */
export async function eraseMessages(tx: Transaction, customerId: string): Promise<void> {
  await tx.delete(scheduledMessages).where(eq(scheduledMessages.customerId, customerId));
  await tx.delete(webhookMessages).where(eq(webhookMessages.customerId, customerId));
}

/**
 * Stored answers that name the customer. Their keys stay: a repeated request is not executed again, and is answered by
 * `status` and `body`.
 */
export async function eraseAnswers(
  tx: Transaction,
  customerId: string,
  instead: { readonly status: number; readonly body: string },
): Promise<void> {
  await tx
    .update(idempotencyKeys)
    .set(instead)
    .where(
      and(isNotNull(idempotencyKeys.status), sql`position(${customerId} in ${idempotencyKeys.body}) > 0`),
    );
}

export async function isErased(db: Database | Transaction, customerId: string): Promise<boolean> {
  const rows = await db
    .select({ id: customers.id })
    .from(customers)
    .where(and(eq(customers.id, customerId), isNotNull(customers.erasedAt)));
  return rows.length > 0;
}

/** Issued invoices on their way to billing providers, and their state there (docs/explanation/payments.md). */
import { and, eq, inArray, isNotNull, isNull, or, type SQL, sql } from 'drizzle-orm';
import { DEFAULT_STRIPE_CONNECTION_ID } from '../../core/billing-providers.ts';
import { assert } from '../../core/errors.ts';
import { type ExternalInvoice, type ExternalStatus, PAID_STATUSES } from '../../core/external-invoice.ts';
import { formatInstant, type Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { isOneOf } from '../base/is-one-of.ts';
import { invoiceDeliveries } from './invoice-deliveries.tables.ts';

type DeliveryRow = typeof invoiceDeliveries.$inferSelect;

/** An invoice at a provider, with the input of its delivery. */
export interface Delivery
  extends Pick<
    DeliveryRow,
    | 'invoiceId'
    | 'customerId'
    | 'configurationId'
    | 'connectionId'
    | 'gatedCommitId'
    | 'method'
    | 'mappedAt'
    | 'isDoubtful'
    | 'sentAt'
    | 'deliveredAt'
    | 'voidWanted'
    | 'voidEnded'
    | 'attempts'
    | 'failures'
    | 'failingSince'
    | 'dueAt'
    | 'createdAt'
  > {
  readonly external: ExternalInvoice;
}

/**
 * Queues the invoices of this transaction that have a provider: the contract has a configuration, the service has the
 * account that it names, and the customer is billable. Historical invoices were billed elsewhere. A delivery that is
 * queued already stays as it is.
 */
export async function queueDeliveries(
  tx: Transaction,
  invoiceIds: readonly string[],
  options: { readonly withHistorical?: boolean; readonly dueAt?: Instant } = {},
): Promise<string[]> {
  if (invoiceIds.length === 0) return [];
  const dueAt =
    options.dueAt === undefined ? sql`i.issued_at` : sql`${formatInstant(options.dueAt)}::timestamptz`;
  const queued = await tx.execute<{ invoice_id: string }>(sql`
    insert into invoice_deliveries
      (invoice_id, customer_id, billing_provider, configuration_id, connection_id, due_at, created_at)
    select i.id, i.customer_id, g.billing_provider, g.id, k.id, ${dueAt}, ${dueAt}
    from invoices i
    join contracts c on c.id = i.contract_id
    join customers p on p.id = i.customer_id and p.billable_status = 'billable'
    join customer_billing_configurations g on g.id = c.billing_configuration_id and g.archived_at is null
    left join billing_connections k on k.archived_at is null and k.id = coalesce(
      g.connection_id,
      case when g.billing_provider = 'stripe' and g.delivery_method = 'direct_to_billing_provider'
        then ${DEFAULT_STRIPE_CONNECTION_ID}::uuid end)
    where i.id = any(${`{${invoiceIds.join(',')}}`}::uuid[])
      and i.status = 'FINALIZED'
      and (${options.withHistorical ?? false} or not i.is_historical)
      and ((g.billing_provider = 'stripe' and k.id is not null) or g.delivery_method = 'webhook')
    on conflict do nothing
    returning invoice_id`);
  return queued.map(({ invoice_id }) => invoice_id);
}

/** Deliveries by invoice; invoices without a provider are absent. */
export async function loadDeliveries(
  db: Database | Transaction,
  invoiceIds: readonly string[],
): Promise<Map<string, Delivery>> {
  if (invoiceIds.length === 0) return new Map();
  const rows = await db
    .select()
    .from(invoiceDeliveries)
    .where(isOneOf(invoiceDeliveries.invoiceId, invoiceIds));
  return new Map(rows.map((row) => [row.invoiceId, deliveryFromRow(row)]));
}

/** External invoices by invoice; invoices that no provider has, or will have, are absent. */
export async function loadExternalInvoices(
  db: Database | Transaction,
  invoiceIds: readonly string[],
): Promise<Map<string, ExternalInvoice>> {
  const deliveries = await loadDeliveries(db, invoiceIds);
  return new Map([...deliveries].map(([id, { external }]) => [id, external]));
}

/**
 * Queues a delivery again, with the current configuration of its contract, unless the provider may have it already, or
 * an attempt is running. An invoice that was deleted there is created again.
 */
export async function restartDelivery(
  tx: Transaction,
  invoiceId: string,
  now: Instant,
  { isDeletedThere }: { readonly isDeletedThere: boolean },
): Promise<void> {
  // An invoice that was definitely refused does not exist there.
  const isFree = sql`((d.lease_until is null or d.lease_until <= clock_timestamp()) and (
    ${isDeletedThere} or d.mapped_at is null or
    (d.external_id is null and not d.is_doubtful and d.status = 'INVALID_REQUEST_ERROR')))`;
  const isAnew = sql`(${isDeletedThere} and ${isFree})`;
  await tx.execute(sql`
    update invoice_deliveries d set
      configuration_id = case when ${isFree} then g.id else d.configuration_id end,
      connection_id = case when ${isFree} then coalesce(
        g.connection_id,
        case when g.billing_provider = 'stripe' then ${DEFAULT_STRIPE_CONNECTION_ID}::uuid end) else d.connection_id end,
      billing_provider = case when ${isFree} then coalesce(g.billing_provider, d.billing_provider) else d.billing_provider end,
      external_id = case when ${isAnew} then null else d.external_id end,
      mapped_at = case when ${isFree} then null else d.mapped_at end,
      method = case when ${isFree} then null else d.method end,
      sent_at = case when ${isAnew} then null else d.sent_at end,
      status = case when ${isAnew} or d.external_id is null then 'QUEUED' else d.status end,
      delivered_at = null, error = null, failures = 0, failing_since = null, attempts = 0,
      due_at = ${formatInstant(now)}::timestamptz - interval '1 millisecond'
    from invoices i
    join contracts c on c.id = i.contract_id
    left join customer_billing_configurations g on g.id = c.billing_configuration_id and g.archived_at is null
    where d.invoice_id = ${invoiceId} and i.id = d.invoice_id`);
}

/**
 * Records a system's report about an invoice that it received. A running attempt, which is less informed, ends without
 * writing, and is repeated.
 */
export async function tellExternal(
  tx: Transaction,
  invoiceId: string,
  { status, number, pdfUrl, paidAt, paymentId, error }: Partial<ExternalInvoice>,
): Promise<ExternalInvoice> {
  const told = { status, number, pdfUrl, paidAt, paymentId, error };
  const [row] = await tx
    .update(invoiceDeliveries)
    .set({
      ...Object.fromEntries(Object.entries(told).filter(([, value]) => value !== undefined)),
      ...paidColumns(status),
      leaseOwner: null,
      leaseUntil: null,
    })
    .where(eq(invoiceDeliveries.invoiceId, invoiceId))
    .returning();
  assert(row !== undefined, `invoice ${invoiceId} is delivered`);
  return deliveryFromRow(row).external;
}

/** An invoice that pays for a commit, whose balance waits for the payment. */
interface GatedPayment {
  readonly invoiceId: string;
  readonly commitId: string;
  readonly customerId: string;
  /** The start of its payment. */
  readonly queuedAt: Instant;
}

/** Marks invoices whose balances wait for their payment, which the payment provider collects. */
export async function queueGatedPayments(tx: Transaction, gated: readonly GatedPayment[]): Promise<void> {
  for (const { invoiceId, commitId, customerId, queuedAt } of gated) {
    await tx
      .insert(invoiceDeliveries)
      .values({
        invoiceId,
        customerId,
        billingProvider: 'stripe',
        gatedCommitId: commitId,
        dueAt: queuedAt,
        createdAt: queuedAt,
      })
      .onConflictDoUpdate({
        target: invoiceDeliveries.invoiceId,
        set: { gatedCommitId: commitId, createdAt: queuedAt },
      });
  }
}

/** The state of invoices that the payment provider has decided at once. Nothing is due, and nothing is sent. */
export async function insertCollected(
  tx: Transaction,
  collected: readonly (GatedPayment & { readonly external: ExternalInvoice })[],
): Promise<void> {
  if (collected.length === 0) return;
  await tx.insert(invoiceDeliveries).values(
    collected.map(({ invoiceId, commitId, customerId, queuedAt, external }) => {
      const { billingProvider, status, externalId, paidAt, total, subTotal, error } = external;
      const { amountPaid, paymentError } = external;
      return {
        ...{
          invoiceId,
          customerId,
          gatedCommitId: commitId,
          createdAt: queuedAt,
          finalizedAt: external.issuedAt,
        },
        ...{ billingProvider, status, externalId, paidAt, total, subTotal, error, amountPaid, paymentError },
      };
    }),
  );
}

/** Removes invoices, queued by this transaction, whose payment is collected elsewhere. */
export async function unqueueDeliveries(tx: Transaction, invoiceIds: readonly string[]): Promise<void> {
  if (invoiceIds.length === 0) return;
  await tx.delete(invoiceDeliveries).where(isOneOf(invoiceDeliveries.invoiceId, invoiceIds));
}

/** Queues the void of these voided invoices at their providers. Invoices that no provider has are finished at once. */
export async function wantVoid(tx: Transaction, invoiceIds: readonly string[], now: Instant): Promise<void> {
  if (invoiceIds.length === 0) return;
  const isMapped = sql`${invoiceDeliveries.mappedAt} is not null`;
  await tx
    .update(invoiceDeliveries)
    .set({
      voidWanted: true,
      wasPaid: or(inArray(invoiceDeliveries.status, [...PAID_STATUSES]), isNotNull(invoiceDeliveries.paidAt)),
      status: sql`case when ${isMapped} then ${invoiceDeliveries.status} else 'VOID' end`,
      voidEnded: sql`${invoiceDeliveries.mappedAt} is null`,
      dueAt: sql`case when ${isMapped} then ${sooner(now)} end`,
      failures: 0,
      failingSince: null,
    })
    .where(and(isOneOf(invoiceDeliveries.invoiceId, invoiceIds), eq(invoiceDeliveries.voidWanted, false)));
}

/**
 * Makes deliveries due now, because the condition they wait for is met. An attempt that is already running does not
 * count.
 */
export async function makeDue(
  db: Database | Transaction,
  invoiceIds: readonly string[],
  now: Instant,
): Promise<void> {
  if (invoiceIds.length === 0) return;
  await db
    .update(invoiceDeliveries)
    .set({ dueAt: sooner(now) })
    .where(isOneOf(invoiceDeliveries.invoiceId, invoiceIds));
}

/**
 * Makes deliveries due now after a message of a provider, without shortening the backoff after a failed attempt: the
 * messages about objects created by an attempt would start the next one at once. During an attempt the message is
 * recorded, and takes effect if the attempt succeeds.
 */
export async function askSoon(tx: Transaction, invoiceIds: readonly string[], now: Instant): Promise<void> {
  if (invoiceIds.length === 0) return;
  const { dueAt, failures, invoiceId, leaseUntil } = invoiceDeliveries;
  const isRunning = sql`coalesce(${leaseUntil} > clock_timestamp(), false)`;
  await tx
    .update(invoiceDeliveries)
    .set({ dueAt: sql`case when ${isRunning} then ${dueAt} else ${sooner(now)} end`, isAsked: isRunning })
    .where(and(isOneOf(invoiceId, invoiceIds), or(isRunning, eq(failures, 0), isNull(dueAt))));
}

/** Makes a delivery due now if it has not started at its provider and is not given up. */
export async function makeWaitingDue(tx: Transaction, invoiceId: string, now: Instant): Promise<void> {
  await tx
    .update(invoiceDeliveries)
    .set({ dueAt: sooner(now) })
    .where(
      and(
        eq(invoiceDeliveries.invoiceId, invoiceId),
        isNull(invoiceDeliveries.mappedAt),
        isNotNull(invoiceDeliveries.dueAt),
      ),
    );
}

/** Different from the former value, so that the end of a running attempt notices it. */
function sooner(now: Instant): SQL<Instant> {
  return sql`least(${invoiceDeliveries.dueAt}, ${formatInstant(now)}::timestamptz) - interval '1 millisecond'`;
}

/** Whether a voided invoice counts as paid there after a new status: once paid, it stays so. */
export function paidColumns(status: ExternalStatus | undefined): { readonly wasPaid?: SQL } {
  if (status === undefined || !PAID_STATUSES.includes(status)) return {};
  return { wasPaid: sql`${invoiceDeliveries.voidWanted}` };
}

export function deliveryFromRow(row: DeliveryRow): Delivery {
  const { taxAmount, taxableAmount, taxTransactionId } = row;
  return {
    invoiceId: row.invoiceId,
    customerId: row.customerId,
    configurationId: row.configurationId,
    connectionId: row.connectionId,
    gatedCommitId: row.gatedCommitId,
    method: row.method,
    mappedAt: row.mappedAt,
    isDoubtful: row.isDoubtful,
    sentAt: row.sentAt,
    deliveredAt: row.deliveredAt,
    voidWanted: row.voidWanted,
    voidEnded: row.voidEnded,
    attempts: row.attempts,
    failures: row.failures,
    failingSince: row.failingSince,
    dueAt: row.dueAt,
    createdAt: row.createdAt,
    external: {
      billingProvider: row.billingProvider,
      status: row.status,
      externalId: row.externalId,
      number: row.number,
      issuedAt: row.finalizedAt,
      paidAt: row.paidAt,
      pdfUrl: row.pdfUrl,
      paymentUrl: row.paymentUrl,
      total: row.total,
      subTotal: row.subTotal,
      tax: taxAmount === null ? null : { amount: taxAmount, taxableAmount, transactionId: taxTransactionId },
      paymentId: row.paymentId,
      amountPaid: row.amountPaid,
      paymentError: row.paymentError,
      error: row.error,
      refundDue:
        row.voidWanted && row.refundedAt === null && (row.wasPaid || PAID_STATUSES.includes(row.status)),
    },
  };
}

/** Another attempt for invoices that were not delivered, at the request of a person who has corrected the cause. */
import { type FieldPath, invalid, namesNothing } from '../../core/errors.ts';
import type { ExternalStatus } from '../../core/external-invoice.ts';
import type { Instant } from '../../core/time.ts';
import type { Transaction } from '../../store/base/database.ts';
import { queueNotes } from '../../store/invoices/credit-note-deliveries.ts';
import {
  type Delivery,
  loadDeliveries,
  queueDeliveries,
  restartDelivery,
} from '../../store/invoices/invoice-deliveries.ts';
import { findInvoiceHead } from '../../store/invoices/invoices.ts';
import type { RowContext } from '../billing-context.ts';

interface Redelivered {
  readonly invoiceId: string;
  readonly status: ExternalStatus;
}

/** States from which it can be delivered again. */
const AGAIN: readonly ExternalStatus[] = ['DELETED', 'INVALID_REQUEST_ERROR', 'SKIPPED'];
/** States in which it has not arrived yet. */
const ON_ITS_WAY: readonly ExternalStatus[] = ['QUEUED', 'DRAFT'];

/** An invoice that has arrived stays unchanged, also a draft that was left as one. */
function isToDeliver({ external: { status }, deliveredAt }: Delivery): boolean {
  return AGAIN.includes(status) || (deliveredAt === null && ON_ITS_WAY.includes(status));
}

/**
 * Queues them, all or none, with the current billing configuration of their contracts. A delivered invoice stays
 * unchanged; one that was deleted at the provider is created again. Refuses an unknown invoice (`not_found`), and one
 * that is not finalized or has no provider (`invalid`).
 */
export async function redeliverInvoices(
  { db, clock }: RowContext,
  invoiceIds: readonly string[],
): Promise<Redelivered[]> {
  const now = clock.now();
  return db.transaction(async (tx) => {
    for (const [index, id] of invoiceIds.entries()) await redeliver(tx, id, ['invoiceIds', index], now);
    const deliveries = await loadDeliveries(tx, invoiceIds);
    return invoiceIds.flatMap((invoiceId) => {
      const delivery = deliveries.get(invoiceId);
      return delivery === undefined ? [] : [{ invoiceId, status: delivery.external.status }];
    });
  });
}

async function redeliver(tx: Transaction, id: string, field: FieldPath, now: Instant): Promise<void> {
  const invoice = await findInvoiceHead(tx, id);
  if (invoice === null) throw namesNothing(field, `invoice ${id} not found`);
  if (invoice.status !== 'FINALIZED') throw invalid(field, `invoice ${id} is ${invoice.status}`);
  const before = (await loadDeliveries(tx, [id])).get(id);
  if (before === undefined) {
    const [queued] = await queueDeliveries(tx, [id], { withHistorical: true, dueAt: now });
    if (queued === undefined) throw invalid(field, NOWHERE(id));
  } else if (isToDeliver(before)) {
    await restartDelivery(tx, id, now, { isDeletedThere: before.external.status === 'DELETED' });
  }
  await queueNotes(tx, id);
}

const NOWHERE = (id: string) =>
  `invoice ${id} has nowhere to go: its contract has no billing configuration of a provider that is connected, or its ` +
  'customer is not billable';

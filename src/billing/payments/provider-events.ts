/**
 * Messages of providers. A message is a hint only: the state of its object is requested, so that messages may arrive
 * late, twice, in any order, or never.
 */
import { z } from 'zod';
import { isUuid } from '../../core/ids.ts';
import { DAY_MS, type Instant } from '../../core/time.ts';
import type { Database } from '../../store/base/database.ts';
import {
  deleteOldProviderEvents,
  invoicesOfObjects,
  noteProviderEvent,
} from '../../store/invoices/delivery-work.ts';
import { askSoon } from '../../store/invoices/invoice-deliveries.ts';
import type { RowContext } from '../billing-context.ts';

/** An event that names its object only, as event destinations send it. That of a ping, too, is not ours. */
const thinEvent = z
  .object({
    id: z.string(),
    object: z.literal('v2.core.event'),
    type: z.string(),
    related_object: z.object({ id: z.string(), type: z.string() }).nullish(),
  })
  .transform(({ id, type, related_object: related }) => ({
    id,
    type,
    data: { object: related === null || related === undefined ? {} : { id: related.id } },
  }));

const snapshotEvent = z.object({
  id: z.string(),
  type: z.string(),
  data: z.object({
    object: z.object({
      id: z.string().optional(),
      object: z.string().optional(),
      /** The invoice of a charge or an invoice payment. */
      invoice: z.unknown().optional(),
      payment_intent: z.unknown().optional(),
      metadata: z.record(z.string(), z.unknown()).nullish(),
    }),
  }),
});

/** The members that are read of an event of Stripe, whose signature is checked. */
export const stripeEvent: z.ZodType<z.output<typeof snapshotEvent>> = z.union([thinEvent, snapshotEvent]);

const INVOICE_ID = 'tallyhouse_invoice_id';

/** Schedules an early poll of the object of the event. Repeated events, and events of other objects, change nothing. */
export async function takeStripeEvent(
  { db, clock }: RowContext,
  connectionId: string,
  event: z.output<typeof stripeEvent>,
): Promise<void> {
  const { object } = event.data;
  const texts = [object.id, object.invoice, object.payment_intent];
  const externalIds = texts.filter((id): id is string => typeof id === 'string');
  const ours = object.metadata?.[INVOICE_ID];
  await db.transaction(async (tx) => {
    const seen = { connectionId, eventId: event.id, receivedAt: Date.now() };
    if (!(await noteProviderEvent(tx, seen))) return;
    // A discarded draft carries our id too: only the deletion of the recorded object counts.
    const isOther = event.type.endsWith('.deleted');
    const invoiceIds = !isOther && typeof ours === 'string' && isUuid(ours) ? [ours] : [];
    const found = await invoicesOfObjects(tx, connectionId, { externalIds, invoiceIds });
    await askSoon(tx, found, clock.now());
  });
}

/** A provider sends an event again for three days. */
const EVENTS_KEPT_MS = 30 * DAY_MS;

/** Removes the ids of events that no provider sends again. `now` in real time. */
export async function forgetOldEvents(db: Database, now: Instant): Promise<void> {
  await deleteOldProviderEvents(db, now - EVENTS_KEPT_MS);
}

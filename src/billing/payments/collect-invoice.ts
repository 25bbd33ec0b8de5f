/** Collects an open invoice at its billing provider, at the request of a person (docs/explanation/payments.md, "Collect again"). */
import { randomUUID } from 'node:crypto';
import { conflict, type FieldPath, invalid, namesNothing, Refusal } from '../../core/errors.ts';
import type { ExternalStatus } from '../../core/external-invoice.ts';
import type { CollectResult } from '../../payments/provider.ts';
import { freeDelivery, leaseDelivery } from '../../store/invoices/delivery-work.ts';
import { type Delivery, loadDeliveries } from '../../store/invoices/invoice-deliveries.ts';
import { findInvoiceHead } from '../../store/invoices/invoices.ts';
import type { BillingContext } from '../billing-context.ts';
import type { DeliveredStep } from './attempt-delivery.ts';
import { DELIVERY_LEASE_MS, deliverLeased } from './deliver-leased.ts';

export interface Collected {
  readonly invoiceId: string;
  readonly status: ExternalStatus;
  /** Why nothing was collected; null: it is paid, or the payment is under way. */
  readonly paymentError: string | null;
}

const FIELD: FieldPath = ['invoiceId'];

/** The states in which a provider can be asked to collect an invoice, and why not in the others. */
const REFUSED: Readonly<Record<ExternalStatus, string | null>> = {
  FINALIZED: null,
  SENT: null,
  PARTIALLY_PAID: null,
  PAYMENT_FAILED: null,
  PAID: 'is paid',
  UNCOLLECTIBLE: 'is uncollectible at its billing provider: change that there first',
  VOID: 'is void at its billing provider',
  DELETED: 'was deleted at its billing provider: deliver it first',
  DRAFT: 'is a draft at its billing provider: finalize it there first',
  QUEUED: 'is not at its billing provider yet',
  INVALID_REQUEST_ERROR: 'was refused by its billing provider: deliver it first',
  SKIPPED: 'is not at a billing provider',
};

/**
 * Asks the provider once, and waits for its answer. Refuses an unknown invoice (`not_found`), one that is not open at a
 * provider that collects (`invalid`), and one whose payment or delivery is under way (`conflict`). If the provider does
 * not answer, the outcome is read later (`unavailable`).
 */
export async function collectInvoice(context: BillingContext, invoiceId: string): Promise<Collected> {
  const { db } = context;
  const invoice = await findInvoiceHead(db, invoiceId);
  if (invoice === null) throw namesNothing(FIELD, `invoice ${invoiceId} not found`);
  if (invoice.status !== 'FINALIZED') throw invalid(FIELD, `invoice ${invoiceId} is ${invoice.status}`);
  requireCollectable((await loadDeliveries(db, [invoiceId])).get(invoiceId), invoiceId);
  const owner = randomUUID();
  const leased = await leaseDelivery(db, invoiceId, { owner, leaseMs: DELIVERY_LEASE_MS });
  if (leased === null) throw conflict(`invoice ${invoiceId} is collected or delivered at present`, FIELD);
  try {
    requireCollectable(leased, invoiceId);
  } catch (error) {
    await freeDelivery(db, invoiceId, owner);
    throw error;
  }
  return await collectLeased(context, leased, owner);
}

/** The state may be older than that of the provider, which is read before anything is collected. */
function requireCollectable(delivery: Delivery | undefined, id: string): void {
  if (delivery === undefined) throw invalid(FIELD, `invoice ${id} ${REFUSED.SKIPPED}`);
  if (delivery.voidWanted) throw invalid(FIELD, `invoice ${id} is voided`);
  const refused = REFUSED[delivery.external.status];
  if (refused !== null) throw invalid(FIELD, `invoice ${id} ${refused}`);
  if (delivery.deliveredAt === null) throw conflict(`invoice ${id} is delivered at present`, FIELD);
  if (delivery.gatedCommitId !== null) {
    throw invalid(FIELD, `invoice ${id} pays for a balance, whose payment gate decides`);
  }
  if (delivery.method !== 'invoice') {
    throw invalid(FIELD, `invoice ${id} is not an invoice at a provider that collects`);
  }
}

async function collectLeased(context: BillingContext, leased: Delivery, owner: string): Promise<Collected> {
  const { invoiceId } = leased;
  let result: CollectResult | null = null;
  const collect: DeliveredStep = async (provider, document, progress, note) => {
    result = await provider.collect(document, progress, note);
    return result.external;
  };
  const lease = {
    ...{ owner, leaseMs: DELIVERY_LEASE_MS },
    hasToEnd: () => false,
    betweenSteps: () => undefined,
  };
  const outcome = await deliverLeased(context, leased, lease, collect);
  if (outcome === null) {
    throw conflict(`invoice ${invoiceId} was changed while it was collected: read it again`, FIELD);
  }
  return collected(context, invoiceId, result);
}

/** Null: the provider gave no answer. */
async function collected(
  { db }: BillingContext,
  invoiceId: string,
  result: CollectResult | null,
): Promise<Collected> {
  if (result === null) {
    const now = (await loadDeliveries(db, [invoiceId])).get(invoiceId);
    throw new Refusal(
      'unavailable',
      `whether invoice ${invoiceId} was collected is not known yet: ${now?.external.error ?? 'no answer'}`,
    );
  }
  const { external, isUnderWay, message } = result;
  if (isUnderWay) throw conflict(`a payment of invoice ${invoiceId} is under way`, FIELD);
  const refused = REFUSED[external.status];
  if (message === null && refused !== null && external.status !== 'PAID') {
    throw invalid(FIELD, `invoice ${invoiceId} ${refused}`);
  }
  return { invoiceId, status: external.status, paymentError: message };
}

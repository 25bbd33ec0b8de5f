/** Stripe as a provider of payments, for the customers of one configuration. */
import type { ExternalInvoice } from '../../core/external-invoice.ts';
import type { PaymentDocument } from '../document.ts';
import {
  type Charge,
  type ChargeResult,
  type Note,
  type PaymentsProvider,
  type Progress,
  ProviderProblem,
} from '../provider.ts';
import type { StripeAccess } from './access.ts';
import { deleted, deliverInvoice, type InvoiceJob } from './deliver-invoice.ts';
import { EXPANDED, externalOfInvoice, idOf } from './external-state.ts';
import { retrieveInvoice } from './find-invoice.ts';
import { type IntentWish, intentState, payByIntent, voidIntent } from './payment-intent.ts';
import type { StripeSettings } from './settings.ts';
import { voidStripeInvoice } from './void-invoice.ts';

export function createStripeProvider(access: StripeAccess, settings: StripeSettings): PaymentsProvider {
  const jobOf = (document: PaymentDocument, note: Note): InvoiceJob => ({ access, settings, document, note });
  return {
    async deliver(document, progress, note) {
      const job = jobOf(document, note);
      const isIntent = settings.collectionMethod.endsWith('_payment_intent');
      if ((progress.method ?? (isIntent ? 'payment_intent' : 'invoice')) === 'invoice') {
        return deliverInvoice(job, progress);
      }
      if (document.payable.lte('0')) return { ...progress.external, status: 'SKIPPED', error: null };
      const confirms = settings.collectionMethod === 'auto_charge_payment_intent';
      return (await payByIntent(job, progress, { ...NO_TAX, confirms })).external;
    },
    status: (document, progress) => state(jobOf(document, unwritten), progress),
    void: (document, progress, note) =>
      progress.method === 'payment_intent'
        ? voidIntent(jobOf(document, note), progress)
        : voidStripeInvoice(jobOf(document, note), progress),
    charge: (charge, progress, note) => chargeFor(jobOf(charge.document, note), charge, progress),
  };
}

const NO_TAX = { tax: null, precalculatedTax: null, isOnSession: false } as const;

const unwritten: Note = () => Promise.reject(new Error('nothing is written while a state is read'));

async function state(job: InvoiceJob, progress: Progress): Promise<ExternalInvoice> {
  const { externalId } = progress.external;
  if (externalId === null) return progress.external;
  if (progress.method === 'payment_intent') return intentState(job, progress, externalId);
  const invoice = await retrieveInvoice(job.access, externalId);
  if (invoice === null) return deleted(progress);
  return externalOfInvoice(invoice, job.document.currency, progress.sentAt);
}

/** As the gate has it: an invoice that is paid at once, or a payment without an invoice. */
function chargeFor(job: InvoiceJob, charge: Charge, progress: Progress): Promise<ChargeResult> {
  const { gate } = charge;
  const metadata = {
    ...gate.stripe?.invoiceMetadata,
    metronome_commit_id: charge.commitId,
    tallyhouse_commit_id: charge.commitId,
  };
  const own = { ...job, metadata };
  return gate.stripe?.paymentType === 'PAYMENT_INTENT'
    ? chargeIntent(own, charge, progress)
    : chargeInvoice(own, charge, progress);
}

async function chargeIntent(job: InvoiceJob, { gate }: Charge, progress: Progress): Promise<ChargeResult> {
  const wish: IntentWish = {
    confirms: true,
    tax: gate.taxType,
    precalculatedTax: gate.precalculatedTax,
    isOnSession: gate.stripe?.onSessionPayment ?? false,
  };
  const { intent, external } = await payByIntent(job, progress, wish);
  const error = intent.last_payment_error;
  const needsAction = intent.status === 'requires_action' || error?.code === 'authentication_required';
  const result = {
    external,
    message: error?.message ?? null,
    actionRequired: needsAction ? intent.id : null,
  };
  if (external.status === 'PAID') return { ...result, outcome: 'PAID', message: null };
  const hasFailed = !needsAction && (external.status === 'PAYMENT_FAILED' || external.status === 'VOID');
  return { ...result, outcome: hasFailed ? 'FAILED' : 'PENDING' };
}

/** Made final and paid by one call each. */
async function chargeInvoice(job: InvoiceJob, { gate }: Charge, progress: Progress): Promise<ChargeResult> {
  const settings = {
    ...job.settings,
    collectionMethod: 'charge_automatically' as const,
    leaveInDraft: false,
    automaticTax: gate.taxType === 'STRIPE',
  };
  const delivered = await deliverInvoice({ ...job, settings }, progress);
  if (delivered.status === 'SKIPPED') return { external: delivered, outcome: 'PAID', ...NOTHING_TO_SAY };
  await job.note({ external: delivered });
  if (delivered.status === 'PAID') return { external: delivered, outcome: 'PAID', ...NOTHING_TO_SAY };
  return payInvoice(job, progress, delivered);
}

const NOTHING_TO_SAY = { message: null, actionRequired: null } as const;

async function payInvoice(
  { access, document }: InvoiceJob,
  { sentAt }: Progress,
  delivered: ExternalInvoice,
): Promise<ChargeResult> {
  const { externalId: id } = delivered;
  if (id === null) throw new ProviderProblem('unclear', 'Stripe: the invoice of a purchase has no id yet');
  try {
    const paid = await access.request('POST /v1/invoices/pay', (client, options) =>
      client.invoices.pay(id, { off_session: true, expand: EXPANDED }, options),
    );
    const external = externalOfInvoice(paid, document.currency, sentAt);
    return { external, outcome: external.status === 'PAID' ? 'PAID' : 'PENDING', ...NOTHING_TO_SAY };
  } catch (error) {
    if (!(error instanceof ProviderProblem) || error.kind !== 'refused') throw error;
    return refusedPayment(access, document, id, error);
  }
}

async function refusedPayment(
  access: StripeAccess,
  document: PaymentDocument,
  id: string,
  problem: ProviderProblem,
): Promise<ChargeResult> {
  const invoice = await retrieveInvoice(access, id);
  if (invoice === null) throw problem;
  const external = externalOfInvoice(invoice, document.currency, null);
  if (external.status === 'PAID') return { external, outcome: 'PAID', ...NOTHING_TO_SAY };
  const needsAction =
    problem.code === 'invoice_payment_intent_requires_action' || problem.code === 'authentication_required';
  const [payment] = invoice.payments?.data ?? [];
  return {
    external,
    outcome: needsAction ? 'PENDING' : 'FAILED',
    message: problem.message,
    actionRequired: needsAction ? (idOf(payment?.payment.payment_intent) ?? id) : null,
  };
}

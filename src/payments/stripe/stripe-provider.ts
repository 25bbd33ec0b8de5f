/** Stripe as a payment provider, for the customers of one configuration. */

import { type Decimal, ZERO } from '../../core/decimal.ts';
import { type ExternalInvoice, isPaidForReal } from '../../core/external-invoice.ts';
import type { PaymentDocument } from '../document.ts';
import { amountText } from '../lines/describe.ts';
import {
  type Charge,
  type ChargeResult,
  type Note,
  type PaymentsProvider,
  type Progress,
  ProviderProblem,
} from '../provider.ts';
import { asOneWriter, type StripeAccess } from './access.ts';
import { fromStripeUnits, isBelowMinimum } from './amounts.ts';
import { collectStripeInvoice } from './collect-invoice.ts';
import { deleted, deliverInvoice, type InvoiceJob, removeTwins, requireCustomer } from './deliver-invoice.ts';
import { deliverStripeNote, stripeNotes } from './deliver-note.ts';
import { EXPANDED, externalOfInvoice, needsAction } from './external-state.ts';
import { retrieveInvoice } from './find-invoice.ts';
import { type IntentWish, intentState, isUnderWay, payByIntent, voidIntent } from './payment-intent.ts';
import type { StripeSettings } from './settings.ts';
import { voidStripeInvoice } from './void-invoice.ts';

export function createStripeProvider(access: StripeAccess, settings: StripeSettings): PaymentsProvider {
  const jobOf = (document: PaymentDocument, note: Note): InvoiceJob => ({
    access: asOneWriter(access, note),
    settings,
    document,
    note,
  });
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
    status: (document, progress, note) => state(jobOf(document, note), progress),
    void: (document, progress, note) =>
      progress.method === 'payment_intent'
        ? voidIntent(jobOf(document, note), progress)
        : voidStripeInvoice(jobOf(document, note), progress),
    collect: (document, progress, note) => collectStripeInvoice(jobOf(document, note), progress),
    deliverNote: (document, credited, delivered, note) =>
      deliverStripeNote(jobOf(document, note), credited, delivered),
    notesThere: (document, progress) => stripeNotes({ access, document }, progress),
    charge: (charge, progress, note) => chargeFor(jobOf(charge.document, note), charge, progress),
    isPaymentUnderWay: ({ external: { paymentId } }) => isUnderWay(access, paymentId),
  };
}

const NO_TAX = { tax: null, precalculatedTax: null, isOnSession: false } as const;

async function state(job: InvoiceJob, progress: Progress): Promise<ExternalInvoice> {
  const { externalId } = progress.external;
  if (externalId === null) return progress.external;
  if (progress.method === 'payment_intent') return intentState(job, progress, externalId);
  const invoice = await retrieveInvoice(job.access, externalId);
  if (invoice === null) return deleted(progress);
  if (progress.isDoubtful && progress.mappedAt !== null) await removeTwins(job, invoice, progress.mappedAt);
  return externalOfInvoice(invoice, job.document.currency, progress.sentAt);
}

/** By the gate: an invoice that is paid at once, or a payment without an invoice. */
async function chargeFor(job: InvoiceJob, charge: Charge, progress: Progress): Promise<ChargeResult> {
  const { gate } = charge;
  const metadata = {
    ...gate.stripe?.invoiceMetadata,
    metronome_commit_id: charge.commitId,
    tallyhouse_commit_id: charge.commitId,
  };
  const own = { ...job, metadata };
  if (charge.document.payable.lte('0')) return nothingToPay(progress);
  return gate.stripe?.paymentType === 'PAYMENT_INTENT'
    ? chargeIntent(own, charge, progress)
    : chargeInvoice(own, charge, progress);
}

function nothingToPay({ external }: Progress): ChargeResult {
  return { external: { ...external, status: 'SKIPPED', error: null }, outcome: 'PAID', ...NOTHING_TO_SAY };
}

async function chargeIntent(job: InvoiceJob, { gate }: Charge, progress: Progress): Promise<ChargeResult> {
  const wish: IntentWish = {
    confirms: true,
    tax: gate.taxType,
    precalculatedTax: gate.precalculatedTax,
    isOnSession: gate.stripe?.onSessionPayment ?? false,
  };
  const { intent, external } = await payByIntent(job, progress, wish);
  if (external.status === 'PAID') return { external, outcome: 'PAID', ...NOTHING_TO_SAY };
  const actionRequired = needsAction(intent) ? intent.id : null;
  const hasFailed = external.status === 'PAYMENT_FAILED' || external.status === 'VOID';
  const message = external.error ?? (hasFailed ? progress.external.error : null);
  return { external, outcome: hasFailed ? 'FAILED' : 'PENDING', message, actionRequired };
}

/** Finalized and paid by one call each; Stripe never charges it by itself. */
async function chargeInvoice(job: InvoiceJob, { gate }: Charge, progress: Progress): Promise<ChargeResult> {
  const settings = {
    ...job.settings,
    collectionMethod: 'charge_automatically' as const,
    leaveInDraft: false,
    skipsBelowMinimum: false,
    automaticTax: gate.taxType === 'STRIPE',
  };
  const tax = gate.taxType === 'PRECALCULATED' ? gate.precalculatedTax : null;
  if (progress.mappedAt === null) await requireChargeable(job, tax?.amount ?? null);
  const external = await deliverInvoice({ ...job, settings, tax, isChargedHere: true }, progress);
  if (external.status === 'PAID') return paidOrMoved(external);
  if (external.status === 'VOID' || external.status === 'DELETED') {
    const message = progress.external.error ?? `it is ${external.status} there`;
    return { external, outcome: 'FAILED', message, actionRequired: null };
  }
  await job.note({ external });
  return payInvoice(job, progress, external);
}

const NOTHING_TO_SAY = { message: null, actionRequired: null } as const;

/** Stripe marks an invoice as paid if it cannot charge the amount, which is then owed in the customer balance. */
function paidOrMoved(external: ExternalInvoice): ChargeResult {
  if (isPaidForReal(external)) return { external, outcome: 'PAID', ...NOTHING_TO_SAY };
  const message =
    'Stripe has taken no money: it cannot charge this amount, and has moved it to the balance of the customer';
  return { external, outcome: 'FAILED', message, actionRequired: null };
}

/**
 * Refuses, before anything is created, a purchase that Stripe would mark as paid without money: the amount due after
 * the customer balance is below its minimum.
 */
async function requireChargeable(
  { access, settings, document }: InvoiceJob,
  tax: Decimal | null,
): Promise<void> {
  const { currency, payable } = document;
  const id = requireCustomer(settings);
  const customer = await access.request('GET /v1/customers/id', (client) => client.customers.retrieve(id));
  const isSameCurrency =
    !customer.deleted && (customer.currency ?? currency.code).toUpperCase() === currency.code;
  const balance = isSameCurrency ? fromStripeUnits(customer.balance, currency) : ZERO;
  const due = payable.plus(tax ?? ZERO).plus(balance);
  if (!isBelowMinimum(due, currency)) return;
  const message = `Stripe charges no amount as small as ${amountText(due, currency)}, so nothing is paid`;
  throw new ProviderProblem('refused', message, { code: 'amount_too_small' });
}

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
    if (external.status === 'PAID') return paidOrMoved(external);
    return { external, outcome: 'PENDING', ...NOTHING_TO_SAY };
  } catch (error) {
    if (!(error instanceof ProviderProblem) || error.kind !== 'refused') throw error;
    return refusedPayment(access, document, id, error);
  }
}

/** Decline codes of a payment that its customer can still confirm. */
const ACTION_CODES = [
  'invoice_payment_intent_requires_action',
  'payment_intent_action_required',
  'authentication_required',
];

async function refusedPayment(
  access: StripeAccess,
  document: PaymentDocument,
  id: string,
  problem: ProviderProblem,
): Promise<ChargeResult> {
  const invoice = await retrieveInvoice(access, id);
  if (invoice === null) throw problem;
  const external = externalOfInvoice(invoice, document.currency, null);
  if (external.status === 'PAID') return paidOrMoved(external);
  const isConfirmable = ACTION_CODES.includes(problem.code ?? '');
  return {
    external,
    outcome: isConfirmable ? 'PENDING' : 'FAILED',
    message: problem.message,
    actionRequired: isConfirmable ? (external.paymentId ?? id) : null,
  };
}

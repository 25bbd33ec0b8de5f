/**
 * Payments without a Stripe invoice: one payment intent for each of our invoices, found by its metadata after doubt,
 * like invoices.
 */
import type Stripe from 'stripe';
import type { ExternalInvoice, ExternalTax } from '../../core/external-invoice.ts';
import type { PaymentGate } from '../../core/terms/payment-gate.ts';
import { type Progress, ProviderProblem } from '../provider.ts';
import type { StripeAccess } from './access.ts';
import { fromStripeUnits, payableUnits, requireCarried } from './amounts.ts';
import { beyondDoubt, deleted, type InvoiceJob, requireCustomer } from './deliver-invoice.ts';
import { externalOfIntent, idOf } from './external-state.ts';
import { findIntents } from './find-invoice.ts';
import { metadataOf } from './invoice-params.ts';

const EXPANDED_INTENT = ['latest_charge'];

/** The amount to charge for an invoice, and whether to charge it at once. */
export interface IntentWish {
  readonly confirms: boolean;
  readonly tax: PaymentGate['taxType'];
  readonly precalculatedTax: PaymentGate['precalculatedTax'];
  readonly isOnSession: boolean;
}

/**
 * The payment, created and, if requested, charged. A payment that the bank refuses is returned as refused, not thrown.
 */
export async function payByIntent(
  job: InvoiceJob,
  begun: Progress,
  wish: IntentWish,
): Promise<{ readonly intent: Stripe.PaymentIntent; readonly external: ExternalInvoice }> {
  const { access, document, settings } = job;
  const customer = requireCustomer(settings);
  const tax = await taxFor(job, customer, wish, begun);
  const { intent: made, progress } = await theIntent(job, begun, customer, tax);
  if (progress.isDoubtful && progress.mappedAt !== null) {
    await cancelTwins(job, customer, made, progress.mappedAt);
  }
  const isToConfirm = wish.confirms && canBeConfirmed(made);
  const intent = isToConfirm ? await confirm(access, made, customer, wish.isOnSession) : made;
  const external = externalOfIntent(intent, document.currency, tax?.shown ?? begun.external.tax);
  return { intent, external };
}

/** The only payment in Stripe: the recorded one, or else one that is found, or else a new one. */
async function theIntent(
  job: InvoiceJob,
  begun: Progress,
  customer: string,
  tax: IntentTax | null,
): Promise<{ readonly intent: Stripe.PaymentIntent; readonly progress: Progress }> {
  const { access, document, note } = job;
  const { externalId } = begun.external;
  if (externalId !== null) {
    const known = await retrieveIntent(access, externalId);
    if (known !== null) return { intent: known, progress: begun };
    throw new ProviderProblem('refused', `Stripe has no ${externalId} any more`);
  }
  await note({
    method: 'payment_intent',
    external: { billingProvider: 'stripe' },
    ...(begun.mappedAt === null ? { mappedAt: Date.now() } : {}),
  });
  const since = begun.mappedAt ?? Date.now();
  const [found] = begun.isDoubtful ? await findIntents(access, customer, document.invoiceId, since) : [];
  const intent = found ?? (await beyondDoubt(note, () => createIntent(job, customer, tax)));
  const shown = externalOfIntent(intent, document.currency, tax?.shown ?? null);
  return { intent, progress: await note({ external: shown }) };
}

interface IntentTax {
  readonly shown: ExternalTax;
  readonly units: bigint;
  /** The calculation of Stripe Tax; null: the tax is given. */
  readonly calculation: string | null;
}

async function taxFor(
  { access, document }: InvoiceJob,
  customer: string,
  { tax, precalculatedTax }: IntentWish,
  { external }: Progress,
): Promise<IntentTax | null> {
  const { currency } = document;
  // The created payment has its amount already.
  if (external.externalId !== null) return null;
  if (tax === 'PRECALCULATED' && precalculatedTax !== null) {
    const units = payableUnits(precalculatedTax.amount, currency);
    const shown = { amount: precalculatedTax.amount, taxableAmount: document.payable, transactionId: null };
    return { shown, units, calculation: null };
  }
  if (tax !== 'STRIPE') return null;
  const amount = Number(payableUnits(document.payable, currency));
  const calculation = await access.request('POST /v1/tax/calculations', (client, options) =>
    client.tax.calculations.create(
      {
        currency: currency.code.toLowerCase(),
        customer,
        line_items: [{ amount, reference: document.invoiceId }],
      },
      options,
    ),
  );
  const units = calculation.tax_amount_exclusive;
  const shown = {
    amount: fromStripeUnits(units, currency),
    taxableAmount: document.payable,
    transactionId: calculation.id,
  };
  return { shown, units: BigInt(units), calculation: calculation.id };
}

function createIntent(
  { access, document, metadata = {} }: InvoiceJob,
  customer: string,
  tax: IntentTax | null,
): Promise<Stripe.PaymentIntent> {
  const { currency, payable, number } = document;
  const calculation = tax?.calculation ?? null;
  const units = payableUnits(payable, currency) + (tax?.units ?? 0n);
  requireCarried(units, currency);
  return access.request('POST /v1/payment_intents', (client, options) =>
    client.paymentIntents.create(
      {
        amount: Number(units),
        currency: currency.code.toLowerCase(),
        customer,
        description: `Invoice ${number}`,
        metadata: { ...metadata, ...metadataOf(document) },
        automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
        ...(calculation === null ? {} : { hooks: { inputs: { tax: { calculation } } } }),
        expand: EXPANDED_INTENT,
      },
      options,
    ),
  );
}

function canBeConfirmed({ status, last_payment_error: error }: Stripe.PaymentIntent): boolean {
  return (status === 'requires_payment_method' && error === null) || status === 'requires_confirmation';
}

/** With the customer's default payment method. A declined card is an answer: the intent is read again. */
async function confirm(
  access: StripeAccess,
  { id }: Stripe.PaymentIntent,
  customer: string,
  isOnSession: boolean,
): Promise<Stripe.PaymentIntent> {
  const method = await defaultMethod(access, customer);
  try {
    return await access.request('POST /v1/payment_intents/confirm', (client, options) =>
      client.paymentIntents.confirm(
        id,
        {
          ...(method === null ? {} : { payment_method: method }),
          off_session: !isOnSession,
          expand: EXPANDED_INTENT,
        },
        options,
      ),
    );
  } catch (error) {
    if (!(error instanceof ProviderProblem) || error.kind !== 'refused') throw error;
    const intent = await retrieveIntent(access, id);
    if (intent === null || intent.last_payment_error === null) throw error;
    return intent;
  }
}

async function defaultMethod(access: StripeAccess, id: string): Promise<string | null> {
  const customer = await access.request('GET /v1/customers/id', (client) => client.customers.retrieve(id));
  if (customer.deleted === true) throw new ProviderProblem('refused', `Stripe: customer ${id} was deleted`);
  return idOf(customer.invoice_settings.default_payment_method) ?? idOf(customer.default_source);
}

async function cancelTwins(
  { access, document }: InvoiceJob,
  customer: string,
  { id }: Stripe.PaymentIntent,
  since: number,
): Promise<void> {
  for (const twin of await findIntents(access, customer, document.invoiceId, since)) {
    if (twin.id === id) continue;
    await access.request('POST /v1/payment_intents/cancel', (client, options) =>
      client.paymentIntents.cancel(twin.id, {}, options),
    );
  }
}

/** Null: Stripe does not know it. */
async function retrieveIntent(access: StripeAccess, id: string): Promise<Stripe.PaymentIntent | null> {
  try {
    return await access.request('GET /v1/payment_intents/id', (client) =>
      client.paymentIntents.retrieve(id, { expand: EXPANDED_INTENT }),
    );
  } catch (error) {
    if (error instanceof ProviderProblem && error.code === 'resource_missing') return null;
    throw error;
  }
}

/** Cancels the payment, unless it has succeeded. `error` of the result states why it remains. */
export async function voidIntent(job: InvoiceJob, progress: Progress): Promise<ExternalInvoice> {
  const { access, document } = job;
  const { externalId } = progress.external;
  const known = externalId === null ? null : await retrieveIntent(access, externalId);
  const others =
    progress.mappedAt === null || (externalId !== null && !progress.isDoubtful)
      ? []
      : await findIntents(access, requireCustomer(job.settings), document.invoiceId, progress.mappedAt);
  const all = [...others.filter(({ id }) => id !== externalId), ...(known === null ? [] : [known])];
  let last: ExternalInvoice = { ...progress.external, status: 'VOID', error: null };
  for (const intent of all) last = await cancelIntent(access, intent, document.currency, progress);
  return last;
}

async function cancelIntent(
  access: StripeAccess,
  intent: Stripe.PaymentIntent,
  currency: InvoiceJob['document']['currency'],
  { external: { tax } }: Progress,
): Promise<ExternalInvoice> {
  if (intent.status === 'canceled') return externalOfIntent(intent, currency, tax);
  try {
    const canceled = await access.request('POST /v1/payment_intents/cancel', (client, options) =>
      client.paymentIntents.cancel(intent.id, { expand: EXPANDED_INTENT }, options),
    );
    return externalOfIntent(canceled, currency, tax);
  } catch (error) {
    if (!(error instanceof ProviderProblem) || error.kind !== 'refused') throw error;
    const now = await retrieveIntent(access, intent.id);
    if (now === null) throw error;
    const external = externalOfIntent(now, currency, tax);
    if (external.status === 'VOID') return external;
    return {
      ...external,
      error: `${intent.id} is not canceled, for it is ${external.status}. ${error.message}`,
    };
  }
}

/** Whether the bank is processing it, so that it can only be awaited. */
export async function isUnderWay(access: StripeAccess, id: string | null): Promise<boolean> {
  if (id?.startsWith('pi_') !== true) return false;
  return (await retrieveIntent(access, id))?.status === 'processing';
}

/** The state of a recorded payment. */
export async function intentState(job: InvoiceJob, progress: Progress, id: string): Promise<ExternalInvoice> {
  const intent = await retrieveIntent(job.access, id);
  if (intent === null) return deleted(progress);
  if (progress.isDoubtful && progress.mappedAt !== null) {
    await cancelTwins(job, requireCustomer(job.settings), intent, progress.mappedAt);
  }
  return externalOfIntent(intent, job.document.currency, progress.external.tax);
}

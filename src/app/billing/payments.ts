/** Wires the delivery of invoices: accounts of providers, the workers, and their messages. */

import { stringifyJson } from '../../api/base/json.ts';
import { creditNoteToWire } from '../../api/routes/invoices/credit-note-output.ts';
import { invoiceToWire } from '../../api/routes/invoices/output.ts';
import { viewOf } from '../../api/routes/invoices/routes.ts';
import type { BillingContext } from '../../billing/billing-context.ts';
import {
  learnDefaultAccount,
  settleDefaultAccount,
} from '../../billing/billing-providers/stripe-accounts.ts';
import { readCreditNote } from '../../billing/invoices/credit-notes/read-notes.ts';
import { pricingUnitsWithIds } from '../../billing/invoices/read/pricing-units.ts';
import { getInvoice } from '../../billing/invoices/read/read-invoices.ts';
import type { Config } from '../../config.ts';
import { createDeliveries, type Deliveries, type DeliveryHooks } from '../../jobs/deliveries/deliveries.ts';
import type { JobsContext } from '../../jobs/jobs-context.ts';
import { sendWebhook } from '../../notifications/webhooks/send.ts';
import { signatureHeaders } from '../../notifications/webhooks/signature.ts';
import { createStripeAccounts, type StripeAccounts } from '../../payments/accounts.ts';
import type { SendMessage } from '../../payments/custom/custom-provider.ts';
import type { ProviderParts } from '../../payments/providers.ts';
import { isTestKey } from '../../payments/stripe/access.ts';
import type { StripeRates } from '../../payments/stripe/rate-limit.ts';

export interface PaymentsConfig extends Partial<Pick<Config, 'stripe' | 'secretsKey' | 'publicUrl'>> {
  /** Replaces Stripe's published rates, for tests. */
  readonly stripeRates?: StripeRates;
  readonly stripeTimeoutMs?: number;
  readonly webhookAllowPrivate?: boolean;
}

/** The accounts of Stripe: that of the environment, and those that are connected later. */
export function createAccounts(config: PaymentsConfig): StripeAccounts {
  return createStripeAccounts({
    apiKey: config.stripe?.apiKey,
    webhookSecret: config.stripe?.webhookSecret,
    baseUrl: config.stripe?.apiBase,
    secretsKey: config.secretsKey,
    rates: config.stripeRates,
    timeoutMs: config.stripeTimeoutMs,
  });
}

/** The dependencies of a delivery's provider. */
export function providerParts(context: BillingContext, config: PaymentsConfig): ProviderParts {
  const { db, accounts, secrets, allowPrivate } = context;
  return {
    db,
    accounts,
    secrets,
    leavesInDraft: config.stripe?.leavesInDraft ?? false,
    send: sender(allowPrivate),
    invoiceText: (document) => invoiceText(context, document),
    noteText: (creditNoteId) => noteText(context, creditNoteId),
  };
}

/** The account of the environment is connected when this resolves; nothing is delivered yet. */
export async function createPayments(
  context: JobsContext,
  config: PaymentsConfig,
  hooks?: DeliveryHooks,
): Promise<Deliveries> {
  const { log } = context;
  const hasKey = config.stripe?.apiKey !== undefined;
  await settleDefaultAccount(context, hasKey);
  if (hasKey) {
    learnDefaultAccount(context, isTestKey(config.stripe?.apiKey ?? '') ? 'test' : 'live').then(
      (changed) => {
        if (changed !== null) log.warn(changed);
      },
      (err: unknown) => log.warn({ err }, 'the id of the account of Stripe is not known yet'),
    );
  }
  return createDeliveries(context, hooks);
}

/** An answer contains two texts and an address. */
const CUSTOM_ANSWER_MAX = 10_000;

/** Signed like webhooks. */
function sender(allowPrivate: boolean): SendMessage {
  return (url, { id, body, secret }) =>
    sendWebhook(
      url,
      { headers: signatureHeaders([secret], { id, body }, Date.now()), body },
      { allowPrivate, answerCharactersMax: CUSTOM_ANSWER_MAX },
    );
}

/** In the form of `GET /v1/customers/{customer_id}/invoices/{invoice_id}`. */
async function invoiceText(
  parts: BillingContext,
  { customerId, invoiceId }: { readonly customerId: string; readonly invoiceId: string },
): Promise<string> {
  const invoice = await getInvoice(parts, customerId, invoiceId);
  return stringifyJson(invoiceToWire(invoice, await viewOf(parts, [invoice], {})));
}

/** In the form of `GET /v1/invoices/creditNotes/{credit_note_id}`. */
async function noteText(parts: BillingContext, creditNoteId: string): Promise<string> {
  const shown = await readCreditNote(parts, creditNoteId);
  const units = await pricingUnitsWithIds(parts, [shown.note.creditTypeId]);
  return stringifyJson(creditNoteToWire(shown, units));
}

/** Joins the delivery of invoices: accounts of providers, the workers, and what they send. */

import { stringifyJson } from '../api/base/json.ts';
import { invoiceToWire } from '../api/routes/invoices/output.ts';
import { viewOf } from '../api/routes/invoices/routes.ts';
import { learnDefaultAccount, settleDefaultAccount } from '../billing/billing-providers/stripe-accounts.ts';
import type { InvoiceLog } from '../billing/invoice-log/invoice-log.ts';
import { getInvoice, type InvoiceDeps } from '../billing/invoices/read-invoices.ts';
import type { Config } from '../config.ts';
import type { Tracer } from '../core/tracing.ts';
import { createDeliveries, type Deliveries, type DeliveriesDeps } from '../jobs/deliveries/deliveries.ts';
import type { Logger } from '../log.ts';
import { sendWebhook } from '../notifications/webhooks/send.ts';
import { signatureHeaders } from '../notifications/webhooks/signature.ts';
import { createStripeAccounts, type StripeAccounts } from '../payments/accounts.ts';
import type { SendMessage } from '../payments/custom/custom-provider.ts';
import { providerOf } from '../payments/providers.ts';
import { isTestKey } from '../payments/stripe/access.ts';
import type { StripeRates } from '../payments/stripe/rate-limit.ts';

export interface PaymentsConfig extends Partial<Pick<Config, 'stripe' | 'secretsKey' | 'publicUrl'>> {
  /** Instead of what Stripe publishes, for tests. */
  readonly stripeRates?: StripeRates;
  readonly stripeTimeoutMs?: number;
  readonly webhookAllowPrivate?: boolean;
}

interface PaymentsDeps {
  readonly config: PaymentsConfig;
  readonly log: Logger;
  readonly tracer: Tracer;
  /** The dependencies of reading invoices. */
  readonly invoicing: InvoiceDeps & { readonly invoiceLog: InvoiceLog; readonly gracePeriodHours: number };
  readonly hooks?: Pick<DeliveriesDeps, 'betweenSteps' | 'leaseMs'> | undefined;
  isPaused(): boolean;
}

export interface Payments {
  readonly accounts: StripeAccounts;
  readonly deliveries: Deliveries;
  readonly providerOf: DeliveriesDeps['providerOf'];
  readonly publicUrl: string | null;
}

/** The account of the environment is connected when this resolves; nothing is delivered yet. */
export async function createPayments(deps: PaymentsDeps): Promise<Payments> {
  const { config, log, tracer, invoicing, hooks, isPaused } = deps;
  const { db, clock } = invoicing;
  const accounts = createStripeAccounts({
    apiKey: config.stripe?.apiKey,
    webhookSecret: config.stripe?.webhookSecret,
    baseUrl: config.stripe?.apiBase,
    secretsKey: config.secretsKey,
    rates: config.stripeRates,
    timeoutMs: config.stripeTimeoutMs,
  });
  const hasKey = config.stripe?.apiKey !== undefined;
  await settleDefaultAccount({ db, clock }, hasKey);
  if (hasKey) {
    learnDefaultAccount(
      { db, clock, accounts },
      isTestKey(config.stripe?.apiKey ?? '') ? 'test' : 'live',
    ).then(
      (changed) => {
        if (changed !== null) log.warn(changed);
      },
      (err: unknown) => log.warn({ err }, 'the id of the account of Stripe is not known yet'),
    );
  }
  const providers = {
    db,
    accounts,
    leavesInDraft: config.stripe?.leavesInDraft ?? false,
    send: sender(config.webhookAllowPrivate ?? false),
    invoiceText: (document: { readonly customerId: string; readonly invoiceId: string }) =>
      invoiceText(invoicing, document),
  };
  const reached: Pick<Payments, 'providerOf' | 'publicUrl'> = {
    publicUrl: config.publicUrl ?? null,
    providerOf: (delivery) => providerOf(providers, delivery),
  };
  const deliveries = createDeliveries({
    ...invoicing,
    ...{ log, tracer, isPaused },
    ...hooks,
    ...reached,
  });
  return { accounts, deliveries, ...reached };
}

/** An answer has two texts and an address. */
const CUSTOM_ANSWER_MAX = 10_000;

/** Signed as webhooks are. */
function sender(allowPrivate: boolean): SendMessage {
  return (url, { id, body, secret }) =>
    sendWebhook(
      url,
      { headers: signatureHeaders([secret], { id, body }, Date.now()), body },
      { allowPrivate, answerCharactersMax: CUSTOM_ANSWER_MAX },
    );
}

/** As `GET /v1/customers/{customer_id}/invoices/{invoice_id}` answers it. */
async function invoiceText(
  deps: InvoiceDeps,
  { customerId, invoiceId }: { readonly customerId: string; readonly invoiceId: string },
): Promise<string> {
  const invoice = await getInvoice(deps, customerId, invoiceId);
  return stringifyJson(invoiceToWire(invoice, await viewOf(deps, [invoice], {})));
}

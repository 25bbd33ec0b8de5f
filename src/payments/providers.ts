/** Finds the provider of a delivery: its kind, account and settings. */
import type { BillingProvider } from '../core/billing-providers.ts';
import type { Secrets } from '../core/secrets.ts';
import type { Database } from '../store/base/database.ts';
import { loadConnections } from '../store/billing-providers/billing-connections.ts';
import {
  type BillingConfiguration,
  loadBillingConfigurations,
} from '../store/customers/billing-configurations.ts';
import { leavesInvoicesInDraft } from '../store/customers/customers.ts';
import type { Delivery } from '../store/invoices/invoice-deliveries.ts';
import type { StripeAccounts } from './accounts.ts';
import { createCustomProvider, customConfiguration, type SendMessage } from './custom/custom-provider.ts';
import { hasSealedSecret, openedSettings } from './custom/receiver-secrets.ts';
import type { PaymentDocument } from './document.ts';
import { type PaymentsProvider, ProviderProblem } from './provider.ts';
import { readStripeSettings } from './stripe/settings.ts';
import { createStripeProvider } from './stripe/stripe-provider.ts';

export interface ProviderParts {
  readonly db: Database;
  readonly accounts: StripeAccounts;
  readonly secrets: Secrets;
  /** Whether invoices of customers without a setting stay drafts. */
  readonly leavesInDraft: boolean;
  readonly send: SendMessage;
  /** The invoice as the API shows it. */
  invoiceText(document: PaymentDocument): Promise<string>;
  /** The credit note as the API shows it. */
  noteText(creditNoteId: string): Promise<string>;
}

/** A delivery with the billing configuration of its customer. */
interface ConfiguredDelivery {
  readonly delivery: Delivery;
  readonly configuration: BillingConfiguration;
}

type OpenProvider = (context: ProviderParts, configured: ConfiguredDelivery) => Promise<PaymentsProvider>;

/** Opens each billing provider. */
const OPEN: Readonly<Record<BillingProvider, OpenProvider>> = {
  stripe: openStripe,
  custom: openCustom,
  aws_marketplace: refuseUnconnected,
  azure_marketplace: refuseUnconnected,
  gcp_marketplace: refuseUnconnected,
  netsuite: refuseUnconnected,
  quickbooks_online: refuseUnconnected,
  workday: refuseUnconnected,
  metronome: refuseUnconnected,
};

/** Throws `ProviderProblem` if the delivery no longer has a provider. */
export async function providerOf(context: ProviderParts, delivery: Delivery): Promise<PaymentsProvider> {
  const { configurationId } = delivery;
  const configuration =
    configurationId === null
      ? undefined
      : (await loadBillingConfigurations(context.db, [configurationId])).get(configurationId);
  if (configuration === undefined) return refuseUnconnected();
  return OPEN[configuration.billingProvider](context, { delivery, configuration });
}

async function refuseUnconnected(): Promise<never> {
  throw new ProviderProblem(
    'refused',
    'The contract has no billing configuration of a provider that is connected',
  );
}

async function openCustom(
  { secrets, send, invoiceText, noteText }: ProviderParts,
  { configuration }: ConfiguredDelivery,
): Promise<PaymentsProvider> {
  const settings = customConfiguration.safeParse(openedSettings(secrets, configuration));
  if (!settings.success && hasSealedSecret(configuration))
    throw new ProviderProblem('account', 'The signing_secret was sealed with another SECRETS_KEY');
  if (!settings.success)
    throw new ProviderProblem('refused', 'The configuration has no url and signing_secret');
  return createCustomProvider({ settings: settings.data, send, invoiceText, noteText });
}

async function openStripe(
  context: ProviderParts,
  { delivery: { connectionId, customerId }, configuration }: ConfiguredDelivery,
): Promise<PaymentsProvider> {
  const { db, accounts } = context;
  const connection =
    connectionId === null ? undefined : (await loadConnections(db, [connectionId])).get(connectionId);
  if (connection === undefined)
    throw new ProviderProblem('refused', 'The configuration has no account of Stripe');
  const leavesInDraft = (await leavesInvoicesInDraft(db, customerId)) ?? context.leavesInDraft;
  return createStripeProvider(
    accounts.access(connection),
    readStripeSettings(configuration.configuration, leavesInDraft),
  );
}

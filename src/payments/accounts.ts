/**
 * The accounts of providers that the service is connected to: the one of the environment, and stored ones, whose
 * secrets are sealed. Secrets read here are sent to the provider only.
 */
import { z } from 'zod';
import { DEFAULT_STRIPE_CONNECTION_ID } from '../core/billing-providers.ts';
import { openText, sealText } from '../core/sealed-text.ts';
import type { BillingConnection } from '../store/billing-providers/billing-connections.ts';
import { ProviderProblem } from './provider.ts';
import { createStripeAccess, type StripeAccess } from './stripe/access.ts';
import type { StripeRates } from './stripe/rate-limit.ts';

export interface AccountSettings {
  /** The key of the account named `default`; undefined: there is none. */
  readonly apiKey: string | undefined;
  readonly webhookSecret: string | undefined;
  readonly baseUrl: string | undefined;
  /** 32 bytes; undefined: further accounts are refused. */
  readonly secretsKey: Buffer | undefined;
  /** Replaces the published ones. */
  readonly rates?: StripeRates | undefined;
  readonly timeoutMs?: number | undefined;
}

/** The secrets of one account. */
interface AccountSecrets {
  readonly apiKey: string;
  readonly webhookSecret: string | null;
}

const sealedSecrets = z.object({ sealed_api_key: z.string(), sealed_webhook_secret: z.string().nullish() });

export interface StripeAccounts {
  /** Requests to the account of a connection. Throws `ProviderProblem` if its key cannot be read. */
  access(connection: Pick<BillingConnection, 'id' | 'configuration' | 'archivedAt'>): StripeAccess;
  /** The secret that signs the messages of an account; null: it has none, or it cannot be read. */
  webhookSecret(connection: Pick<BillingConnection, 'id' | 'configuration' | 'archivedAt'>): string | null;
  /** The configuration of a new connection; null: there is no key to seal secrets with. */
  sealed(id: string, secrets: AccountSecrets): Record<string, unknown> | null;
  /** Requests to an account that is not stored yet. */
  trial(apiKey: string): StripeAccess;
  /** Requests since the start by outcome, for all accounts. */
  counts(): Record<'answered' | 'refused' | 'busy' | 'unclear', number>;
}

export function createStripeAccounts(settings: AccountSettings): StripeAccounts {
  const { secretsKey, baseUrl, rates, timeoutMs } = settings;
  const opened = new Map<string, { readonly apiKey: string; readonly access: StripeAccess }>();

  function secretsOf({
    id,
    configuration,
  }: Pick<BillingConnection, 'id' | 'configuration'>): AccountSecrets | null {
    if (id === DEFAULT_STRIPE_CONNECTION_ID) {
      const { apiKey, webhookSecret = null } = settings;
      return apiKey === undefined ? null : { apiKey, webhookSecret };
    }
    const stored = sealedSecrets.safeParse(configuration).data;
    if (stored === undefined || secretsKey === undefined) return null;
    const apiKey = openText(secretsKey, stored.sealed_api_key, apiKeyOf(id));
    if (apiKey === null) return null;
    const { sealed_webhook_secret: sealed } = stored;
    return {
      apiKey,
      webhookSecret: sealed == null ? null : openText(secretsKey, sealed, webhookSecretOf(id)),
    };
  }

  const connect = (apiKey: string) => createStripeAccess({ apiKey, baseUrl, rates, timeoutMs });
  return {
    access(connection) {
      const { id, archivedAt } = connection;
      if (archivedAt !== null) throw new ProviderProblem('account', 'The account of Stripe is archived');
      const secrets = secretsOf(connection);
      if (secrets === null)
        throw new ProviderProblem('account', 'The key of the account of Stripe is missing');
      const known = opened.get(id);
      if (known?.apiKey === secrets.apiKey) return known.access;
      const access = connect(secrets.apiKey);
      opened.set(id, { apiKey: secrets.apiKey, access });
      return access;
    },
    webhookSecret: (connection) =>
      connection.archivedAt === null ? (secretsOf(connection)?.webhookSecret ?? null) : null,
    sealed(id, { apiKey, webhookSecret }) {
      if (secretsKey === undefined) return null;
      return {
        sealed_api_key: sealText(secretsKey, apiKey, apiKeyOf(id)),
        sealed_webhook_secret:
          webhookSecret === null ? null : sealText(secretsKey, webhookSecret, webhookSecretOf(id)),
      };
    },
    trial: connect,
    counts() {
      const total = { answered: 0, refused: 0, busy: 0, unclear: 0 };
      for (const { access } of opened.values()) {
        for (const outcome of ['answered', 'refused', 'busy', 'unclear'] as const) {
          total[outcome] += access.counts[outcome];
        }
      }
      return total;
    },
  };
}

function apiKeyOf(id: string): string {
  return `stripe-api-key ${id}`;
}

function webhookSecretOf(id: string): string {
  return `stripe-webhook-secret ${id}`;
}

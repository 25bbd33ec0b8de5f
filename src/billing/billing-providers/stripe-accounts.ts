/** Connections to accounts of Stripe: the one of the environment, and further ones whose keys are sealed. */
import { DEFAULT_STRIPE_CONNECTION_ID } from '../../core/billing-providers.ts';
import { conflict, invalid, notFound, Refusal } from '../../core/errors.ts';
import { derivedId, newId } from '../../core/ids.ts';
import { ProviderProblem } from '../../payments/provider.ts';
import { FORBIDDEN, type StripeAccess } from '../../payments/stripe/access.ts';
import {
  archiveConnection,
  type BillingConnection,
  findConnections,
  insertNamedConnection,
  loadConnections,
  saveDefaultConnection,
} from '../../store/billing-providers/billing-connections.ts';
import type { BillingContext } from '../billing-context.ts';

const PROVIDER = { billingProvider: 'stripe', deliveryMethod: 'direct_to_billing_provider' } as const;
const DEFAULT_NAME = 'default';

/** Connects the account of the environment, or ends its connection if the environment no longer has one. */
export async function settleDefaultAccount(
  { db, clock }: Pick<BillingContext, 'db' | 'clock'>,
  hasKey: boolean,
): Promise<void> {
  const createdAt = clock.now();
  const connection = {
    ...PROVIDER,
    id: DEFAULT_STRIPE_CONNECTION_ID,
    configuration: { name: DEFAULT_NAME },
    createdAt,
    archivedAt: hasKey ? null : createdAt,
  };
  await saveDefaultConnection(db, connection, keyOf(DEFAULT_NAME));
}

/**
 * Reads which account the environment's key belongs to, which answers show. Nothing waits for it. Returns a sentence if
 * the account has changed: deliveries to the former one can no longer be queried.
 */
export async function learnDefaultAccount(
  { db, accounts }: BillingContext,
  mode: 'test' | 'live',
): Promise<string | null> {
  const connection = (await loadConnections(db, [DEFAULT_STRIPE_CONNECTION_ID])).get(
    DEFAULT_STRIPE_CONNECTION_ID,
  );
  if (connection === undefined || connection.archivedAt !== null) return null;
  const accountId = await accountIdOf(accounts.access(connection));
  const configuration = {
    name: DEFAULT_NAME,
    key_mode: mode,
    ...(accountId === null ? {} : { stripe_account_id: accountId }),
  };
  await saveDefaultConnection(db, { ...connection, configuration }, keyOf(DEFAULT_NAME));
  const former = connection.configuration;
  const isSameAccount = accountId === null || (textOf(former.stripe_account_id) ?? accountId) === accountId;
  if (isSameAccount && (textOf(former.key_mode) ?? mode) === mode) return null;
  return (
    `STRIPE_API_KEY is of another account or mode than before (${textOf(former.stripe_account_id) ?? 'unknown'}, ` +
    `${textOf(former.key_mode) ?? mode}): invoices that were delivered there look deleted, and must not be delivered again`
  );
}

interface NewAccount {
  readonly name: string;
  readonly apiKey: string;
  readonly webhookSecret: string | null;
}

/**
 * Connects a further account, and returns its delivery method. Refuses an invalid key (`invalid`), a name that is used
 * (`conflict`), and every account if the service has no key to seal secrets with.
 */
export async function createStripeAccount(context: BillingContext, wanted: NewAccount): Promise<string> {
  const { db, clock, accounts } = context;
  const { name, apiKey, webhookSecret } = wanted;
  if (name === DEFAULT_NAME) throw invalid(['name'], 'default is the account of the environment');
  const id = newId();
  const sealed = accounts.sealed(id, { apiKey, webhookSecret });
  if (sealed === null) {
    throw new Refusal('invalid', 'SECRETS_KEY is not set: without it keys of accounts are not stored');
  }
  const accountId = await triedAccount(accounts.trial(apiKey));
  const configuration = { name, ...sealed, ...(accountId === null ? {} : { stripe_account_id: accountId }) };
  const connection = { ...PROVIDER, id, configuration, createdAt: clock.now(), archivedAt: null };
  const stored = await insertNamedConnection(db, connection, keyOf(name));
  if (stored !== id) throw conflict(`an account is named ${name} already`, ['name'], stored);
  return id;
}

function keyOf(name: string): string {
  return derivedId('stripe-account', name);
}

async function triedAccount(access: StripeAccess): Promise<string | null> {
  try {
    return await accountIdOf(access);
  } catch (error) {
    if (!(error instanceof ProviderProblem)) throw error;
    if (error.kind === 'account' || error.kind === 'refused') throw invalid(['apiKey'], error.message);
    throw new Refusal('unavailable', error.message);
  }
}

/** Null: the key may not read it. */
async function accountIdOf(access: StripeAccess): Promise<string | null> {
  try {
    const account = await access.request('GET /v1/account', (client) => client.accounts.retrieveCurrent());
    return account.id;
  } catch (error) {
    if (error instanceof ProviderProblem && error.code === FORBIDDEN) return null;
    throw error;
  }
}

export interface StripeAccountView {
  readonly deliveryMethodId: string;
  readonly name: string;
  /** Null: not known yet, or the key may not read it. */
  readonly stripeAccountId: string | null;
}

/** Active accounts, oldest first. */
export async function listStripeAccounts({ db }: Pick<BillingContext, 'db'>): Promise<StripeAccountView[]> {
  const connections = await findConnections(db, PROVIDER.billingProvider, PROVIDER.deliveryMethod);
  return connections.map(({ id, configuration }) => ({
    deliveryMethodId: id,
    name: textOf(configuration.name) ?? '',
    stripeAccountId: textOf(configuration.stripe_account_id),
  }));
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** Ends a connection and removes its secrets. Pending deliveries wait for another one. Idempotent. */
export async function archiveStripeAccount({ db, clock }: BillingContext, id: string): Promise<void> {
  if (id === DEFAULT_STRIPE_CONNECTION_ID) {
    throw invalid(['deliveryMethodId'], 'is the account of the environment: unset STRIPE_API_KEY instead');
  }
  const connection = (await loadConnections(db, [id])).get(id);
  if (connection?.billingProvider !== 'stripe') throw notFound('delivery method', id);
  if (connection.archivedAt !== null) return;
  const configuration = { name: connection.configuration.name };
  await archiveConnection(db, { id, configuration, archivedAt: clock.now(), key: newId() });
}

/** The connection with this name; null if there is none. */
export async function findStripeAccount(
  { db }: Pick<BillingContext, 'db'>,
  name: string,
): Promise<BillingConnection | null> {
  const connections = await findConnections(db, PROVIDER.billingProvider, PROVIDER.deliveryMethod);
  return connections.find(({ configuration }) => configuration.name === name) ?? null;
}

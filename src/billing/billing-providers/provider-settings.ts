/**
 * Rules for the settings of providers, which are otherwise free-form (docs/catalogue.md, "Billing
 * providers"). Pure.
 */
import { type BillingProvider, COLLECTION_METHODS, type TaxProvider } from '../../core/billing-providers.ts';
import { type FieldPath, invalid } from '../../core/errors.ts';

export type ProviderSettings = Readonly<Record<string, unknown>>;

/** One setting under the two names that clients know it by; they are kept as they were sent. */
const PAYMENT_KEYS = {
  customerId: ['vendor_customer_id', 'stripe_customer_id'],
  collectionMethod: ['vendor_collection_method', 'stripe_collection_method'],
} as const;

const TAXED_COLLECTION_METHODS: readonly string[] = [
  'auto_charge_payment_intent',
  'manually_charge_payment_intent',
];

/** Refuses (`invalid`) settings that no payment provider could use. `path` is the path of the configuration. */
export function checkSettings(
  billingProvider: BillingProvider,
  settings: ProviderSettings,
  taxProvider: TaxProvider | null,
  path: FieldPath,
): void {
  if (billingProvider !== 'stripe') {
    if (taxProvider !== null) throw invalid([...path, 'taxProvider'], 'is for the billing provider stripe');
    return;
  }
  settingOf(settings, 'customerId', path);
  const method = settingOf(settings, 'collectionMethod', path);
  if (method !== null && !COLLECTION_METHODS.some((known) => known === method.value)) {
    throw invalid(
      [...path, 'settings', method.key],
      `must be one of ${COLLECTION_METHODS.join(', ')}, not ${method.value}`,
    );
  }
  if (taxProvider === null || TAXED_COLLECTION_METHODS.includes(method?.value ?? '')) return;
  throw invalid(
    [...path, 'taxProvider'],
    `needs one of the collection methods ${TAXED_COLLECTION_METHODS.join(', ')}`,
  );
}

/** The setting under whichever name it has; null where it is not given. */
function settingOf(
  settings: ProviderSettings,
  setting: keyof typeof PAYMENT_KEYS,
  path: FieldPath,
): { readonly key: string; readonly value: string } | null {
  let found: { readonly key: string; readonly value: string } | null = null;
  for (const key of PAYMENT_KEYS[setting]) {
    const value = settings[key];
    if (value === undefined || value === null) continue;
    if (typeof value !== 'string') throw invalid([...path, 'settings', key], 'must be a string');
    if (found !== null && found.value !== value) {
      throw invalid([...path, 'settings', key], `contradicts ${found.key}, which is the same setting`);
    }
    found = { key, value };
  }
  return found;
}

/** What a name of a setting says when its value is a secret. */
const SECRET_NAME =
  /secret|password|passphrase|token|credential|private_?key|api_?key|access_?key|signing_?key|connection_?string|certificate/i;

/** Names of identifiers, places and choices: nobody can do anything with these alone. */
const PUBLIC_NAME = /(^|_)(id|arn|region|name|email|environment|account|code|method|project|topic|queue)$/i;

/** The settings without those whose names tell of a secret, at any depth. */
export function withoutSecrets(settings: ProviderSettings): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(settings)
      .filter(([name]) => !SECRET_NAME.test(name))
      .map(([name, value]) => [name, withoutSecretMembers(value)]),
  );
}

/**
 * The part of a connection's settings that answers may show: booleans, and text whose name is known not to be
 * a secret.
 */
export function publicSettings(settings: ProviderSettings): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(settings).filter(([name, value]) => !SECRET_NAME.test(name) && isPublic(name, value)),
  );
}

function isPublic(name: string, value: unknown): boolean {
  if (typeof value === 'boolean') return true;
  if (typeof value !== 'string') return false;
  // An address may carry a user with a password, or a signature.
  return PUBLIC_NAME.test(name) || (/(^|_)url$/i.test(name) && !/[@?]/.test(value));
}

function withoutSecretMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecretMembers);
  return typeof value === 'object' && value !== null ? withoutSecrets({ ...value }) : value;
}

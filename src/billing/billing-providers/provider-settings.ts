/**
 * Validation of provider settings, which are otherwise free-form (docs/explanation/catalogue.md, "Billing providers").
 * Pure.
 */
import type { z } from 'zod';
import {
  type BillingProvider,
  COLLECTION_METHODS,
  type DeliveryMethod,
  type TaxProvider,
} from '../../core/billing-providers.ts';
import { type FieldPath, invalid } from '../../core/errors.ts';
import { receiverProblem } from '../../core/urls.ts';
import { customConfiguration } from '../../payments/custom/custom-provider.ts';
import { stripeOptions } from '../../payments/stripe/settings.ts';
import type { BillingContext } from '../billing-context.ts';

export type ProviderSettings = Readonly<Record<string, unknown>>;

/** A setting with two public names; it is stored under the name that was sent. */
const PAYMENT_KEYS = {
  customerId: ['vendor_customer_id', 'stripe_customer_id'],
  collectionMethod: ['vendor_collection_method', 'stripe_collection_method'],
} as const;

const TAXED_COLLECTION_METHODS: readonly string[] = [
  'auto_charge_payment_intent',
  'manually_charge_payment_intent',
];

/** The validated members of a configuration. */
interface CheckedConfiguration {
  readonly billingProvider: BillingProvider;
  readonly deliveryMethod: DeliveryMethod;
  readonly taxProvider: TaxProvider | null;
  readonly settings: ProviderSettings;
}

/** Refuses (`invalid`) settings that no provider could use. `path` is the path of the configuration. */
export function checkSettings(
  { billingProvider, deliveryMethod, taxProvider, settings }: CheckedConfiguration,
  path: FieldPath,
  { allowPrivate }: Pick<BillingContext, 'allowPrivate'>,
): void {
  if (deliveryMethod === 'webhook') {
    if (billingProvider !== 'custom') {
      throw invalid([...path, 'deliveryMethod'], 'webhook is for the billing provider custom');
    }
    checkMembers(customConfiguration, settings, path);
    const problem = receiverProblem(settings.url, { allowPrivate });
    if (problem !== null) throw invalid([...path, 'settings', 'url'], problem);
  }
  CHECKS[billingProvider](settings, taxProvider, path);
}

type CheckSettings = (settings: ProviderSettings, taxProvider: TaxProvider | null, path: FieldPath) => void;

const CHECKS: Readonly<Record<BillingProvider, CheckSettings>> = {
  stripe: checkStripeSettings,
  custom: refuseTaxes,
  aws_marketplace: refuseTaxes,
  azure_marketplace: refuseTaxes,
  gcp_marketplace: refuseTaxes,
  netsuite: refuseTaxes,
  quickbooks_online: refuseTaxes,
  workday: refuseTaxes,
  metronome: refuseTaxes,
};

function refuseTaxes(_: ProviderSettings, taxProvider: TaxProvider | null, path: FieldPath): void {
  if (taxProvider !== null) throw invalid([...path, 'taxProvider'], 'is for the billing provider stripe');
}

function checkStripeSettings(
  settings: ProviderSettings,
  taxProvider: TaxProvider | null,
  path: FieldPath,
): void {
  checkMembers(stripeOptions, settings, path);
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

/** Members that the service reads must have the right type; all others are stored unchanged. */
function checkMembers(schema: z.ZodObject, settings: ProviderSettings, path: FieldPath): void {
  const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null));
  const [issue] = schema.safeParse(given).error?.issues ?? [];
  if (issue === undefined) return;
  const [member] = issue.path;
  const isMissing = typeof member === 'string' && given[member] === undefined;
  throw invalid([...path, 'settings', String(member)], isMissing ? 'is required' : issue.message);
}

/** The setting under either of its names; null if omitted. */
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

/** Words in names of settings whose value is a secret. */
const SECRET_NAME =
  /secret|password|passphrase|token|credential|private_?key|api_?key|access_?key|signing_?key|connection_?string|certificate/i;

/** Names of identifiers, places and choices, which are not secret. */
const PUBLIC_NAME = /(^|_)(id|arn|region|name|email|environment|account|code|method|project|topic|queue)$/i;

/** The settings without those whose names indicate a secret, at any depth. */
export function withoutSecrets(settings: ProviderSettings): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(settings)
      .filter(([name]) => !SECRET_NAME.test(name))
      .map(([name, value]) => [name, withoutSecretMembers(value)]),
  );
}

/** The part of a connection's settings that answers may show: booleans, and texts whose name is known to be public. */
export function publicSettings(settings: ProviderSettings): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(settings).filter(([name, value]) => !SECRET_NAME.test(name) && isPublic(name, value)),
  );
}

function isPublic(name: string, value: unknown): boolean {
  if (typeof value === 'boolean') return true;
  if (typeof value !== 'string') return false;
  // A URL may contain a user with a password, or a signature.
  return PUBLIC_NAME.test(name) || (/(^|_)url$/i.test(name) && !/[@?]/.test(value));
}

function withoutSecretMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecretMembers);
  return typeof value === 'object' && value !== null ? withoutSecrets({ ...value }) : value;
}

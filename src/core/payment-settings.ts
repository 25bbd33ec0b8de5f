/**
 * The settings of payments: the Stripe account of the environment, and the public values of this service that others
 * receive.
 */
import { z } from 'zod';
import { url } from './settings.ts';

/** The account of Stripe that the environment names. */
export interface StripeConfig {
  readonly apiKey: string | undefined;
  readonly webhookSecret: string | undefined;
  readonly apiBase: string | undefined;
  readonly leavesInDraft: boolean;
}

/** A key or a secret issued by others. */
const secretText = z
  .string()
  .regex(/^[\x21-\x7e]{8,512}$/, 'must be printable ASCII without spaces, of 8 to 512 characters');

const SEALING_KEY_BYTES = 32;

/** A key for AES-256: its bytes in hex or base64. */
const sealingKey = z.string().transform((text, context): Buffer => {
  const bytes = /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64');
  if (bytes.length === SEALING_KEY_BYTES) return bytes;
  context.addIssue(`must be ${SEALING_KEY_BYTES} bytes in hex or base64`);
  return z.NEVER;
});

export const paymentSettings = {
  STRIPE_API_KEY: secretText
    .optional()
    .describe(
      'Secret or restricted key of the account of Stripe that invoices are delivered to. When unset, none is, unless further accounts are connected.',
    ),
  STRIPE_WEBHOOK_SECRET: secretText
    .optional()
    .describe(
      'What signs the events of that account, which Stripe sends to /v1/providers/stripe/webhook/default.',
    ),
  STRIPE_API_BASE: url('http', 'https')
    .optional()
    .describe('Where the interface of Stripe is, for tests and proxies. When unset, Stripe itself.'),
  STRIPE_LEAVE_IN_DRAFT: z
    .enum(['0', '1'], { error: 'must be 0 or 1' })
    .default('0')
    .describe('1: invoices stay drafts at Stripe, unless a customer has it otherwise.'),
  SECRETS_KEY: sealingKey
    .optional()
    .describe(
      'Encrypts the keys of further accounts of Stripe and the secrets of webhooks and custom receivers: 32 bytes, in hex or base64. When unset, such accounts are refused and such secrets are stored as they are.',
    ),
  PUBLIC_URL: url('http', 'https')
    .optional()
    .describe(
      'Where others reach this service, for links on invoices and addresses of dashboards. When unset, invoices have none.',
    ),
};

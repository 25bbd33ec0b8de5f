/**
 * Signatures of webhooks, in two schemes over the same secret (docs/explanation/notifications.md).
 *
 * The client's: lower-case hex of HMAC-SHA256 over date, line feed and body; its key is the text of the secret.
 * Standard Webhooks: base64 of HMAC-SHA256 over id, second and body; its key is the decoded secret.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { type Instant, SECOND_MS } from '../../core/time.ts';

const PREFIX = 'whsec_';
const KEY_BYTES = 32;

export interface SignedMessage {
  readonly id: string;
  /** The exact text that is sent. */
  readonly body: string;
}

/** A new random secret, in the form of Standard Webhooks. */
export function newSecret(): string {
  return `${PREFIX}${randomBytes(KEY_BYTES).toString('base64')}`;
}

/** The headers that sign a message at `at`. With several secrets the first is the current one. */
export function signatureHeaders(
  secrets: readonly [string, ...string[]],
  { id, body }: SignedMessage,
  at: Instant,
): Record<string, string> {
  const date = new Date(at).toUTCString();
  const second = String(Math.floor(at / SECOND_MS));
  return {
    date,
    'x-metronome-date': date,
    'metronome-webhook-signature': hmac(secrets[0], `${date}\n${body}`).toString('hex'),
    'webhook-id': id,
    'webhook-timestamp': second,
    'webhook-signature': secrets
      .map((secret) => `v1,${hmac(standardKey(secret), `${id}.${second}.${body}`).toString('base64')}`)
      .join(' '),
  };
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text, 'utf8').digest();
}

function standardKey(secret: string): Buffer {
  return Buffer.from(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret, 'base64');
}

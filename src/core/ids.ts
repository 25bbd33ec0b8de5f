/**
 * Identities: UUIDs ordered by creation for new entities, and name-based ones if the same input must give the same id.
 */
import { createHash, hash, randomUUID } from 'node:crypto';
import { eachJsonPart } from './json-in-parts.ts';

const UUID_LENGTH = 36;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

const FRACTIONS = 4_096;

/**
 * A UUID of version 7: 48 bits of real time in milliseconds, 12 bits of their fraction, and 62 random bits. So lists
 * ordered by time and id have the order of creation even while a sandbox clock stands still. The clock of the process
 * is monotonic.
 */
export function newId(): string {
  const at = performance.timeOrigin + performance.now();
  const ms = Math.floor(at);
  const time = ms.toString(16).padStart(12, '0');
  const fraction = Math.floor((at - ms) * FRACTIONS)
    .toString(16)
    .padStart(3, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${fraction}-${randomUUID().slice(19)}`;
}

export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** A UUID in lower case, which is how the service writes it; other texts are unchanged. */
export function withoutUuidCase(text: string): string {
  return text.length === UUID_LENGTH && isUuid(text) ? text.toLowerCase() : text;
}

/**
 * A version 5 style UUID over `parts`: the same parts always give the same id. Used for invoices and
 * lines, so that a draft has the id that its finalized invoice will have.
 */
export function derivedId(...parts: readonly string[]): string {
  return idOfDigest(hash('sha1', JSON.stringify(parts), 'hex'));
}

/** `derivedId(kind, JSON.stringify(document))`, computed in parts between which the process serves other requests. */
export async function derivedIdInParts(kind: string, document: object): Promise<string> {
  const digest = createHash('sha1').update(`[${JSON.stringify(kind)},"`);
  // No part ends inside a pair of surrogates, so each can be quoted by itself.
  await eachJsonPart(document, (part) => digest.update(JSON.stringify(part).slice(1, -1)));
  return idOfDigest(digest.update('"]').digest('hex'));
}

function idOfDigest(hex: string): string {
  const version = `5${hex.slice(13, 16)}`;
  const variant = '89ab'.charAt(Number.parseInt(hex.charAt(16), 16) & 0x3);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${version}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

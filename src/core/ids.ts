/** Identities: random UUIDs for new entities, name-based ones where the same input must give the same id. */
import { hash, randomUUID } from 'node:crypto';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function newId(): string {
  return randomUUID();
}

export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/**
 * A version 5 style UUID over `parts`: the same parts always give the same id. Used for invoices and
 * lines, so that a draft has the id that its finalized invoice will have.
 */
export function derivedId(...parts: readonly string[]): string {
  const hex = hash('sha1', JSON.stringify(parts), 'hex');
  const version = `5${hex.slice(13, 16)}`;
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${version}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

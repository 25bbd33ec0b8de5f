/** Identities: random UUIDs for new entities, name-based ones where the same input must give the same id. */
import { createHash, randomUUID } from 'node:crypto';

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
  const hash = createHash('sha1').update(JSON.stringify(parts)).digest();
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x50, 6);
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = hash.toString('hex', 0, 16);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/**
 * Secrets that sign what the service sends, sealed before they are stored where there is a key
 * (docs/explanation/security.md).
 */
import { openText, sealText } from './sealed-text.ts';

export interface Secrets {
  /** The sealed text to be stored instead of the secret; null: it is stored as it is. */
  seal(secret: string, purpose: string): string | null;
  /** The secret of a sealed text; null: there is no key, or it is another key or purpose. */
  open(sealed: string, purpose: string): string | null;
}

/** `seals`: not before every process on these stores opens sealed secrets. They are opened in any case. */
export function createSecrets(key: Buffer | undefined, { seals }: { readonly seals: boolean }): Secrets {
  return {
    seal: (secret, purpose) => (key === undefined || !seals ? null : sealText(key, secret, purpose)),
    open: (sealed, purpose) => (key === undefined ? null : openText(key, sealed, purpose)),
  };
}

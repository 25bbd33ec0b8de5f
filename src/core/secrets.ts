/**
 * Secrets that sign messages of the service, sealed before they are stored if there is a key
 * (docs/explanation/security.md).
 */
import { openText, sealText } from './sealed-text.ts';

export interface Secrets {
  /** The sealed text to store in place of the secret; null: store it as it is. */
  seal(secret: string, purpose: string): string | null;
  /** The secret of a sealed text; null: there is no key, or it was sealed with another key or for another purpose. */
  open(sealed: string, purpose: string): string | null;
}

/**
 * `seals`: enable this only when every process on these stores can open sealed secrets. They are opened in any case.
 */
export function createSecrets(key: Buffer | undefined, { seals }: { readonly seals: boolean }): Secrets {
  return {
    seal: (secret, purpose) => (key === undefined || !seals ? null : sealText(key, secret, purpose)),
    open: (sealed, purpose) => (key === undefined ? null : openText(key, sealed, purpose)),
  };
}

/**
 * The tokens of the identity provider in a session's row, sealed with a key that is derived from the text of the
 * session. The text is in the browser only, so a stolen database has no token that can be used.
 */
import { hkdfSync } from 'node:crypto';
import { openText, sealText } from '../core/sealed-text.ts';
import { type ProviderTokens, providerTokens } from './identity-provider.ts';

const PURPOSE = 'tokens of the identity provider';
const KEY_BYTES = 32;

export function sealTokens(sessionText: string, tokens: ProviderTokens): string {
  return sealText(keyOf(sessionText), JSON.stringify(tokens), PURPOSE);
}

/** Null: they were sealed for another session. */
export function openTokens(sessionText: string, sealed: string): ProviderTokens | null {
  const text = openText(keyOf(sessionText), sealed, PURPOSE);
  return text === null ? null : providerTokens.parse(JSON.parse(text));
}

function keyOf(sessionText: string): Buffer {
  return Buffer.from(hkdfSync('sha256', sessionText, '', PURPOSE, KEY_BYTES));
}

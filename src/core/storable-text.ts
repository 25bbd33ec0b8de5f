/** Texts that PostgreSQL can store: without U+0000, and without unpaired surrogates, which are not valid UTF-8. */

/** Why a text cannot be stored; null: it can. */
export function storageProblem(text: string): string | null {
  if (text.includes('\u0000')) return 'must not contain the character U+0000';
  // With the `u` flag a surrogate pair is one character, so only a lone surrogate matches.
  return /\p{Surrogate}/u.test(text) ? 'must not contain half a surrogate pair' : null;
}

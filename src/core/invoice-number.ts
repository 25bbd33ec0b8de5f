/**
 * Invoice numbers: how a pattern such as `INV-{year}-{number:6}` becomes the number of an invoice.
 *
 * A pattern has `{year}` and `{number}` exactly once. The year always has four digits, so the rest of the text
 * determines the number, and no two invoices of a pattern get the same text.
 */

export const DEFAULT_NUMBER_PATTERN = 'INV-{year}-{number:6}';

/** The year of the issue date in UTC, and the place in the sequence of that year, from 1. */
export interface NumberPosition {
  readonly year: number;
  readonly position: number;
}

const PLACEHOLDER = /\{(year|number)(?::(\d{1,2}))?\}/g;
/** Letters, digits and punctuation that are valid in file names, CSV cells and references of bank transfers. */
const LITERAL = /^[A-Za-z0-9][A-Za-z0-9 ._/#-]*$/;
const DIGITS_MAX = 12;
const LENGTH_MAX = 40;

/** Why a pattern is invalid; null if its numbers are unique. */
export function numberPatternProblem(pattern: string): string | null {
  const placeholders = [...pattern.matchAll(PLACEHOLDER)];
  for (const name of ['year', 'number']) {
    const times = placeholders.filter(([, found]) => found === name).length;
    if (times !== 1) return `must contain {${name}} once, such as ${DEFAULT_NUMBER_PATTERN}`;
  }
  for (const [text, name, digits] of placeholders) {
    if (digits === undefined) continue;
    if (name === 'year') return `must not give {year} a number of digits, as in ${text}: it has four`;
    if (Number(digits) < 1 || Number(digits) > DIGITS_MAX)
      return `must pad {number} to 1 to ${DIGITS_MAX} digits`;
  }
  if (pattern.length > LENGTH_MAX) return `must have at most ${LENGTH_MAX} characters`;
  if (!LITERAL.test(pattern.replaceAll(PLACEHOLDER, '0'))) {
    return 'must start with a letter, a digit or a placeholder and have only letters, digits, spaces and . _ / # - besides';
  }
  return null;
}

/** The number of an invoice. A position with more digits than the padding of the pattern keeps all of them. */
export function invoiceNumber(pattern: string, { year, position }: NumberPosition): string {
  return pattern.replaceAll(PLACEHOLDER, (_, name: string, digits: string | undefined) =>
    name === 'year' ? String(year).padStart(4, '0') : String(position).padStart(Number(digits ?? 1), '0'),
  );
}

/** The year in whose sequence an invoice is numbered. */
export function numberYear(issuedAt: number): number {
  return new Date(issuedAt).getUTCFullYear();
}

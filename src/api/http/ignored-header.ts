/**
 * The header that names the fields of a request which the service ignored, so that nothing is ignored in silence
 * where an answer has no `warnings`, and the header by which a client prefers that unknown fields are ignored.
 */
import type { UnknownFields } from './unknown-fields.ts';

export const IGNORED_HEADER = 'x-ignored-fields';

/** Servers and proxies take headers of 8 KB in all. */
const HEADER_LENGTH_MAX = 2_000;
/** An ellipsis in percent form. */
const AND_MORE = ', %E2%80%A6';

/** The paths of fields as a header: separated by commas, every other character than those of paths in percent form. */
export function ignoredHeader(fields: readonly string[]): string {
  const names = [...new Set(fields)].map((field) =>
    encodeURIComponent(wellFormed(field)).replaceAll(/%5B|%5D/g, bracket),
  );
  let text = '';
  for (const name of names) {
    const longer = text === '' ? name : `${text}, ${name}`;
    if (longer.length + AND_MORE.length > HEADER_LENGTH_MAX)
      return text === '' ? AND_MORE.slice(2) : text + AND_MORE;
    text = longer;
  }
  return text;
}

function bracket(encoded: string): string {
  return encoded === '%5B' ? '[' : ']';
}

/** A lone surrogate cannot be encoded. */
function wellFormed(text: string): string {
  return text.replaceAll(/\p{Surrogate}/gu, '\ufffd');
}

/** Whether the `Prefer` header (RFC 7240) asks for lenient handling. */
export function prefersLenient(prefer: string | undefined): boolean {
  return prefer !== undefined && /(?:^|[,;\s])handling\s*=\s*"?lenient"?(?:$|[,;\s])/i.test(prefer);
}

/** The treatment of unknown fields of an operation that refuses them (`isStrict`), or whose strict objects do. */
export function unknownFieldsOf(isStrict: boolean, isLenient: boolean): UnknownFields {
  if (isLenient) return 'ignore';
  return isStrict ? 'refuse' : 'refuse-in-strict';
}

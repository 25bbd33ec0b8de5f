/**
 * `limit` and `next_page` in the place where an operation does not have them: the official client sends them in the
 * query of some lists and in the body of others, and programs mix them up. Both places count on every list; a list that
 * would ignore one of them would always answer its first page.
 *
 * Owns: which of the two places counts. Does not own: the meaning of the values (`wire/paging.ts`).
 */
import { z } from 'zod';
import { Refusal } from '../../core/errors.ts';
import { JsonNumber } from '../base/json.ts';

const NAMES = ['limit', 'next_page'] as const;

type Parameters = Readonly<Record<string, string>>;

export interface PlacedPaging {
  /** Parameters that were sent in the body and belong in the query. */
  readonly toQuery: Parameters;
  /** Without the members that belong in the query, with those that were sent there instead. */
  readonly body: unknown;
}

/**
 * Moves the paging of requests of one operation to where its schemas have it. Refuses (`invalid`) a request with
 * different values in both places. Null for operations without a list or without a body.
 */
export function pagingPlaces(
  query: z.ZodObject | undefined,
  body: z.ZodType | undefined,
): ((sentQuery: Parameters, sentBody: unknown) => PlacedPaging) | null {
  const inQuery = namesIn(query);
  const inBody = namesIn(body);
  if (body === undefined || inQuery.length + inBody.length === 0) return null;
  return (sentQuery, sentBody) => {
    const toQuery: Record<string, string> = {};
    // A body that is no object is refused by its schema.
    if (typeof sentBody !== 'object' || sentBody === null || Array.isArray(sentBody)) {
      return { toQuery, body: sentBody };
    }
    const members = new Map<string, unknown>(Object.entries(sentBody));
    for (const name of NAMES) {
      const text = sentQuery[name] ?? '';
      const member = members.get(name) ?? null;
      refuseDifferent(name, text, member);
      if (inQuery.includes(name) && members.delete(name) && member !== null) toQuery[name] = String(member);
      if (inBody.includes(name) && text !== '') members.set(name, memberOf(name, text));
    }
    return { toQuery, body: Object.fromEntries(members) };
  };
}

function memberOf(name: string, text: string): unknown {
  return name === 'limit' && /^\d{1,9}$/.test(text) ? new JsonNumber(text) : text;
}

function namesIn(schema: z.ZodType | undefined): readonly (typeof NAMES)[number][] {
  return schema instanceof z.ZodObject ? NAMES.filter((name) => name in schema.shape) : [];
}

function refuseDifferent(name: string, inQuery: string, inBody: unknown): void {
  if (inQuery === '' || inBody === null || inQuery === String(inBody)) return;
  throw new Refusal(
    'invalid',
    `${name}: is ${inQuery} in the query and ${String(inBody)} in the body; send it once`,
  );
}

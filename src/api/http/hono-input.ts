/**
 * Path and query parameters: read by Hono, checked by its zod validator, refused with the service's messages.
 *
 * Owns: which query parameters count as given. Does not own: bodies, where Hono's JSON reader would lose
 * digits (`json.ts`), and headers. No header is input of a route; `auth.ts` and `exchange.ts` read theirs.
 * The validator is called as a function, because middleware would add handlers to every request
 * (`exchange.ts`).
 */
import { zValidator } from '@hono/zod-validator';
import type { Context, Env } from 'hono';
import { z } from 'zod';
import { checkInput, parseInput, refusalOf } from './problems.ts';

const HAS_NUL = 'must not contain the character U+0000';

/** Returns the parameters of a request as parsed by their schema. Throws a `Refusal` for invalid ones. */
export type ReadInput = (context: Context) => Promise<unknown>;

/** Like `ReadInput`, for query parameters. `moved` are those that the request has in another place. */
export type ReadQuery = (context: Context, moved?: Readonly<Record<string, string>>) => Promise<unknown>;

/** Path parameters, percent-decoded. */
export function pathReader(schema: z.ZodObject): ReadInput {
  return reader('param', 'path', z.preprocess(storableSegments, schema));
}

/** Query parameters; a repeated one is an array. */
export function queryReader(schema: z.ZodObject): ReadQuery {
  const given = z.preprocess(givenParameters, schema);
  const read = reader('query', 'query', given);
  return async (context, moved = {}) => {
    if (Object.keys(moved).length === 0) return await read(context);
    return checkInput(given, 'query', { ...context.req.queries(), ...moved });
  };
}

function reader(target: 'param' | 'query', source: 'path' | 'query', schema: z.ZodType): ReadInput {
  const validate = zValidator(
    target,
    schema,
    (result) => {
      if (!result.success) throw refusalOf(result.error.issues, source, result.data);
    },
    { validationFunction: parseInput },
  );
  return async (context: Context<Env, string, Validated>) => {
    await validate(context, async () => {});
    return context.req.valid(target);
  };
}

/** The part of Hono's request that holds validated values. */
interface Validated {
  in: object;
  out: { param: unknown; query: unknown };
}

/** No stored object has a name with U+0000, and messages that repeat one would not be storable texts. */
function storableSegments(segments: Record<string, string>, refinement: z.RefinementCtx): unknown {
  for (const [name, value] of Object.entries(segments)) {
    if (!value.includes('\u0000')) continue;
    refinement.addIssue({ code: 'custom', path: [name], message: HAS_NUL });
    return z.NEVER;
  }
  return segments;
}

/** A parameter with an empty value counts as absent: the official client sends null that way. */
function givenParameters(query: Record<string, string | string[]>, refinement: z.RefinementCtx): unknown {
  const given: [string, string | string[]][] = [];
  for (const [name, sent] of Object.entries(query)) {
    const values = [sent].flat().filter((value) => value !== '');
    if (values.some((value) => value.includes('\u0000'))) {
      refinement.addIssue({ code: 'custom', path: [name], message: HAS_NUL });
      return z.NEVER;
    }
    const [first, ...others] = values;
    if (first !== undefined) given.push([name, others.length === 0 ? first : values]);
  }
  return Object.fromEntries(given);
}

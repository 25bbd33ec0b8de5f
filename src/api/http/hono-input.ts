/**
 * Path and query parameters: read by Hono, checked by its zod validator, refused in our words.
 *
 * Owns: what counts as a query parameter. Does not own: bodies, which Hono would read with a loss of
 * digits (`json.ts`), and headers: none is input of a route, and those that the service reads have
 * answers of their own (401 for a token, a fresh id for an odd request id).
 * The validator is called as a function. As middleware it would put a chain of handlers behind every
 * request, which `exchange.ts` avoids.
 */
import { zValidator } from '@hono/zod-validator';
import type { Context, Env } from 'hono';
import { z } from 'zod';
import { parseInput, refusalOf } from './problems.ts';

/** Reads the parameters of a request; the output of their schema. Throws a `Refusal` where they break it. */
export type ReadInput = (context: Context) => Promise<unknown>;

/** Path parameters, percent-decoded. */
export function pathReader(schema: z.ZodObject): ReadInput {
  return reader('param', 'path', schema);
}

/** Query parameters; one that is given several times arrives as an array. */
export function queryReader(schema: z.ZodObject): ReadInput {
  return reader('query', 'query', z.preprocess(givenParameters, schema));
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

/** What Hono keeps of a request that passed its validators. */
interface Validated {
  in: object;
  out: { param: unknown; query: unknown };
}

/** A parameter without a value is one that was not given: the official client writes null so. */
function givenParameters(query: Record<string, string | string[]>, refinement: z.RefinementCtx): unknown {
  const given: [string, string | string[]][] = [];
  for (const [name, sent] of Object.entries(query)) {
    const values = [sent].flat().filter((value) => value !== '');
    if (values.some((value) => value.includes('\u0000'))) {
      refinement.addIssue({ code: 'custom', path: [name], message: 'must not contain the character U+0000' });
      return z.NEVER;
    }
    const [first, ...others] = values;
    if (first !== undefined) given.push([name, others.length === 0 ? first : values]);
  }
  return Object.fromEntries(given);
}

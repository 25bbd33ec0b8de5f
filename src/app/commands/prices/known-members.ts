/**
 * Compares a value with a JSON Schema: which members nobody knows, and which words are none of the possible ones. A
 * misspelt member would otherwise be ignored, and a price be another than its file says.
 */
import { z } from 'zod';
import { JsonNumber } from '../../../api/base/json.ts';
import type { JsonSchema } from '../../../api/http/json-schema.ts';
import { nearestName } from '../../../core/nearest-name.ts';
import { DECIMAL } from './file-schema.ts';

type Path = readonly (string | number)[];

export interface FileProblem {
  readonly path: Path;
  readonly message: string;
}

const schemaForm = z.looseObject({
  $ref: z.string().optional(),
  anyOf: z.array(z.unknown()).optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  enum: z.array(z.unknown()).optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  items: z.unknown().optional(),
});
type Schema = z.output<typeof schemaForm>;

/**
 * Returns the value with numbers that are written as text as numbers, and adds what is wrong to `problems`. Types and
 * required members are not its subject.
 */
export function knownMembers(value: unknown, schema: JsonSchema, problems: FileProblem[]): unknown {
  const definitions = z.record(z.string(), z.unknown()).parse(schema.$defs ?? {});
  const formOf = (given: unknown): Schema[] => {
    const form = schemaForm.parse(given);
    if (form.$ref !== undefined) return formOf(definitions[form.$ref.replace('#/$defs/', '')] ?? {});
    return form.anyOf === undefined ? [form] : form.anyOf.flatMap(formOf);
  };
  const visit = (one: unknown, given: unknown, path: Path): unknown => {
    const forms = formOf(given);
    if (typeof one === 'string') return readText(one, forms, path, problems);
    if (Array.isArray(one)) {
      const items = forms.find((form) => form.items !== undefined)?.items ?? {};
      return one.map((item: unknown, index) => visit(item, items, [...path, index]));
    }
    if (one === null || typeof one !== 'object' || one instanceof JsonNumber) return one;
    const known = forms.find(({ properties }) => properties !== undefined)?.properties;
    if (known === undefined) return one;
    return Object.fromEntries(
      Object.entries(one).flatMap(([name, member]) => {
        const at = [...path, name];
        if (Object.hasOwn(known, name)) return [[name, visit(member, known[name], at)]];
        problems.push({ path: at, message: `${name} is not a field${meant(name, Object.keys(known))}` });
        return [];
      }),
    );
  };
  return visit(value, schema, []);
}

function readText(text: string, forms: readonly Schema[], path: Path, problems: FileProblem[]): unknown {
  const isNumber = forms.some(({ type }) => Array.isArray(type) && type.includes('number'));
  if (isNumber && DECIMAL.test(text)) return new JsonNumber(text);
  const words = forms.flatMap((form) => form.enum ?? []).filter((word) => typeof word === 'string');
  if (words.length > 0 && !words.includes(text)) {
    const rest = meant(text, words) || `: it is one of ${words.join(', ')}`;
    problems.push({ path, message: `${path.at(-1)} cannot be ${text}${rest}` });
  }
  return text;
}

function meant(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known, (candidate) => Math.max(1, Math.floor(candidate.length / 3)));
  return nearest === null ? '' : `: did you mean ${nearest}?`;
}

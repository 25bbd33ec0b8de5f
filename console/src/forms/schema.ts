/** The schemas of the API's reference, as far as forms need them. Pure. */
import type { Kind } from './field.ts';

interface Raw {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Raw[];
  readonly items?: Raw;
  readonly properties?: Readonly<Record<string, Raw>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Raw | boolean;
  readonly format?: string;
  readonly description?: string;
}

export interface Reference {
  readonly components: { readonly schemas: Readonly<Record<string, Raw>> };
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly requestBody?: { readonly content: Content } }>>>
  >;
}

type Content = Readonly<Record<string, { readonly schema?: Raw }>>;

/** The schema of a field; `null` beside it counts as a field that may be missing. */
export interface FieldSchema {
  readonly raw: Raw;
  readonly reference: Reference;
  readonly kind: Kind;
  readonly isRequired: boolean;
  readonly choices: readonly string[];
  readonly items: FieldSchema | null;
}

/** The schema of an operation's body, by `POST /v1/customers`. Throws if the reference has none. */
export function bodySchema(reference: Reference, operation: string): FieldSchema {
  const [method = '', path = ''] = operation.split(' ');
  const content = reference.paths[path]?.[method.toLowerCase()]?.requestBody?.content;
  const raw = content?.['application/json']?.schema;
  if (raw === undefined) throw new Error(`the reference has no body of ${operation}`);
  return fieldSchema(raw, reference, true);
}

/** The schema at a place such as `a.b[0].c`. Throws if there is none. */
export function schemaAt(schema: FieldSchema, at: string): FieldSchema {
  let inner = schema;
  for (const step of at.split(/[.[]/)) {
    const next = /^\d+\]$/.test(step) ? inner.items : memberOf(inner, step);
    if (next === null) throw new Error(`the API has no field ${at}`);
    inner = next;
  }
  return inner;
}

function memberOf({ raw, reference, isRequired }: FieldSchema, name: string): FieldSchema | null {
  const member = raw.properties?.[name];
  // A required field of an object that may be missing may be missing with it.
  const isNeeded = isRequired && (raw.required?.includes(name) ?? false);
  if (member !== undefined) return fieldSchema(member, reference, isNeeded);
  // A map takes any name.
  if (typeof raw.additionalProperties !== 'object') return null;
  return fieldSchema(raw.additionalProperties, reference, false);
}

function fieldSchema(given: Raw, reference: Reference, isRequired: boolean): FieldSchema {
  const raw = plainOf(given, reference);
  return {
    raw,
    reference,
    isRequired,
    kind: kindOf(raw, reference),
    choices: choicesOf(raw),
    items: raw.items === undefined ? null : fieldSchema(raw.items, reference, true),
  };
}

/** Without a reference, and without `null` beside it. */
function plainOf(raw: Raw, reference: Reference): Raw {
  if (raw.$ref !== undefined) {
    return plainOf(reference.components.schemas[raw.$ref.split('/').at(-1) ?? ''] ?? {}, reference);
  }
  const other = raw.anyOf?.filter(({ type }) => type !== 'null') ?? [];
  return other.length === 1 && other[0] !== undefined ? plainOf(other[0], reference) : raw;
}

function choicesOf({ enum: choices, const: only }: Raw): readonly string[] {
  return (choices ?? (only === undefined ? [] : [only])).map(String);
}

function kindOf(raw: Raw, reference: Reference): Kind {
  const types = [raw.type].flat();
  if (types.includes('boolean')) return 'check';
  if (choicesOf(raw).length > 0) return 'choice';
  if (types.includes('number') || types.includes('integer')) return 'number';
  if (raw.items !== undefined)
    return plainOf(raw.items, reference).properties === undefined ? 'texts' : 'list';
  if (raw.properties === undefined && typeof raw.additionalProperties === 'object') return 'pairs';
  return raw.format === 'date-time' ? 'day' : 'text';
}

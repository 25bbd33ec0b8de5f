/**
 * Generates the example of an answer from its JSON Schema: its own example if it has one, otherwise a plausible value.
 * Requests have examples that are written and run (`examples/`).
 */
import type { JsonSchema } from './json-schema.ts';

/**
 * Below this depth, lists are empty. Required members are shown at any depth, so that the example matches its schema.
 */
const LIST_DEPTH_MAX = 10;

const TEXT_BY_FORMAT: Readonly<Record<string, string>> = {
  uuid: 'd7abd0cd-4ae9-4db7-8676-e986a4ebd8dc',
  'date-time': '2026-11-01T00:00:00.000Z',
};

/** `components` are the targets of `$ref`s. Deeply nested optional members are left out. */
export function exampleOf(
  schema: JsonSchema | boolean,
  components: Readonly<Record<string, JsonSchema>>,
  depth = 0,
): unknown {
  if (typeof schema === 'boolean') return {};
  const [given] = [schema.example, ...[schema.examples ?? []].flat(), schema.default, schema.const].filter(
    (value) => value !== undefined,
  );
  if (given !== undefined) return given;
  if (schema.$ref !== undefined) {
    const target = components[schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)];
    return target === undefined ? {} : exampleOf(target, components, depth + 1);
  }
  const [option] = schema.anyOf ?? schema.oneOf ?? [];
  if (option !== undefined) return exampleOf(option, components, depth);
  if (schema.enum !== undefined) return schema.enum[0];
  return exampleOfType(schema, components, depth);
}

/** The items of a list that is always empty. */
function isNever(schema: JsonSchema | boolean): boolean {
  return schema === false || (typeof schema === 'object' && schema.not !== undefined);
}

function exampleOfType(
  schema: JsonSchema,
  components: Readonly<Record<string, JsonSchema>>,
  depth: number,
): unknown {
  const [type] = [schema.type].flat();
  switch (type) {
    case 'array': {
      const items = schema.items;
      const isEmpty = items === undefined || Array.isArray(items) || isNever(items) || depth > LIST_DEPTH_MAX;
      return isEmpty ? [] : [exampleOf(items, components, depth + 1)];
    }
    case 'object': {
      const required = new Set(schema.required ?? []);
      const shown = Object.entries(schema.properties ?? {}).filter(
        ([name]) => depth < 4 || required.has(name),
      );
      return Object.fromEntries(
        shown.map(([name, member]) => [name, exampleOf(member, components, depth + 1)]),
      );
    }
    case 'integer':
    case 'number':
      return Math.max(schema.minimum ?? 1, 1);
    case 'boolean':
      return true;
    case 'null':
      return null;
    case 'string':
      return TEXT_BY_FORMAT[schema.format ?? ''] ?? 'text';
    default:
      return {};
  }
}

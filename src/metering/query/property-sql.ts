/**
 * Reads a property from an event in SQL.
 *
 * The literal name wins; if it is absent, a name with dots is a path into a nested value: `a.b` is the member `b` of
 * the JSON text stored under `a`.
 */
import type { Parameters } from './parameters.ts';

export interface PropertySql {
  /** Nullable(String). NULL if the property is absent. */
  readonly value: string;
  /** String. Empty if the property is absent. */
  readonly text: string;
  /** Whether the event has the property. */
  readonly isPresent: string;
  /** Whether it may be inside a nested value. The expression is long then. */
  readonly isPath: boolean;
}

/** `documentOf` returns a column with the `documentSql` of a property, for callers that read many paths at once. */
export function propertySql(
  parameters: Parameters,
  name: string,
  documentOf: (property: string) => string = (property) => documentSql(parameters, property),
): PropertySql {
  const key = parameters.bind('property', 'String', name);
  const hasKey = `mapContains(properties, ${key})`;
  const path = pathOf(name);
  if (path === null) {
    return {
      value: `if(${hasKey}, properties[${key}], NULL)`,
      text: `properties[${key}]`,
      isPresent: hasKey,
      isPath: false,
    };
  }
  const steps = path.steps.map((step) => parameters.bind('property', 'String', step)).join(', ');
  // NULL for a null member as well as for an absent one.
  const value = `if(${hasKey}, properties[${key}], JSONExtract(${documentOf(path.head)}, ${steps}, 'Nullable(String)'))`;
  return { value, text: `ifNull(${value}, '')`, isPresent: `isNotNull(${value})`, isPath: true };
}

/** The property and the path within it for a name with dots; null for a name without dots. */
function pathOf(name: string): { readonly head: string; readonly steps: readonly string[] } | null {
  const [head, ...steps] = name.split('.');
  return head === undefined || steps.length === 0 ? null : { head, steps };
}

/**
 * The text of a property if it is a JSON object, with every number in quotes, because ClickHouse reads JSON numbers as
 * doubles and would lose digits. Empty for any other text: most values are not objects, which their first character
 * shows.
 *
 * Numbers are quoted only in text that consists of whole tokens. There each match of the second pattern ends at the
 * first number after the last one, so the work is linear in the text. On text with, say, an unclosed quotation mark,
 * every match would scan all that follows, which is quadratic.
 *
 * The second pattern skips whole strings, so that digits inside them stay as they are; the number appended to the text
 * makes it reach the end, and is removed again.
 */
export function documentSql(parameters: Parameters, property: string): string {
  return documentOfTextSql(`properties[${parameters.bind('property', 'String', property)}]`);
}

/** `documentSql` for any String expression, which is repeated; with `opening` `[` for a JSON list. */
export function documentOfTextSql(text: string, opening: '{' | '[' = '{'): string {
  const quoted = `left(replaceRegexpAll(concat(${text}, ' 0'), ${NUMBER_AFTER_ANYTHING}, '\\\\1"\\\\2"'), -4)`;
  return `if(match(${text}, ${opening === '{' ? OBJECT_OF_TOKENS : LIST_OF_TOKENS}), ${quoted}, '')`;
}

const SPACE = String.raw`[ \t\r\n]*`;
const STRING = String.raw`"(?:[^"\\]|\\.)*"`;
/** U+0000 cannot be stored in usage, so a value that contains it is not read. */
const STRING_WITHOUT_NUL = String.raw`"(?:[^"\\]|\\(?:[^u]|u0{0,3}[1-9a-fA-F]))*"`;
const NUMBER = '-?(?:0|[1-9][0-9]*)(?:[.][0-9]+)?(?:[eE][+-]?[0-9]+)?';

/**
 * Strings, numbers and other characters after an opening brace. A number must be a value: quoted as the name of a
 * member it would become a string, and invalid JSON would become valid. The parser checks the rest.
 */
const TOKENS = `(?:[^"0-9-]|${STRING_WITHOUT_NUL}|${NUMBER}${SPACE}[],}])*$`;
const OBJECT_OF_TOKENS = pattern(`^${SPACE}[{]${TOKENS}`);
const LIST_OF_TOKENS = pattern(`^${SPACE}[[]${TOKENS}`);

const NUMBER_AFTER_ANYTHING = pattern(`((?:${STRING}|[^"0-9-])*)([0-9-][0-9.eE+-]*)`);

/** A ClickHouse literal, in which each backslash is escaped; a dot matches any character. */
function pattern(regularExpression: string): string {
  return `'(?s)${regularExpression.replaceAll('\\', '\\\\')}'`;
}

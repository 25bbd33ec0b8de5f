/**
 * How a property is read from an event in SQL.
 *
 * The literal name wins; a name with dots that is not there leads along a path into a nested value:
 * `a.b` is the member `b` of the JSON text stored under `a`.
 */
import type { Parameters } from './parameters.ts';

export interface PropertySql {
  /** String. Empty where the property is absent. */
  readonly text: string;
  /** Whether the event has the property. */
  readonly isPresent: string;
}

export function propertySql(parameters: Parameters, name: string): PropertySql {
  const key = parameters.bind('property', 'String', name);
  const hasKey = `mapContains(properties, ${key})`;
  const [head, ...path] = name.split('.');
  if (head === undefined || path.length === 0) return { text: `properties[${key}]`, isPresent: hasKey };
  const json = numbersQuoted(`properties[${parameters.bind('property', 'String', head)}]`);
  const steps = path.map((step) => parameters.bind('property', 'String', step)).join(', ');
  return {
    text: `if(${hasKey}, properties[${key}], JSONExtractString(${json}, ${steps}))`,
    // JSONType is Null for a member that is null as well as for one that is not there.
    isPresent: `if(${hasKey}, 1, JSONType(${json}, ${steps}) != 'Null')`,
  };
}

/**
 * JSON text with every number in quotes, because ClickHouse reads JSON numbers as doubles and would
 * lose digits. The pattern steps over whole strings, so that digits inside them stay as they are; the
 * number put behind the text makes it reach the end, and is taken off again.
 */
function numbersQuoted(json: string): string {
  return `left(replaceRegexpAll(concat(${json}, ' 0'), ${NUMBER_AFTER_ANYTHING}, '\\\\1"\\\\2"'), -4)`;
}

/** A ClickHouse literal: each backslash of the pattern is written twice. */
const NUMBER_AFTER_ANYTHING = String.raw`'((?:"(?:[^"\\\\]|\\\\.)*"|[^"0-9-])*)(-?[0-9][0-9.eE+-]*)'`;

/**
 * Converts the `properties` of an event to names and texts, the form stored in ClickHouse.
 *
 * Strings stay as sent; numbers become plain decimal text; booleans `true` and `false`; null means that the property is
 * absent; objects and arrays become JSON text in the same notation of numbers.
 */
import {
  PROPERTIES_LENGTH_MAX,
  PROPERTIES_MAX,
  PROPERTY_DEPTH_MAX,
  PROPERTY_NAME_LENGTH_MAX,
} from './event-limits.ts';
import { numberText } from './number-text.ts';

/** Facts about the whole body, so that the common case skips work per string. */
export interface BodyTraits {
  /** The body has `\u`, the only way to a NUL or an unpaired surrogate. */
  readonly hasUnicodeEscapes: boolean;
  /** Texts of the numbers of a body that was parsed the slow way; null after the fast way. */
  readonly numbers: readonly string[] | null;
}

/** The result: `problem` is null exactly if `members` are valid. */
export interface PropertiesResult {
  /** Alternating names and texts. */
  members: string[];
  problem: string | null;
  sawNumber: boolean;
}

const HALF_SURROGATE_OR_NUL = /\0|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/** Why this text cannot be stored, or null. It must be valid in UTF-8 and in Postgres. */
export function textProblem(text: string, body: BodyTraits): string | null {
  if (!body.hasUnicodeEscapes || !HALF_SURROGATE_OR_NUL.test(text)) return null;
  return text.includes('\0')
    ? 'must not contain the character U+0000'
    : 'must not contain half of a surrogate pair';
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Writes into `result`, which the caller reuses for each event. */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: a call for each byte or id would cost more than the work itself.
export function writeProperties(value: unknown, body: BodyTraits, result: PropertiesResult): void {
  result.problem = null;
  result.members = [];
  if (value === undefined || value === null) return;
  if (!isObject(value)) {
    result.problem = 'properties: must be an object';
    return;
  }
  let count = 0;
  let length = 0;
  for (const name in value) {
    count += 1;
    if (count > PROPERTIES_MAX) {
      result.problem = `properties: must have at most ${PROPERTIES_MAX} members`;
      return;
    }
    const member = value[name];
    if (member === null) continue;
    const memberText = typeof member === 'string' ? member : otherText(member, body, result);
    if (memberText === null) {
      result.problem = `properties.${shortened(name)}: ${result.problem ?? 'cannot be stored'}`;
      return;
    }
    length += name.length + memberText.length;
    if (name.length > PROPERTY_NAME_LENGTH_MAX || length > PROPERTIES_LENGTH_MAX || body.hasUnicodeEscapes) {
      result.problem = memberProblem(name, memberText, length, body);
      if (result.problem !== null) return;
    }
    result.members.push(name, memberText);
  }
}

function memberProblem(name: string, text: string, length: number, body: BodyTraits): string | null {
  if (name.length > PROPERTY_NAME_LENGTH_MAX) {
    return `properties.${shortened(name)}: the name must have at most ${PROPERTY_NAME_LENGTH_MAX} characters`;
  }
  if (length > PROPERTIES_LENGTH_MAX) {
    return `properties: names and values must have at most ${PROPERTIES_LENGTH_MAX} characters together`;
  }
  const problem = textProblem(name, body) ?? textProblem(text, body);
  return problem === null ? null : `properties.${shortened(name)}: ${problem}`;
}

/** Text of a value that is not a string, or null with the reason in `result.problem`. */
function otherText(value: unknown, body: BodyTraits, result: PropertiesResult): string | null {
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  if (typeof value === 'number') return checkedNumber(value, body, result);
  return nestedText(value, 1, body, result);
}

function checkedNumber(value: number, body: BodyTraits, result: PropertiesResult): string | null {
  result.sawNumber = true;
  const text = numberText(value, body.numbers);
  if (text === null)
    result.problem = 'the number has too many digits; send it as a string to keep it as it is';
  return text;
}

/** JSON text of a nested value. `depth` counts the enclosing objects and arrays, itself included. */
function nestedText(
  value: unknown,
  depth: number,
  body: BodyTraits,
  result: PropertiesResult,
): string | null {
  if (value === null) return 'null';
  if (typeof value === 'string') return nestedString(value, body, result);
  if (typeof value !== 'object') return otherText(value, body, result);
  if (depth > PROPERTY_DEPTH_MAX) {
    result.problem = `values must not be nested deeper than ${PROPERTY_DEPTH_MAX} levels`;
    return null;
  }
  const parts: string[] = [];
  if (Array.isArray(value)) {
    for (const member of value) {
      const text = nestedText(member, depth + 1, body, result);
      if (text === null) return null;
      parts.push(text);
    }
    return `[${parts.join(',')}]`;
  }
  for (const [name, member] of Object.entries(value)) {
    const nameText = nestedString(name, body, result);
    if (nameText === null) return null;
    const text = nestedText(member, depth + 1, body, result);
    if (text === null) return null;
    parts.push(`${nameText}:${text}`);
  }
  return `{${parts.join(',')}}`;
}

function nestedString(text: string, body: BodyTraits, result: PropertiesResult): string | null {
  result.problem = textProblem(text, body);
  return result.problem === null ? JSON.stringify(text) : null;
}

const SHOWN_NAME_LENGTH_MAX = 64;

/** A name for an error message: malicious names can be megabytes long. */
function shortened(name: string): string {
  return name.length > SHOWN_NAME_LENGTH_MAX
    ? `${name.slice(0, SHOWN_NAME_LENGTH_MAX).replace(/\p{Surrogate}$/u, '')}…`
    : name;
}

/**
 * Lossless JSON, in and out.
 *
 * Owns: parsing text into plain values, in which a number that a double might not hold exactly is a
 * `JsonNumber`; writing values that contain `Decimal`s. Does not own: schemas (`wire/fields.ts`), HTTP.
 * The last of repeated keys wins, as with `JSON.parse`; `__proto__` is an ordinary key.
 */
import { parse } from 'lossless-json';
import { Decimal } from '../../core/decimal.ts';
import { Refusal } from '../../core/errors.ts';
import { afterOtherWork } from '../../core/in-chunks.ts';
import { storageProblem } from '../../core/storable-text.ts';

/** A number literal exactly as it was sent: one with an exponent, or with more digits than a double keeps. */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

/** A list whose items are created one by one as they are written, so that a long one does not need memory for all. */
export class JsonList<Item = never, Written = unknown> {
  readonly items: readonly Item[];
  readonly #write: (item: Item) => Written;
  readonly #textOf: (written: Written) => string;

  /** `write` may return a text of JSON as `JsonText`. `textOf` writes what `stringifyJson` does. */
  constructor(
    items: readonly Item[],
    write: (item: Item) => Written,
    textOf: (written: Written) => string = stringifyJson,
  ) {
    this.items = items;
    this.#write = write;
    this.#textOf = textOf;
  }

  /** All items at once, for encodings other than JSON. */
  written(): Written[] {
    return this.items.map((item) => this.#write(item));
  }

  /** The list with each item written as the result of `map`. */
  mapped<Mapped>(map: (written: Written) => Mapped): JsonList<Item, Mapped> {
    return new JsonList(this.items, (item) => map(this.#write(item)));
  }

  /** The JSON of each item, created when it is requested. */
  *texts(): Generator<string, void, undefined> {
    for (const item of this.items) {
      const value = this.#write(item);
      yield value instanceof JsonText ? value.text : this.#textOf(value);
    }
  }
}

/** JSON that is written already. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Every literal of up to 15 digits survives the conversion to a double and back. */
const SAFE_DIGITS_MAX = 15;
/** UTF-8 has no lone surrogates, so only an escape can introduce one. */
const MAY_HOLD_UNSTORABLE = /\\u(?:0000|[dD][89a-fA-F])/;

/** Far above any body of the API, and far below the stack limit of the recursive parser. */
const DEPTH_MAX = 64;

/**
 * Parses a JSON text. Refuses with 400: malformed JSON (naming the position), nesting deeper than 64, and
 * characters that PostgreSQL cannot store (U+0000 and lone surrogates).
 */
export function parseJson(text: string): unknown {
  refuseDeepNesting(text);
  return parsed(text, MAY_HOLD_INEXACT_NUMBER.test(text));
}

/**
 * `parseJson` for a long text. Other work of the process runs between its steps, each of which goes through the whole
 * text.
 */
export async function parseLongJson(text: string): Promise<unknown> {
  refuseDeepNesting(text);
  await afterOtherWork();
  const mayHoldInexact = MAY_HOLD_INEXACT_NUMBER.test(text);
  await afterOtherWork();
  return parsed(text, mayHoldInexact);
}

function parsed(text: string, mayHoldInexact: boolean): unknown {
  try {
    const value: unknown = mayHoldInexact ? parseExactly(text) : parsePlainly(text);
    if (MAY_HOLD_UNSTORABLE.test(text)) refuseUnstorable(value, '');
    return value;
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new Refusal('invalid', `body is not valid JSON: ${error.message}`);
    throw error;
  }
}

/**
 * Finds every number that a double might not hold exactly, which follows one of these characters, and some texts in
 * quotes that look like one.
 */
const MAY_HOLD_INEXACT_NUMBER = new RegExp(`(?:^|[[:,])\\s*-?(?:[\\d.]{${SAFE_DIGITS_MAX + 1}}|[\\d.]+[eE])`);

/** The usual case, several times as fast. */
function parsePlainly(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Its messages do not name the position on all versions of Node.
    return parseExactly(text);
  }
}

function parseExactly(text: string): unknown {
  return parse(text, undefined, {
    parseNumber: readNumber,
    onDuplicateKey: ({ newValue }) => newValue,
  });
}

function readNumber(text: string): number | JsonNumber {
  if (text.length <= SAFE_DIGITS_MAX && !/[eE]/.test(text)) return Number(text);
  const digits = text.replace(/[-.]/g, '').length;
  return digits <= SAFE_DIGITS_MAX && !/[eE]/.test(text) ? Number(text) : new JsonNumber(text);
}

/** Counts brackets outside strings before the recursive parser runs, which deep nesting would crash. */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: one pass over the characters of a body; a call for each would cost more than the parser.
function refuseDeepNesting(text: string): void {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (inString) {
      if (code === 0x5c) i++;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x5b || code === 0x7b) {
      depth++;
      if (depth > DEPTH_MAX) {
        throw new Refusal('invalid', `body is nested deeper than ${DEPTH_MAX} levels at position ${i}`);
      }
    } else if (code === 0x5d || code === 0x7d) depth--;
  }
}

function refuseUnstorable(value: unknown, path: string): void {
  if (typeof value === 'string') {
    const problem = storageProblem(value);
    if (problem !== null) throw new Refusal('invalid', `${path || 'body'}: ${problem}`);
  } else if (Array.isArray(value)) {
    value.forEach((item, index) => {
      refuseUnstorable(item, `${path}[${index}]`);
    });
  } else if (value !== null && typeof value === 'object') {
    for (const [key, member] of Object.entries(value)) {
      refuseUnstorable(key, `${path || 'body'} (a key)`);
      refuseUnstorable(member, path === '' ? key : `${path}.${key}`);
    }
  }
}

/**
 * Writes a value as JSON. A `Decimal` becomes a number literal with all its digits and no exponent, a
 * `JsonNumber` the literal it was sent as; `undefined` members are left out. Throws on values that JSON
 * cannot represent (NaN, Infinity, bigint, functions, class instances): a bug of the caller.
 */
export function stringifyJson(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value === undefined) throw new Error('undefined is not a JSON value');
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new Error(`${value} is not a JSON value`);
    return JSON.stringify(value);
  }
  if (typeof value !== 'object') throw new Error(`a ${typeof value} is not a JSON value`);
  if (value instanceof Decimal) return value.toString();
  if (value instanceof JsonNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(stringifyJson).join(',')}]`;
  if (value instanceof JsonList) return `[${[...value.texts()].join(',')}]`;
  return stringifyObject(value);
}

function stringifyObject(value: object): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    throw new Error(`a ${value.constructor.name} is not a JSON value`);
  }
  let members = '';
  const record = value as Readonly<Record<string, unknown>>;
  for (const key of Object.keys(record)) {
    const member = record[key];
    if (member === undefined) continue;
    members += `${members === '' ? '' : ','}${keyText(key)}:${stringifyJson(member)}`;
  }
  return `{${members}}`;
}

/**
 * The double that JSON shows with the digits of the decimal; null if there is none. With it, `JSON.stringify` writes
 * the same as `stringifyJson`, several times as fast.
 */
export function doubleOf(value: Decimal): number | null {
  const text = value.toString();
  const double = Number(text);
  return String(double) === text ? double : null;
}

/** Letters, digits and `_` need no escapes. Most keys have nothing else, and a long list writes each many times. */
const PLAIN_KEY = /^\w+$/;

function keyText(key: string): string {
  return PLAIN_KEY.test(key) ? `"${key}"` : JSON.stringify(key);
}

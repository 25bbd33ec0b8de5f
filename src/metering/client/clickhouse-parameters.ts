/**
 * Parameter values and settings of a query.
 *
 * A server takes parameters beside the query, as a form. The embedded engine's own binding runs all parameterised
 * queries of the process one after another, so its parameters are sent as `SET param_x = '…'` before the query instead,
 * which is private to a connection.
 */
import { assert } from '../../core/errors.ts';
import type { QueryParams, QuerySettings } from './clickhouse.ts';

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

const STRING_ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  "'": "\\'",
  '\0': '\\0',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

/** A single-quoted ClickHouse literal. */
export function stringLiteral(text: string): string {
  return `'${text.replace(/[\\'\0\b\f\n\r\t]/g, (character) => STRING_ESCAPES[character] ?? character)}'`;
}

/** Each parameter with the text of its value in ClickHouse's syntax. */
export function parameterTexts(params: QueryParams): Array<readonly [name: string, text: string]> {
  return Object.entries(params).map(([name, value]) => {
    assert(NAME.test(name), `parameter name ${name}`);
    return [name, parameterText(value)];
  });
}

/** `SET param_a = '…', param_b = '…'; `, or nothing without parameters. */
export function parameterStatement(params: QueryParams): string {
  const assignments = parameterTexts(params).map(([name, text]) => `param_${name} = ${stringLiteral(text)}`);
  return assignments.length === 0 ? '' : `SET ${assignments.join(', ')}; `;
}

/**
 * The parameters as a form, whose length is not limited like that of a URL. `boundary` must not occur in any value: a
 * random one never does.
 */
export function parameterForm(params: QueryParams, boundary: string): string {
  const parts = parameterTexts(params).map(
    ([name, text]) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="param_${name}"\r\n\r\n${text}\r\n`,
  );
  return `${parts.join('')}--${boundary}--\r\n`;
}

/** The text of a parameter value in ClickHouse's syntax: strings in the escaped format, others as literals. */
function parameterText(value: unknown): string {
  if (typeof value === 'string') return stringLiteral(value).slice(1, -1).replaceAll("\\'", "'");
  if (value === null) return '\\N';
  if (typeof value === 'boolean') return value ? '1' : '0';
  return literal(value);
}

function literal(value: unknown): string {
  if (typeof value === 'string') return stringLiteral(value);
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (value === null) return 'NULL';
  if (typeof value === 'number') {
    assert(Number.isFinite(value), `a parameter must not be ${value}`);
    assert(
      !Number.isInteger(value) || Number.isSafeInteger(value),
      `${value} has lost digits: pass it as text`,
    );
    return String(value);
  }
  if (Array.isArray(value)) return `[${value.map(literal).join(',')}]`;
  if (value instanceof Map) return mapLiteral([...value.entries()]);
  assert(
    isPlainObject(value),
    'a parameter must be text, a number, a boolean, null, an array or a map of these',
  );
  return mapLiteral(Object.entries(value));
}

function mapLiteral(entries: ReadonlyArray<readonly [unknown, unknown]>): string {
  return `{${entries.map(([key, value]) => `${literal(key)}:${literal(value)}`).join(',')}}`;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** `SETTINGS a = 1, b = 'x'`. */
export function settingsClause(settings: QuerySettings): string {
  const parts = Object.entries(settings).map(([name, value]) => {
    assert(NAME.test(name), `setting name ${name}`);
    if (typeof value === 'string') return `${name} = ${stringLiteral(value)}`;
    assert(Number.isFinite(value), `setting ${name} must not be ${value}`);
    return `${name} = ${value}`;
  });
  return `SETTINGS ${parts.join(', ')}`;
}

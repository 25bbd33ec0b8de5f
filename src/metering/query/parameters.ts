/**
 * Collects the values of a query as `{name:Type}` placeholders, so that user input never becomes SQL text. Equal values
 * share a placeholder, which also lets ClickHouse recognise equal expressions and compute them once.
 */
import type { QueryParams } from '../client/clickhouse.ts';

type ParameterType =
  | 'String'
  | 'Array(String)'
  | 'Array(UInt32)'
  | 'Int64'
  | 'Array(Int64)'
  | 'UInt8'
  | 'UInt32';

export interface Parameters {
  /** The placeholder for `value`. `name` is a hint; a number is appended if another value uses it. */
  bind(name: string, type: ParameterType, value: string | number | readonly (string | number)[]): string;
  /** Sets a value of a fixed name, which the statement contains itself, or which is about the statement. */
  note(name: string, value: string | readonly string[]): void;
  values(): QueryParams;
}

export function createParameters(): Parameters {
  const values: Record<string, unknown> = {};
  const placeholders = new Map<string, string>();
  return {
    bind: (name, type, value) => {
      const identity = JSON.stringify([type, value]);
      const known = placeholders.get(identity);
      if (known !== undefined) return known;
      const freeName = unusedName(name, values);
      values[freeName] = value;
      const placeholder = `{${freeName}:${type}}`;
      placeholders.set(identity, placeholder);
      return placeholder;
    },
    note: (name, value) => {
      values[name] = value;
    },
    values: () => values,
  };
}

function unusedName(hint: string, values: Readonly<Record<string, unknown>>): string {
  let name = hint;
  for (let number = 2; Object.hasOwn(values, name); number += 1) name = `${hint}_${number}`;
  return name;
}

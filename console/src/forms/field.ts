/** What a form is, and the values that a person has given. */
import type { CreditType } from '../format/money.ts';

/** How a field is entered. Without a kind, the schema of the API decides. */
export type Kind =
  | 'text'
  | 'lines'
  | 'number'
  | 'choice'
  | 'check'
  /** A day in UTC, at midnight. */
  | 'day'
  /** A last day that is included; the API gets the midnight after it. */
  | 'lastDay'
  /** Texts, one a line. */
  | 'texts'
  /** Names with their values. */
  | 'pairs'
  /** An amount in the unit that people use, such as dollars. */
  | 'money'
  /** A pricing unit, in which the amounts of the form are. */
  | 'unit'
  | 'customer'
  | 'contract'
  | 'product'
  | 'rateCard'
  | 'package'
  | 'metric'
  /** A FIXED product by its name: it is created if there is none. */
  | 'charged'
  | 'list';

export interface FormField {
  /** Its place in the body, as refusals of the API name it: `access_schedule.schedule_items[0].amount`. */
  readonly at: string;
  readonly label: string;
  readonly kind?: Kind;
  readonly hint?: string;
  /** The value of a new form. */
  readonly start?: string | boolean;
  /** For money: where the pricing unit of the amount goes. */
  readonly unitAt?: string;
  /** For a product: which ones can be chosen. */
  readonly types?: readonly string[];
  /** For a list: the fields of an entry, and the name of one. */
  readonly fields?: readonly FormField[];
  readonly entry?: string;
  isShown?(values: Values): boolean;
  /** For money: whether the amount is one; else it is a number. */
  isMoney?(values: Values): boolean;
}

export type Value = string | boolean | readonly Values[];
export interface Values {
  readonly [at: string]: Value | undefined;
}

/** Fields are by the place of the field, and lists have the values of their entries. */
export function startOf(fields: readonly FormField[], known: Values = {}): Values {
  const start = fields.flatMap(({ at, start: value }) => (value === undefined ? [] : [[at, value] as const]));
  return { ...Object.fromEntries(start), ...known };
}

export function textOf(values: Values, at: string): string {
  const value = values[at];
  return typeof value === 'string' ? value : '';
}

export function entriesOf(values: Values, at: string): readonly Values[] {
  const value = values[at];
  return typeof value === 'object' ? value : [];
}

export function shownFields(fields: readonly FormField[], values: Values): readonly FormField[] {
  return fields.filter(({ isShown }) => isShown?.(values) ?? true);
}

/** What amounts are in, where nothing else is chosen. */
export const USD: CreditType = { id: '2714e483-4ff1-48e4-9e25-ac732e8f24f2', name: 'USD (cents)' };

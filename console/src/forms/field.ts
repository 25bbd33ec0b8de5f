/** The fields of a form, and the values that a person has given. */
import type { AnswerOf } from '../api/client.ts';
import type { ChangeKey } from '../api/resources.ts';
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
  /** The value of a new form, or how it follows from the day of the service's clock. */
  readonly start?: string | boolean | ((today: string) => string);
  /** Sent with its value, and not shown. */
  readonly isHidden?: boolean;
  /** For money: where the pricing unit of the amount goes. */
  readonly unitAt?: string;
  /** For a contract: where its customer is. */
  readonly of?: string;
  /** For a check: sent if it is not set, too. */
  readonly isAlways?: boolean;
  /** For a product: which ones can be chosen. */
  readonly types?: readonly string[];
  /** For a list: the fields of an entry, and the name of one. */
  readonly fields?: readonly FormField[];
  readonly entry?: string;
  /** For a list: the fields that rows of a sheet fill, the name of a product first. */
  readonly pasted?: readonly string[];
  isShown?(values: Values): boolean;
  /** For money: whether the amount is one; else it is a number. */
  isMoney?(values: Values): boolean;
}

/** A second request of the same form, such as the prices of the card that the first one has created. */
export interface FormStep<Key extends ChangeKey> {
  readonly operation: ChangeKey;
  readonly fields: readonly FormField[];
  /** The values that the first answer gives. */
  known(answer: AnswerOf<Key>): Values;
  isWanted(values: Values): boolean;
}

export type Value = string | boolean | readonly Values[];
export interface Values {
  readonly [at: string]: Value | undefined;
}

/** Fields are by the place of the field, and lists have the values of their entries. */
export function startOf(fields: readonly FormField[], today: string, known: Values = {}): Values {
  const start = fields.flatMap(({ at, start: value }) =>
    value === undefined ? [] : [[at, typeof value === 'function' ? value(today) : value] as const],
  );
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

/** The unit of amounts, if nothing else is chosen. */
export const USD: CreditType = { id: '2714e483-4ff1-48e4-9e25-ac732e8f24f2', name: 'USD (cents)' };

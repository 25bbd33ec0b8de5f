/**
 * The body of a form's values. Nothing is checked here: a text that is no number, and a field that is missing, are sent
 * as they are, and the refusal of the API stands at its field. Pure.
 */
import Big from 'big.js';
import { exact, numberOf } from '../api/exact.ts';
import { type CreditType, currencyOf } from '../format/money.ts';
import { entriesOf, type FormField, shownFields, textOf, USD, type Values } from './field.ts';
import { type FieldSchema, schemaAt } from './schema.ts';

const DAY_MS = 86_400_000;
const NUMBER = /^-?\d+(?:\.\d+)?$/;

interface Sent {
  /** The schema of the body. */
  readonly schema: FieldSchema;
  /** The unit of its amounts. */
  readonly unit: CreditType;
  /** The ids of products that are named. */
  readonly products: ReadonlyMap<string, string>;
}

export function bodyOf(
  fields: readonly FormField[],
  values: Values,
  sent: Sent,
): Readonly<Record<string, unknown>> {
  const body: Record<string, unknown> = {};
  for (const field of shownFields(fields, values)) {
    const value = sentValue(field, values, sent);
    if (value === undefined) continue;
    place(body, field.at, value);
    if (field.unitAt !== undefined && isAmount(field, values) && sent.unit.id !== USD.id) {
      place(body, field.unitAt, sent.unit.id);
    }
  }
  return body;
}

function isAmount({ isMoney }: FormField, values: Values): boolean {
  return isMoney?.(values) ?? true;
}

function sentValue(field: FormField, values: Values, sent: Sent): unknown {
  const schema = schemaAt(sent.schema, field.at);
  const value = values[field.at];
  const kind = field.kind ?? schema.kind;
  if (kind === 'check') {
    return value === true || schema.isRequired || field.isAlways === true ? value === true : undefined;
  }
  if (kind === 'list') return listOf(field, values, { ...sent, schema: schema.items ?? sent.schema });
  if (kind === 'pairs') return pairsOf(entriesOf(values, field.at));
  const text = textOf(values, field.at).trim();
  if (text === '') return undefined;
  if (kind === 'number') return numberIn(text);
  if (kind === 'money') return isAmount(field, values) ? amountIn(text, sent.unit) : numberIn(text);
  if (kind === 'day') return dayIn(text, 0);
  if (kind === 'lastDay') return dayIn(text, DAY_MS);
  if (kind === 'charged') return sent.products.get(text) ?? text;
  if (kind === 'texts') return textsIn(text);
  return text;
}

function listOf({ at, fields = [] }: FormField, values: Values, sent: Sent): unknown {
  const entries = entriesOf(values, at);
  return entries.length === 0 ? undefined : entries.map((entry) => bodyOf(fields, entry, sent));
}

function pairsOf(entries: readonly Values[]): unknown {
  const named = entries.filter((entry) => textOf(entry, 'key').trim() !== '');
  if (named.length === 0) return undefined;
  return Object.fromEntries(named.map((entry) => [textOf(entry, 'key').trim(), textOf(entry, 'value')]));
}

function numberIn(text: string): unknown {
  return NUMBER.test(text) ? numberOf(text) : text;
}

/** People write `1,200.50`; a comma for the decimal point is refused by the API, as a text. */
function amountIn(text: string, unit: CreditType): unknown {
  const plain = /^-?\d{1,3}(?:,\d{3})+(?:\.\d+)?$/.test(text) ? text.replaceAll(',', '') : text;
  if (!NUMBER.test(plain)) return text;
  const places = currencyOf(unit)?.sentPlaces ?? 0;
  return numberOf(exact(new Big(plain).times(new Big(10).pow(places))));
}

function dayIn(text: string, laterMs: number): string {
  const at = Date.parse(`${text}T00:00:00Z`);
  return Number.isNaN(at) ? text : new Date(at + laterMs).toISOString();
}

export function textsIn(text: string): string[] {
  return text
    .split('\n')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}

/** Puts a value at its place: `a.b[0].c`. */
function place(body: Record<string, unknown>, at: string, value: unknown): void {
  const steps = at.split(/[.[]/).map((step) => step.replace(']', ''));
  let inner: Record<string, unknown> = body;
  for (const [index, step] of steps.slice(0, -1).entries()) {
    const next = steps[index + 1] ?? '';
    inner[step] ??= /^\d+$/.test(next) ? [] : {};
    inner = inner[step] as Record<string, unknown>;
  }
  inner[steps.at(-1) ?? ''] = value;
}

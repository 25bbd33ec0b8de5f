/** The fields and the body of a credit note. Pure. */

import type { CreditType } from '../../format/money.ts';
import { bodyOf } from '../../forms/body.ts';
import { entriesOf, type FormField, textOf, type Values } from '../../forms/field.ts';
import type { FieldSchema } from '../../forms/schema.ts';

/** How the amounts are given: `difference` is what the invoice would be less today. */
export type Way = 'amount' | 'quantity' | 'difference';

export const WAYS = [
  ['amount', 'Amounts'],
  ['quantity', 'Quantities'],
  ['difference', 'As of today'],
] as const;

export function wayOf(values: Values): Way {
  return WAYS.find(([way]) => way === textOf(values, 'way'))?.[0] ?? 'amount';
}

const isCredit = (values: Values) => textOf(values, 'settlement') === 'credit_balance';

/** The fields below the lines. */
export const NOTE_FIELDS: readonly FormField[] = [
  { at: 'reason', label: 'Reason' },
  {
    at: 'settlement',
    label: 'Settlement',
    hint: 'Offset unpaid: the customer pays less. Refund: Stripe pays it back, or you do. Credit balance: the customer has a credit here. Whatever is unpaid is offset first.',
  },
  {
    at: 'credit_product_id',
    label: 'Product of the credit',
    kind: 'product',
    types: ['FIXED'],
    hint: 'Its name is that of the credit.',
    isShown: isCredit,
  },
  { at: 'credit_ending_before', label: 'Last day of the credit', kind: 'lastDay', isShown: isCredit },
  { at: 'memo', label: 'Memo', kind: 'lines', hint: 'For the customer; it stands on the note.' },
];

/** Where the entry of a line is in the values of the form. */
export function placeOfLine(way: Way, id: string): string {
  return `${way} ${id}`;
}

interface NoteOf {
  readonly invoiceId: string;
  /** The ids of the lines that can be credited, in their order. */
  readonly lines: readonly string[];
  /** Tells a repeated request from another note. */
  readonly key: string;
}

/** The values of a form as those of the body, with an entry of each line that has a text. */
export function noteValues(values: Values, { invoiceId, lines, key }: NoteOf): Values {
  const way = wayOf(values);
  const entries = lines.flatMap((id): Values[] => {
    const text = textOf(values, placeOfLine(way, id));
    return text.trim() === '' ? [] : [{ line_item_id: id, [way]: text }];
  });
  return {
    ...values,
    ...{ invoice_id: invoiceId, uniqueness_key: key, lines: entries },
    difference_to_regenerated: way === 'difference',
  };
}

/** All fields of the body. */
export function bodyFields(way: Way): readonly FormField[] {
  const entry: readonly FormField[] = [
    { at: 'line_item_id', label: 'Line' },
    way === 'quantity'
      ? { at: 'quantity', label: 'Quantity' }
      : { at: 'amount', label: 'Amount', kind: 'money' },
  ];
  return [
    { at: 'invoice_id', label: 'Invoice' },
    { at: 'uniqueness_key', label: 'Key' },
    way === 'difference'
      ? { at: 'difference_to_regenerated', label: 'Difference to today' }
      : { at: 'lines', label: 'Lines', kind: 'list', fields: entry },
    ...NOTE_FIELDS,
  ];
}

export function noteBody(values: Values, schema: FieldSchema, unit: CreditType): object {
  return bodyOf(bodyFields(wayOf(values)), values, { schema, unit, products: new Map() });
}

/** The problem of each line by its id; `problems` has them by their place in the body. */
export function problemsOfLines(
  values: Values,
  problems: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  return new Map(
    entriesOf(values, 'lines').flatMap((entry, index) => {
      const own = ['amount', 'quantity', 'line_item_id'].flatMap(
        (part) => problems.get(`lines[${index}].${part}`) ?? [],
      );
      return own.length === 0 ? [] : [[textOf(entry, 'line_item_id'), own.join('; ')] as const];
    }),
  );
}

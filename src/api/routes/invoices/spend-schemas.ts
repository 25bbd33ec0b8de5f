/** Spend by properties of events on the wire. */
import { z } from 'zod';
import type { SpendGroup, SpendItem } from '../../../billing/invoices/breakdowns/spend-breakdowns.ts';
import { exactValue } from '../../wire/fields.ts';
import type { InvoiceView } from './invoice-view.ts';
import { lineItemSchema } from './line-output.ts';
import { breakdownSchema, breakdownToWire } from './output.ts';

const groupSchema = z
  .object({
    group: z
      .record(z.string(), z.string().nullable())
      .optional()
      .meta({
        description:
          'Values of the properties; null for events without the property. Absent for spend without events, such as ' +
          'scheduled charges and composite products.',
      }),
    quantity: exactValue,
    total: exactValue,
  })
  .meta({ id: 'SpendGroup' });

export const spendSchema = breakdownSchema
  .extend({
    line_items: z.array(
      lineItemSchema
        .extend({ groups: z.array(groupSchema).meta({ description: 'They add up to the line.' }) })
        .meta({ id: 'SpendLineItem' }),
    ),
  })
  .meta({ id: 'SpendBreakdown', description: 'An invoice, or one day of it, by properties of events.' });

export type SpendWire = z.input<typeof spendSchema>;

/** Yields after each group. */
export function* spendToWire(
  item: SpendItem,
  properties: readonly string[],
  view: InvoiceView,
): Generator<void, SpendWire, undefined> {
  const { line_items: lines, ...fields } = yield* breakdownToWire(item, view);
  const shown: SpendWire['line_items'] = [];
  for (const [index, line] of lines.entries()) {
    const groups: SpendWire['line_items'][number]['groups'] = [];
    for (const group of item.groups[index] ?? []) {
      groups.push(groupToWire(group, properties));
      yield;
    }
    shown.push({ ...line, groups });
  }
  return { ...fields, line_items: shown };
}

function groupToWire({ shares, quantity, total }: SpendGroup, properties: readonly string[]) {
  return {
    ...(shares === null
      ? {}
      : { group: Object.fromEntries(properties.map((name, index) => [name, shares[index] ?? null])) }),
    quantity,
    total,
  };
}

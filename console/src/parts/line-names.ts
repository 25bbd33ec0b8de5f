/** The names of lines of an invoice. */
import type { Exact } from '../api/exact.ts';
import type { Schemas } from '../api/operations.gen.d.ts';
import { quantityText } from '../format/money.ts';

export type Line = Schemas['InvoiceLineItem'];

/** The group values and the tier of a line, which tell it from others of its product. */
export function detailsOf(line: Line): string[] {
  const groups = Object.entries({ ...line.pricing_group_values, ...line.presentation_group_values });
  return [
    ...groups.map(([key, value]) => `${key} ${value}`),
    ...(line.tier === undefined ? [] : [tierText(line.tier)]),
  ];
}

/** The name of a line where no heading has its product. */
export function wholeName(line: Line): string {
  return [line.name, ...detailsOf(line)].join(' · ');
}

function tierText({ level, starting_at, size }: NonNullable<Line['tier']>): string {
  return size === undefined ? `tier ${level}, above ${quantityText(starting_at as Exact)}` : `tier ${level}`;
}

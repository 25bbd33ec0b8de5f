/** Invoices and their lines, in the form of the API, and the names of lines. */
import type { Exact } from '../../api/exact.ts';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { quantityText } from '../../format/money.ts';
import { balanceName, isApplied } from '../../parts/billed-lines.ts';

export type Invoice = Schemas['Invoice'];
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

/** The name of a commit or credit of the invoice: that of the line which applies it, else of its purchase. */
export function nameOfBalance({ line_items: lines }: Invoice, commitId: string): string | undefined {
  const own = lines.filter(({ commit_id }) => commit_id === commitId);
  const line = own.find(isApplied) ?? own.find(({ type }) => type !== 'usage');
  return line === undefined ? undefined : balanceName(line);
}

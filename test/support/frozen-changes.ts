/** Answers for old data that later versions changed on purpose, undone: what the answer would be without the change. */
import { stringifyJson } from '../../src/api/http/json.ts';
import { Decimal, sum } from '../../src/core/decimal.ts';

type Undo = (answer: unknown) => unknown;

/** By frozen state, each with the change that the changelog names. */
const CHANGES: Readonly<Record<string, Undo>> = {
  // Composite products were not billed: their lines are new, and so is what drafts come to.
  '0000': withoutComposites,
};

/** The answer as a service without the changes since the frozen state would give it. */
export function undoChanges(state: string, answer: unknown): unknown {
  return (CHANGES[state] ?? ((same) => same))(answer);
}

function withoutComposites(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutComposites);
  if (!isRecord(value)) return value;
  const members = Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withoutComposites(member)]),
  );
  const lines = value.line_items;
  if (!Array.isArray(lines)) return members;
  const added = lines.filter(isComposite);
  // The composites of the state are in the currency of their invoices.
  const amount = sum(added.map(({ total }) => new Decimal(stringifyJson(total))));
  const less = (total: unknown) => new Decimal(stringifyJson(total)).minus(amount);
  return {
    ...members,
    line_items: lines.filter((line) => !isComposite(line)),
    ...(added.length === 0 ? {} : { total: less(value.total), subtotal: less(value.subtotal) }),
  };
}

function isComposite(line: unknown): line is { readonly total: unknown } {
  return isRecord(line) && line.product_type === 'CompositeProductListItem';
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

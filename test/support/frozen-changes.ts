/** Answers for old data that later versions changed on purpose, undone: what the answer would be without the change. */
import { stringifyJson } from '../../src/api/http/json.ts';
import { Decimal, sum } from '../../src/core/decimal.ts';

type Undo = (answer: unknown) => unknown;

/** By frozen state, each with the change that the changelog names. */
const CHANGES: Readonly<Record<string, Undo>> = {
  // Composite products, scheduled charges and commit purchases were not billed: their lines and invoices are new, and
  // so is what drafts come to.
  '0000': withoutBilled,
};

/** The answer as a service without the changes since the frozen state would give it. */
export function undoChanges(state: string, answer: unknown): unknown {
  return (CHANGES[state] ?? ((same) => same))(answer);
}

function withoutBilled(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((one) => !isScheduledInvoice(one)).map(withoutBilled);
  if (!isRecord(value)) return value;
  const members = Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withoutBilled(member)]),
  );
  const lines = value.line_items;
  if (!Array.isArray(lines)) return members;
  const added = lines.filter(isAdded);
  // The added lines of the state are in the currency of their invoices.
  const amount = sum(added.map(({ total }) => new Decimal(stringifyJson(total))));
  const less = (total: unknown) => new Decimal(stringifyJson(total)).minus(amount);
  return {
    ...members,
    line_items: lines.filter((line) => !isAdded(line)),
    ...(added.length === 0 ? {} : { total: less(value.total), subtotal: less(value.subtotal) }),
  };
}

function isAdded(line: unknown): line is { readonly total: unknown } {
  if (!isRecord(line)) return false;
  const isScheduled = line.type === 'scheduled' || line.type === 'commit_purchase';
  return isScheduled || line.product_type === 'CompositeProductListItem';
}

function isScheduledInvoice(value: unknown): boolean {
  return isRecord(value) && value.type === 'SCHEDULED' && Array.isArray(value.line_items);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

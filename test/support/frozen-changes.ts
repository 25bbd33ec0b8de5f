/** Answers for old data that later versions changed on purpose, undone: what the answer would be without the change. */
import { stringifyJson } from '../../src/api/base/json.ts';
import { Decimal, sum } from '../../src/core/decimal.ts';

type Undo = (answer: unknown) => unknown;

/** By frozen state, each with the change that the changelog names. */
const CHANGES: Readonly<Record<string, Undo>> = {
  // Composite products, scheduled charges and commit purchases were not billed: their lines and invoices are new, and
  // the totals of drafts differ. Commits and credits paid for nothing. Recurring terms created nothing.
  // Invoices of hierarchies were not consolidated.
  '0000': (answer) => withoutBilled(withoutDrawdown(withoutGrants(answer))),
};

/** The answer as a service without the changes since the frozen state would give it. */
export function undoChanges(state: string, answer: unknown): unknown {
  return (CHANGES[state] ?? ((same) => same))(answer);
}

function withoutBilled(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((one) => !isNewInvoice(one)).map(withoutBilled);
  if (!isRecord(value)) return value;
  const members = Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withoutBilled(member)]),
  );
  const lines = value.line_items;
  if (!Array.isArray(lines)) return members;
  const added = lines.filter(isAdded);
  // The added lines of the state are in the currency of their invoices.
  const amount = sum(added.map(({ total }) => amountOf(total)));
  const less = (total: unknown) => amountOf(total).minus(amount);
  return {
    ...members,
    line_items: lines.filter((line) => !isAdded(line)),
    ...(added.length === 0 ? {} : { total: less(value.total), subtotal: less(value.subtotal) }),
  };
}

/** Without the commits and credits that recurring terms have created. */
function withoutGrants(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((one) => !isGrant(one)).map(withoutGrants);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutGrants(member)]));
}

function isGrant(value: unknown): boolean {
  if (!isRecord(value) || value.access_schedule === undefined) return false;
  return (value.recurring_commit_id ?? value.recurring_credit_id) !== undefined;
}

/** Drafts without what balances pay, and balances without what drafts take. */
function withoutDrawdown(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((one) => !isUnratedWarning(one)).map(withoutDrawdown);
  if (!isRecord(value)) return value;
  const members = Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withoutDrawdown(member)]),
  );
  return { ...members, ...withoutApplied(value), ...withoutDeductions(value) };
}

/** The version of the state named the terms that it did not bill. */
function isUnratedWarning(value: unknown): boolean {
  return isRecord(value) && value.code === 'unrated_terms';
}

function withoutApplied(invoice: Readonly<Record<string, unknown>>) {
  const lines = invoice.line_items;
  if (!Array.isArray(lines) || !lines.some(isApplied)) return {};
  const applied = sum(lines.filter(isApplied).map((line) => amountOf(line.total)));
  return {
    line_items: joinedLines(lines.filter((line) => !isApplied(line))),
    total: amountOf(invoice.total).minus(applied),
    subtotal: amountOf(invoice.subtotal).minus(applied),
  };
}

function isApplied(line: unknown): line is Readonly<Record<string, unknown>> {
  return isRecord(line) && line.type === 'applied_commit_or_credit';
}

/** The part of a line that a balance pays and the remaining part, joined to one line again. */
function joinedLines(lines: readonly unknown[]): unknown[] {
  const joined: Record<string, unknown>[] = [];
  for (const line of lines) {
    if (!isRecord(line)) throw new Error('an invoice has lines');
    const before = joined.at(-1);
    if (before?.commit_type === undefined || !isSameLine(before, line)) joined.push({ ...line });
    else {
      before.quantity = amountOf(before.quantity).plus(amountOf(line.quantity));
      before.total = amountOf(before.total).plus(amountOf(line.total));
    }
  }
  return joined;
}

function isSameLine(a: Readonly<Record<string, unknown>>, b: Readonly<Record<string, unknown>>): boolean {
  const textOf = ({
    product_id,
    starting_at,
    tier,
    pricing_group_values,
    presentation_group_values,
  }: typeof a) =>
    stringifyJson([
      ...[product_id ?? null, starting_at ?? null, tier ?? null],
      ...[pricing_group_values ?? null, presentation_group_values ?? null],
    ]);
  return textOf(a) === textOf(b);
}

function withoutDeductions(commit: Readonly<Record<string, unknown>>) {
  const { ledger, balance } = commit;
  if (!Array.isArray(ledger) || !ledger.some(isDeduction)) return {};
  const taken = sum(ledger.filter(isDeduction).map((entry) => amountOf(entry.amount)));
  return {
    ledger: ledger.filter((entry) => !isDeduction(entry)),
    ...(balance === undefined ? {} : { balance: amountOf(balance).minus(taken) }),
  };
}

function isDeduction(entry: unknown): entry is Readonly<Record<string, unknown>> {
  return isRecord(entry) && String(entry.type).endsWith('AUTOMATED_INVOICE_DEDUCTION');
}

function amountOf(value: unknown): Decimal {
  return new Decimal(stringifyJson(value));
}

function isAdded(line: unknown): line is { readonly total: unknown } {
  if (!isRecord(line)) return false;
  const isScheduled = line.type === 'scheduled' || line.type === 'commit_purchase';
  return isScheduled || line.product_type === 'CompositeProductListItem';
}

function isNewInvoice(value: unknown): boolean {
  return isRecord(value) && (value.type === 'SCHEDULED' || value.type === 'USAGE_CONSOLIDATED');
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

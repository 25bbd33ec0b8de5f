/** Warnings of issued invoices, frozen with the invoice. */
import { and, asc, lt } from 'drizzle-orm';
import { assert } from '../../core/errors.ts';
import { groupBy } from '../../core/group-by.ts';
import type { IssuedWarning } from '../../core/invoice.ts';
import { textMap } from '../../core/terms/values.ts';
import type { Database, Transaction } from '../base/database.ts';
import { isOneOf } from '../base/is-one-of.ts';
import { rowsPerInsert } from '../base/rows-per-insert.ts';
import { invoiceWarnings } from './invoices.tables.ts';

/** Stores the warnings of new invoices, each under its position. */
export async function insertInvoiceWarnings(
  tx: Transaction,
  invoices: readonly { readonly id: string; readonly warnings: readonly IssuedWarning[] }[],
): Promise<void> {
  const rows = invoices.flatMap(({ id, warnings }) =>
    warnings.map(({ interval, ...rest }, position) => ({
      ...rest,
      transactionIds: 'transactionIds' in rest ? [...rest.transactionIds] : null,
      termIds:
        'termIds' in rest ? [...rest.termIds] : 'subscriptionId' in rest ? [rest.subscriptionId] : null,
      invoiceId: id,
      position,
      startingAt: interval.start,
      endingBefore: interval.end,
    })),
  );
  for (const chunk of rowsPerInsert(rows)) await tx.insert(invoiceWarnings).values(chunk);
}

/** Invoice id → its first `max` warnings in their order, null for all; invoices without any are absent. */
export async function loadInvoiceWarnings(
  db: Database | Transaction,
  invoiceIds: readonly string[],
  max: number | null,
): Promise<Map<string, IssuedWarning[]>> {
  if (invoiceIds.length === 0) return new Map();
  const rows = await db
    .select()
    .from(invoiceWarnings)
    .where(
      and(
        isOneOf(invoiceWarnings.invoiceId, invoiceIds),
        max === null ? undefined : lt(invoiceWarnings.position, max),
      ),
    )
    .orderBy(asc(invoiceWarnings.invoiceId), asc(invoiceWarnings.position));
  const byInvoice = groupBy(rows, (row) => row.invoiceId);
  return new Map([...byInvoice].map(([id, own]) => [id, own.map(fromRow)]));
}

type Row = typeof invoiceWarnings.$inferSelect;
/** Without the interval, which every kind has. */
type Facts<Warning> = Warning extends IssuedWarning ? Omit<Warning, 'interval'> : never;

const FACTS: {
  readonly [Kind in IssuedWarning['kind']]: (row: Row) => Facts<Extract<IssuedWarning, { kind: Kind }>>;
} = {
  unpriced_usage: (row) => ({
    kind: 'unpriced_usage',
    ...productOf(row),
    billableMetricId: present(row.billableMetricId),
    pricingGroupValues: textMap.parse(row.pricingGroupValues),
    presentationGroupValues: textMap.parse(row.presentationGroupValues),
    quantity: present(row.quantity),
  }),
  unpriced_subscription: (row) => ({
    kind: 'unpriced_subscription',
    subscriptionId: present(present(row.termIds)[0] ?? null),
    ...productOf(row),
    quantity: present(row.quantity),
  }),
  usage_filter_without_group_key: (row) => ({
    kind: 'usage_filter_without_group_key',
    ...productOf(row),
    billableMetricId: present(row.billableMetricId),
  }),
  uncounted_events: (row) => ({
    kind: 'uncounted_events',
    billableMetricId: present(row.billableMetricId),
    metricName: present(row.metricName),
    eventCount: present(row.eventCount),
    transactionIds: present(row.transactionIds),
  }),
  too_many_lines: (row) => ({
    kind: 'too_many_lines',
    ...productOf(row),
    lineCount: present(row.lineCount),
    lineCountMax: present(row.lineCountMax),
  }),
  unrated_terms: (row) => ({
    kind: 'unrated_terms',
    termKind: present(row.termKind),
    termIds: present(row.termIds),
    termCount: present(row.termCount),
  }),
};

function fromRow(row: Row): IssuedWarning {
  return { ...FACTS[row.kind](row), interval: { start: row.startingAt, end: row.endingBefore } };
}

function productOf(row: Row) {
  return { productId: present(row.productId), productName: present(row.productName) };
}

/** Asserts a column that every row of its kind has. */
function present<Value>(value: Value | null): Value {
  assert(value !== null, 'a stored warning has the columns of its kind');
  return value;
}

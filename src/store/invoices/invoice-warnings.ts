/** Warnings of issued invoices, frozen with the invoice. */
import { and, asc, lt } from 'drizzle-orm';
import { assert, unreachable } from '../../core/errors.ts';
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

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one case for each kind of warning.
function fromRow(row: typeof invoiceWarnings.$inferSelect): IssuedWarning {
  const { kind } = row;
  const interval = { start: row.startingAt, end: row.endingBefore };
  switch (kind) {
    case 'unpriced_usage':
      return {
        kind,
        productId: present(row.productId),
        productName: present(row.productName),
        billableMetricId: present(row.billableMetricId),
        pricingGroupValues: textMap.parse(row.pricingGroupValues),
        presentationGroupValues: textMap.parse(row.presentationGroupValues),
        interval,
        quantity: present(row.quantity),
      };
    case 'unpriced_subscription':
      return {
        kind,
        subscriptionId: present(present(row.termIds)[0] ?? null),
        productId: present(row.productId),
        productName: present(row.productName),
        interval,
        quantity: present(row.quantity),
      };
    case 'usage_filter_without_group_key':
      return {
        kind,
        productId: present(row.productId),
        productName: present(row.productName),
        billableMetricId: present(row.billableMetricId),
        interval,
      };
    case 'uncounted_events':
      return {
        kind,
        billableMetricId: present(row.billableMetricId),
        metricName: present(row.metricName),
        interval,
        eventCount: present(row.eventCount),
        transactionIds: present(row.transactionIds),
      };
    case 'too_many_lines':
      return {
        kind,
        productId: present(row.productId),
        productName: present(row.productName),
        interval,
        lineCount: present(row.lineCount),
        lineCountMax: present(row.lineCountMax),
      };
    case 'unrated_terms':
      return {
        kind,
        termKind: present(row.termKind),
        termIds: present(row.termIds),
        termCount: present(row.termCount),
        interval,
      };
    default:
      return unreachable(kind);
  }
}

/** Asserts a column that every row of its kind has. */
function present<Value>(value: Value | null): Value {
  assert(value !== null, 'a stored warning has the columns of its kind');
  return value;
}

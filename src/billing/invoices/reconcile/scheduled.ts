/** Checks that the scheduled lines of an issued invoice match their schedules and commitments. */
import type { Decimal } from '../../../core/decimal.ts';
import { isScheduledLine, type ScheduledInvoiceLine } from '../../../core/invoice.ts';
import type { ScheduledItem } from '../../../rating/scheduled/scheduled-items.ts';
import { loadCommits } from '../../../store/balances/commits.ts';
import type { Database } from '../../../store/base/database.ts';
import type { IssuedInvoice } from '../../../store/invoices/invoices.ts';
import { loadFinalDeductions } from '../../balances/final-deductions.ts';
import { loadShortfalls } from '../../balances/shortfalls.ts';
import { loadScheduledItems } from '../../invoice-queue/open-items.ts';
import { type Difference, differencesOf } from './difference.ts';

/** Items of schedules on an issued invoice no longer change; those of archived charges are removed. */
export async function checkScheduledAmounts(db: Database, invoice: IssuedInvoice): Promise<Difference[]> {
  const lines = scheduledLines(invoice).filter(({ line }) => line.type !== 'true_up');
  if (lines.length === 0) return [];
  const items = new Map<string, ScheduledItem>();
  for (const item of (await loadScheduledItems(db, [invoice.contractId])).get(invoice.contractId) ?? [])
    items.set(item.id, item);
  const difference = differencesOf(invoice);
  return lines.flatMap(({ position, line }) => {
    const item = items.get(line.scheduleItemId);
    if (item === undefined) return [];
    const message = 'the line is not what the schedule says';
    return differingFields(item, line).map((one) =>
      difference('scheduled_amount', message, { position, ...one }),
    );
  });
}

/**
 * A true-up bills the part of the commitment that is left after invoices that are not voided, entries by hand and a
 * renewal. Changes after it was issued are named too, until it is voided and regenerated.
 */
export async function checkTrueUps(db: Database, invoice: IssuedInvoice): Promise<Difference[]> {
  const lines = scheduledLines(invoice).filter(({ line }) => line.type === 'true_up');
  if (lines.length === 0) return [];
  const ids = lines.map(({ line }) => line.sourceId);
  const commits = await loadCommits(db, { ids, includeArchived: true });
  const shortfalls = await loadShortfalls(db, commits, await loadFinalDeductions(db, commits));
  const difference = differencesOf(invoice);
  return lines.flatMap(({ position, line }) => {
    const expected = shortfalls.get(line.sourceId);
    if (expected === undefined || expected.eq(line.total)) return [];
    const message =
      'the true-up is not what is left of the commitment after all invoices and entries by hand';
    return [difference('true_up', message, { position, field: 'total', expected, found: line.total })];
  });
}

function scheduledLines({ lines }: IssuedInvoice): { position: number; line: ScheduledInvoiceLine }[] {
  return [...lines.entries()].flatMap(([position, line]) =>
    isScheduledLine(line) ? [{ position, line }] : [],
  );
}

type Amounts = Pick<ScheduledInvoiceLine, 'quantity' | 'unitPrice' | 'total'>;

function differingFields(wanted: Amounts, found: Amounts) {
  const fields: readonly (readonly ['quantity' | 'unit_price' | 'total', Decimal, Decimal])[] = [
    ['quantity', wanted.quantity, found.quantity],
    ['unit_price', wanted.unitPrice, found.unitPrice],
    ['total', wanted.total, found.total],
  ];
  return fields.flatMap(([field, expected, actual]) =>
    expected.eq(actual) ? [] : [{ field, expected, found: actual }],
  );
}

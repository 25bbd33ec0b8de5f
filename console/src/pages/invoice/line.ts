/** Invoices and their lines, as the API has them. */
import type { Schemas } from '../../api/operations.gen.d.ts';

export type Invoice = Schemas['Invoice'];
export type Line = Schemas['InvoiceLineItem'];

/** Usage that a postpaid commit covers is due nevertheless: the line that takes it back is not in the total. */
export function countsInTotal({ type, commit_type }: Pick<Line, 'type' | 'commit_type'>): boolean {
  return type !== 'applied_commit_or_credit' || commit_type !== 'PostpaidCommit';
}

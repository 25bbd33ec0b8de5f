/** Invoices and their lines, in the form of the API. */
import type { Schemas } from '../../api/operations.gen.d.ts';
import { balanceName, isApplied } from '../../parts/billed-lines.ts';
import type { Line } from '../../parts/line-names.ts';

export type Invoice = Schemas['Invoice'];
export type { Line };

/** The name of a commit or credit of the invoice: that of the line which applies it, else of its purchase. */
export function nameOfBalance({ line_items: lines }: Invoice, commitId: string): string | undefined {
  const own = lines.filter(({ commit_id }) => commit_id === commitId);
  const line = own.find(isApplied) ?? own.find(({ type }) => type !== 'usage');
  return line === undefined ? undefined : balanceName(line);
}

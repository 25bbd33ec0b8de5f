/** Changes of one recurring commit or credit, which apply to commits created from now on. Pure. */
import { type FieldPath, invalid } from '../../../core/errors.ts';
import type { RecurringCommitPatch } from '../../../core/terms/patches.ts';
import type { RecurringCommit } from '../../../core/terms/recurring-commits.ts';
import { given } from '../../../core/terms/values.ts';
import { requireEndAfterStart } from '../terms/terms-context.ts';

/** Refuses (`invalid`) the first invalid field; `path` is the place of the patch in the request. */
export function patchedRecurringCommit(
  term: RecurringCommit,
  patch: RecurringCommitPatch,
  path: FieldPath,
): RecurringCommit {
  const { accessAmount: _, invoiceAmount: __, prorationRounding, ...plain } = patch;
  const { endingBefore } = plain;
  if (endingBefore !== undefined) {
    requireEndAfterStart({ startingAt: term.startingAt, endingBefore }, path);
  }
  const roundings = prorationRounding === null ? { access: null, invoice: null } : (prorationRounding ?? {});
  return {
    ...term,
    ...given(plain),
    accessAmount: patchedAccessAmount(term, patch, [...path, 'accessAmount']),
    invoiceAmount: patchedInvoiceAmount(term, patch, [...path, 'invoiceAmount']),
    accessRounding: roundings.access === undefined ? term.accessRounding : roundings.access,
    invoiceRounding: roundings.invoice === undefined ? term.invoiceRounding : roundings.invoice,
  };
}

function patchedAccessAmount(
  { accessAmount, subscription }: RecurringCommit,
  { accessAmount: patch }: RecurringCommitPatch,
  field: FieldPath,
): RecurringCommit['accessAmount'] {
  if (patch?.quantity !== undefined && subscription !== null) {
    throw invalid([...field, 'quantity'], 'is that of the subscription');
  }
  return {
    ...accessAmount,
    ...given(patch ?? {}),
  };
}

function patchedInvoiceAmount(
  { invoiceAmount }: RecurringCommit,
  { invoiceAmount: patch }: RecurringCommitPatch,
  field: FieldPath,
): RecurringCommit['invoiceAmount'] {
  if (patch === undefined) return invoiceAmount;
  if (invoiceAmount === null) throw invalid(field, 'the recurring commit is not invoiced');
  return { ...invoiceAmount, ...given(patch) };
}

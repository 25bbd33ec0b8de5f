/** Earlier ends of access and of invoicing. Pure. */
import { invalid } from '../../core/errors.ts';
import type { Commit } from '../../core/terms/commits.ts';
import { formatInstant, type Instant } from '../../core/time.ts';
import type { CommitChange, CommitEdit } from './edit-commit.ts';

export interface EarlierEnds {
  /** The new end of access, exclusive; null: unchanged. */
  readonly accessEndingBefore: Instant | null;
  /** The new end of invoicing, exclusive; null: unchanged. */
  readonly invoicesEndingBefore: Instant | null;
}

/**
 * Segments are cut at the new end or removed, and invoice items from it on are removed. Null if that changes nothing. A
 * commit or credit that would end at its start is archived. Refuses (`invalid`) postpaid commits, a later end of
 * access, and an end before all access.
 */
export function shortened(commit: Commit, ends: EarlierEnds): CommitChange | null {
  if (commit.type === 'POSTPAID')
    throw invalid(['id'], 'is a POSTPAID commit, whose end is changed by an edit');
  if (ends.accessEndingBefore === firstStart(commit)) return 'ARCHIVE';
  const accessSchedule = earlierAccess(commit, ends.accessEndingBefore);
  const invoiceSchedule = earlierInvoices(commit, ends.invoicesEndingBefore);
  if (accessSchedule === null && invoiceSchedule === null) return null;
  return {
    edit: {
      ...(accessSchedule === null ? {} : { accessSchedule }),
      ...(invoiceSchedule === null ? {} : { invoiceSchedule }),
    },
  };
}

function firstStart({ accessSchedule }: Commit): Instant {
  return Math.min(...accessSchedule.segments.map(({ startingAt }) => startingAt));
}

function earlierAccess({ accessSchedule }: Commit, end: Instant | null): CommitEdit['accessSchedule'] | null {
  if (end === null) return null;
  const { segments } = accessSchedule;
  const last = Math.max(...segments.map((segment) => segment.endingBefore));
  const path = ['accessEndingBefore'];
  if (end > last)
    throw invalid(path, `must not be after ${formatInstant(last)}, when access ends: use an edit`);
  if (segments.every((segment) => segment.startingAt >= end))
    throw invalid(path, 'must be after access starts');
  const remove = segments.filter((segment) => segment.startingAt >= end).map(({ id }) => id);
  const update = segments
    .filter((segment) => segment.startingAt < end && segment.endingBefore > end)
    .map(({ id }) => ({ id, endingBefore: end }));
  return remove.length + update.length === 0 ? null : { add: [], update, remove };
}

function earlierInvoices(
  { invoiceSchedule }: Commit,
  end: Instant | null,
): CommitEdit['invoiceSchedule'] | null {
  if (end === null) return null;
  const remove = (invoiceSchedule?.items ?? [])
    .filter(({ timestamp }) => timestamp >= end)
    .map(({ id }) => id);
  return remove.length === 0 ? null : { add: [], update: [], remove };
}

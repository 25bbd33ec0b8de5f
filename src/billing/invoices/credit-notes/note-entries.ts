/** The entries of a credit note in the ledgers of balances (docs/explanation/credit-notes.md, "Balances"). */
import type { CreditNoteEntry, CreditNoteLine } from '../../../core/credit-note.ts';
import { sum, ZERO } from '../../../core/decimal.ts';
import { invalid } from '../../../core/errors.ts';
import type { Commit } from '../../../core/terms/commits.ts';
import type { Instant } from '../../../core/time.ts';
import {
  accessCut,
  cutEntries,
  returnedEntries,
  type TakenFromBalance,
} from '../../../rating/credit-notes/balance-entries.ts';
import type { TakenBack } from '../../../rating/credit-notes/credit-lines.ts';
import { loadCommits } from '../../../store/balances/commits.ts';
import { loadEntriesOfNotes } from '../../../store/balances/manual-balance-entries.ts';
import type { Transaction } from '../../../store/base/database.ts';
import { loadInvoiceDeductions } from '../../../store/invoices/balance-deductions.ts';
import { segmentRests } from './segment-rests.ts';

interface NotedLines {
  readonly invoiceId: string;
  readonly taken: readonly TakenBack[];
  readonly lines: readonly Pick<CreditNoteLine, 'payer' | 'givenBack'>[];
  /** The ids of the standing notes of the invoice. */
  readonly before: readonly string[];
  readonly now: Instant;
}

/**
 * The amounts that go back to balances, and those that credited purchases of commits take from theirs. Refuses
 * (`invalid`) a purchase whose access is used.
 */
export async function entriesOfNote(tx: Transaction, noted: NotedLines): Promise<CreditNoteEntry[]> {
  const earlier = await loadEntriesOfNotes(tx, noted.before);
  return [...(await returned(tx, noted, earlier)), ...(await cut(tx, noted, earlier))];
}

type EarlierEntry = Awaited<ReturnType<typeof loadEntriesOfNotes>>[number];

async function returned(
  tx: Transaction,
  { invoiceId, lines }: NotedLines,
  earlier: readonly EarlierEntry[],
): Promise<CreditNoteEntry[]> {
  if (lines.every(({ givenBack }) => givenBack.eq(ZERO))) return [];
  const deductions = await loadInvoiceDeductions(tx, invoiceId);
  const ids = [...new Set(deductions.map(({ commitId }) => commitId))];
  const commits = await loadCommits(tx, { ids, includeArchived: true });
  const restsOf = await segmentRests(tx, commits);
  const scheduleSegments = new Map(
    commits.flatMap((commit) => restsOf(commit).map((one) => [one.segmentId, one.scheduleSegmentId])),
  );
  const taken = deductions.map(({ commitId, segmentId, amount }): TakenFromBalance => {
    const back = earlier.filter((one) => one.commitId === commitId && one.segmentId === segmentId);
    return {
      ...{ commitId, segmentId },
      scheduleSegmentId: scheduleSegments.get(segmentId) ?? segmentId,
      left: amount.minus(sum(back.map((one) => one.amount))),
    };
  });
  return returnedEntries(lines, taken);
}

async function cut(
  tx: Transaction,
  { taken, now }: NotedLines,
  earlier: readonly EarlierEntry[],
): Promise<CreditNoteEntry[]> {
  const bought = taken.flatMap((one) =>
    one.line.line.type === 'commit_purchase' ? [{ ...one, commitId: one.line.line.sourceId }] : [],
  );
  if (bought.length === 0) return [];
  const commits = await loadCommits(tx, {
    ids: bought.map(({ commitId }) => commitId),
    includeArchived: true,
  });
  const restsOf = await segmentRests(tx, commits);
  return commits.flatMap((commit) => {
    const own = bought.filter(({ commitId }) => commitId === commit.id);
    const credited = own.map(({ line, amount }) => line.amount.minus(line.left).plus(amount));
    const cutBefore = earlier.filter(({ commitId }) => commitId === commit.id);
    const amount = accessCut({
      access: sum(commit.accessSchedule.segments.map((segment) => segment.amount)),
      cost: sum((commit.invoiceSchedule?.items ?? []).map((item) => item.amount)),
      credited: sum(credited),
      cutBefore: ZERO.minus(sum(cutBefore.map((one) => one.amount))),
    });
    const open = restsOf(commit).filter(({ endingBefore, left }) => endingBefore > now && left.gt(ZERO));
    if (sum(open.map(({ left }) => left)).lt(amount)) throw used(commit);
    return cutEntries(commit.id, open, amount);
  });
}

function used({ id, name }: Commit) {
  const commit = `commit ${JSON.stringify(name ?? id)}`;
  return invalid(
    ['lines'],
    `${commit} is used, or its access has ended: its purchase can be credited for the rest only`,
  );
}

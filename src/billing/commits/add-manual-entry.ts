/** Adds a manual adjustment to a balance. */
import { type Decimal, sum } from '../../core/decimal.ts';
import { invalid, namesNothing, notFound } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import type { Commit } from '../../core/terms/commits.ts';
import { contains, type Instant } from '../../core/time.ts';
import { lockCommit } from '../../store/balances/commits.ts';
import { insertManualEntry } from '../../store/balances/manual-balance-entries.ts';
import type { Transaction } from '../../store/base/database.ts';
import { noteCustomerChanges } from '../../store/customers/customer-changes.ts';
import { customerExists } from '../../store/customers/customers.ts';
import { lockBalances } from '../../store/invoices/balance-deductions.ts';
import { type DividedCommit, loadDividedCommits } from '../balances/seat-shares.ts';
import type { RowContext } from '../billing-context.ts';

export interface ManualEntryInput {
  readonly customerId: string;
  /** The contract of the commit or credit; null if the client names none. */
  readonly contractId: string | null;
  /** The id of a commit or credit. */
  readonly id: string;
  readonly segmentId: string;
  /** Signed. */
  readonly amount: Decimal;
  /** By seat, for commits and credits that are divided among seats; null: omitted. */
  readonly perGroupAmounts: Readonly<Record<string, Decimal>> | null;
  readonly reason: string;
  /** Null: the start of the segment. */
  readonly timestamp: Instant | null;
  readonly createdBy: string;
}

/**
 * Refuses objects that the customer does not have (`not_found`), and (`invalid`) an archived commit or credit, and
 * invalid amounts for seats.
 */
export async function addManualEntry({ db, clock }: RowContext, input: ManualEntryInput): Promise<void> {
  const { customerId, id, segmentId, reason, createdBy } = input;
  await db.transaction(async (tx) => {
    // An invoice that draws on the balance is issued before, or recomputed with the entry.
    await lockBalances(tx, [customerId]);
    const commit = await lockNamedCommit(tx, input);
    const segment = commit.accessSchedule.segments.find((one) => one.id === segmentId);
    if (segment === undefined) {
      throw namesNothing(['segmentId'], `commit or credit ${id} has no segment ${segmentId}`);
    }
    const timestamp = input.timestamp ?? segment.startingAt;
    const made = { createdAt: clock.now(), createdBy };
    const divided = (await loadDividedCommits(tx, [commit]))(commit);
    for (const part of partsOf(input, divided, timestamp)) {
      await insertManualEntry(tx, { id: newId(), commitId: id, reason, timestamp, ...made, ...part });
    }
    await noteCustomerChanges(tx, [customerId]);
  });
}

async function lockNamedCommit(
  tx: Transaction,
  { customerId, contractId, id }: ManualEntryInput,
): Promise<Commit> {
  const commit = await lockCommit(tx, id);
  if (commit === null || commit.customerId !== customerId) {
    if (!(await customerExists(tx, customerId))) {
      throw notFound('customer', customerId, 'CustomerNotFound');
    }
    throw namesNothing(['id'], `commit or credit ${id} not found`);
  }
  if (contractId !== null && contractId !== commit.contractId) {
    throw namesNothing(['contractId'], `contract ${contractId} has no commit or credit ${id}`);
  }
  if (commit.archivedAt !== null) throw invalid(['id'], `commit or credit ${id} is archived`);
  return commit;
}

/** The amounts added to a segment, or to shares of it. */
function partsOf(
  { segmentId, amount, perGroupAmounts }: ManualEntryInput,
  divided: DividedCommit | null,
  at: Instant,
): { readonly segmentId: string; readonly amount: Decimal }[] {
  const field = ['perGroupAmounts'];
  if (divided === null) {
    if (perGroupAmounts === null) return [{ segmentId, amount }];
    throw invalid(field, 'is for commits and credits with INDIVIDUAL allocation only');
  }
  if (perGroupAmounts === null) {
    throw invalid(field, 'is required for commits and credits with INDIVIDUAL allocation');
  }
  const amounts = Object.entries(perGroupAmounts);
  if (!sum(amounts.map(([, one]) => one)).eq(amount)) throw invalid(field, 'must add up to the amount');
  const shares = new Map(divided.shares.map((share) => [share.seatId, share]));
  return amounts.map(([seatId, one]) => {
    const share = shares.get(seatId);
    if (share?.segment.id !== segmentId) {
      throw invalid(field, `seat ${JSON.stringify(seatId)} has no share of the segment`);
    }
    if (!share.access.some((interval) => contains(interval, at))) {
      throw invalid(['timestamp'], `seat ${JSON.stringify(seatId)} is not active then`);
    }
    return { segmentId: share.id, amount: one };
  });
}

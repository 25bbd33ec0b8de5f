/** Adjusts a balance by hand. */
import type { Clock } from '../../core/clock.ts';
import type { Decimal } from '../../core/decimal.ts';
import { invalid, namesNothing, notFound } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import type { Instant } from '../../core/time.ts';
import { lockBalances } from '../../store/balance-deductions.ts';
import { lockCommit } from '../../store/commits.ts';
import { noteCustomerChanges } from '../../store/customer-changes.ts';
import { findCustomer } from '../../store/customers.ts';
import type { Database } from '../../store/database.ts';
import { insertManualEntry } from '../../store/manual-balance-entries.ts';

export interface ManualEntryInput {
  readonly customerId: string;
  /** The contract of the commit or credit; null where the client names none. */
  readonly contractId: string | null;
  /** Of a commit or credit. */
  readonly id: string;
  readonly segmentId: string;
  /** Signed. */
  readonly amount: Decimal;
  readonly reason: string;
  /** Null: the start of the segment. */
  readonly timestamp: Instant | null;
  readonly createdBy: string;
}

/** Refuses what the customer does not have (`not_found`), and a commit or credit that is archived (`invalid`). */
export async function addManualEntry(
  { db, clock }: { readonly db: Database; readonly clock: Clock },
  input: ManualEntryInput,
): Promise<void> {
  const { customerId, contractId, id, segmentId, amount, reason, createdBy } = input;
  await db.transaction(async (tx) => {
    // An invoice that draws on the balance is issued before, or computed again with the entry.
    await lockBalances(tx, [customerId]);
    const commit = await lockCommit(tx, id);
    if (commit === null || commit.customerId !== customerId) {
      if ((await findCustomer(tx, customerId)) === null) {
        throw notFound('customer', customerId, 'CustomerNotFound');
      }
      throw namesNothing(['id'], `commit or credit ${id} not found`);
    }
    if (contractId !== null && contractId !== commit.contractId) {
      throw namesNothing(['contractId'], `contract ${contractId} has no commit or credit ${id}`);
    }
    if (commit.archivedAt !== null) throw invalid(['id'], `commit or credit ${id} is archived`);
    const segment = commit.accessSchedule.segments.find((one) => one.id === segmentId);
    if (segment === undefined) {
      throw namesNothing(['segmentId'], `commit or credit ${id} has no segment ${segmentId}`);
    }
    const timestamp = input.timestamp ?? segment.startingAt;
    const made = { createdAt: clock.now(), createdBy };
    await insertManualEntry(tx, { id: newId(), commitId: id, segmentId, amount, reason, timestamp, ...made });
    await noteCustomerChanges(tx, [customerId]);
  });
}

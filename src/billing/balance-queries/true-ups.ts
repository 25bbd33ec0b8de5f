/** True-ups of postpaid commits for their ledgers: on issued invoices, and on drafts. */
import { ZERO } from '../../core/decimal.ts';
import type { Commit } from '../../core/terms/commits.ts';
import type { BalanceDeduction, TrueUp } from '../../core/terms/ledger.ts';
import type { Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../../store/base/database.ts';
import { loadContracts } from '../../store/contracts/contracts.ts';
import { loadInvoicedAmounts } from '../../store/invoices/invoiced-items.ts';
import { loadShortfalls } from '../balances/shortfalls.ts';
import { loadOpenSchedules, type ScheduledTarget } from '../invoice-queue/open-items.ts';

/**
 * True-ups on finalized invoices and, from `deductions`, on drafts. A voided invoice bills nothing, and a shortfall of
 * 0 is on no invoice.
 */
export async function loadTrueUps(
  db: Database | Transaction,
  commits: readonly Commit[],
  deductions: readonly BalanceDeduction[],
  now: Instant,
): Promise<TrueUp[]> {
  const postpaid = commits.filter(
    ({ type, invoiceSchedule }) => type === 'POSTPAID' && invoiceSchedule !== null,
  );
  if (postpaid.length === 0) return [];
  const billed = await loadInvoicedAmounts(
    db,
    postpaid.flatMap(({ invoiceSchedule }) => invoiceSchedule?.items.map(({ id }) => id) ?? []),
  );
  const targets = await openTrueUps(db, postpaid, now);
  const shortfalls = await loadShortfalls(db, postpaid, deductions);
  return postpaid.flatMap((commit) => {
    const [segment] = commit.accessSchedule.segments;
    if (segment === undefined) return [];
    const own = { commitId: commit.id, segmentId: segment.id };
    const issued = commit.invoiceSchedule?.items.flatMap(({ id }) => billed.get(id) ?? [])[0];
    if (issued !== undefined) return [{ ...own, ...issued }];
    const target = targets.get(commit.id);
    const amount = shortfalls.get(commit.id) ?? ZERO;
    if (target === undefined || amount.eq(ZERO)) return [];
    const { invoiceId, issueAt: timestamp, contract } = target;
    return [{ ...own, invoiceId, contractId: contract.id, amount, timestamp }];
  });
}

async function openTrueUps(
  db: Database | Transaction,
  commits: readonly Commit[],
  now: Instant,
): Promise<ReadonlyMap<string, ScheduledTarget>> {
  const ids = commits.flatMap(({ contractId, invoiceContractId }) => contractId ?? invoiceContractId ?? []);
  const schedules = await loadOpenSchedules(db, await loadContracts(db, { ids: [...new Set(ids)] }), now);
  const targets = [...schedules.values()].flatMap((schedule) => schedule.targets);
  return new Map(
    targets.flatMap((target) => (target.trueUpCommitId === null ? [] : [[target.trueUpCommitId, target]])),
  );
}

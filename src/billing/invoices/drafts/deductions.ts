/** The amounts that invoices take from balances: issued ones as stored, drafts as computed now. */
import type { Commit } from '../../../core/terms/commits.ts';
import type { BalanceDeduction } from '../../../core/terms/ledger.ts';
import { scheduleSegmentId } from '../../../rating/balances/buckets.ts';
import { inSnapshot } from '../../../store/base/database.ts';
import type { CandidateCommit } from '../../balances/books.ts';
import { loadDrawingContracts } from '../../balances/drawing-contracts.ts';
import { loadFinalDeductions } from '../../balances/final-deductions.ts';
import type { BillingContext, KeptDeductions, SnapshotContext } from '../../billing-context.ts';
import { NO_ALARMS } from '../../invoice-log/invoice-alarms.ts';
import { computeDrawingDrafts, type DrawingDraft } from '../compute/compute.ts';
import { type PlannedInvoices, planInvoices } from '../compute/plan-invoices.ts';
import { draftPlacesOf } from './draft-places.ts';

/** None yet. */
export function createKeptDeductions(): KeptDeductions {
  return new Map();
}

/** `loadDeductions` within the caller's snapshot, which stays open while drafts are computed. */
export async function loadDeductionsIn(
  context: SnapshotContext,
  commits: readonly Commit[],
): Promise<BalanceDeduction[]> {
  const final = await loadFinalDeductions(context.db, commits);
  const plan = await planDrafts(context, commits);
  return [...final, ...ofCommits(commits, await draftDeductions(context, plan))];
}

/** For issued invoices, voided ones included, and for drafts. One moment in PostgreSQL for both. */
export async function loadDeductions(
  context: BillingContext,
  commits: readonly Commit[],
): Promise<BalanceDeduction[]> {
  if (commits.length === 0) return [];
  const { final, plan } = await inSnapshot(context.db, async (db) => ({
    final: await loadFinalDeductions(db, commits),
    plan: await planDrafts({ ...context, db }, commits),
  }));
  return [...final, ...ofCommits(commits, await keptOrComputed(context, plan))];
}

async function keptOrComputed(
  context: BillingContext,
  plan: PlannedInvoices,
): Promise<readonly BalanceDeduction[]> {
  const { keptDeductions } = context;
  if (keptDeductions === undefined) return await draftDeductions(context, plan);
  const key = JSON.stringify([
    plan.targets.map(({ contract, period }) => [contract.id, period.start]),
    plan.scheduled.targets.map(({ invoiceId }) => invoiceId),
  ]);
  const known = keptDeductions.get(key);
  if (known !== undefined) return known;
  const computed = await draftDeductions(context, plan);
  keptDeductions.set(key, computed);
  return computed;
}

/** The drafts that may draw on the commits. */
export async function planDrafts(
  context: SnapshotContext,
  commits: readonly Commit[],
  candidates: readonly CandidateCommit[] = [],
): Promise<PlannedInvoices> {
  const own = await loadDrawingContracts(context.db, commits);
  const places = await draftPlacesOf(context, own, { type: 'USAGE' });
  const targets = places.flatMap((place) => (place.kind === 'usage' ? [place.target] : []));
  return planInvoices(context.db, targets, context.clock.now(), { schedulesOf: own, candidates });
}

function ofCommits(commits: readonly Commit[], deductions: readonly BalanceDeduction[]): BalanceDeduction[] {
  const wanted = new Set(commits.map(({ id }) => id));
  return deductions.filter(({ commitId }) => wanted.has(commitId));
}

/** The amounts that the drafts take from balances. */
export async function draftDeductions(
  context: BillingContext,
  plan: PlannedInvoices,
): Promise<BalanceDeduction[]> {
  return deductionsOfDrafts(await computeDrawingDrafts({ ...context, alarms: NO_ALARMS }, plan));
}

/** `draftDeductions` for drafts that are computed. */
export function deductionsOfDrafts(drafts: readonly DrawingDraft[]): BalanceDeduction[] {
  return drafts.flatMap(({ invoice, deductions }) =>
    deductions.map(({ bucket, amount }) => ({
      commitId: bucket.id,
      segmentId: scheduleSegmentId(bucket),
      seatId: bucket.seat?.id ?? null,
      invoiceId: invoice.id,
      contractId: invoice.contractId,
      amount,
      timestamp: Math.min(invoice.period.end, bucket.access.end),
      isFinal: false,
      creditedAt: null,
    })),
  );
}

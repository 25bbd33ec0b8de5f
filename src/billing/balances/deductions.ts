/** What invoices take from balances: issued ones as stored, drafts as they are now. */
import { groupBy } from '../../core/group-by.ts';
import type { Commit } from '../../core/terms/commits.ts';
import type { BalanceDeduction } from '../../core/terms/ledger.ts';
import { loadContracts } from '../../store/contracts.ts';
import { type Database, inSnapshot, type Transaction } from '../../store/database.ts';
import {
  type ComputeDeps,
  computeDrawingDrafts,
  type PlannedInvoices,
  planInvoices,
} from '../invoices/compute.ts';
import { draftPlacesOf } from '../invoices/draft-places.ts';
import { loadFinalDeductions } from './final-deductions.ts';

/** Drafts are computed from usage. */
export interface BalanceDeps extends ComputeDeps {
  readonly db: Database;
}

/** Within a snapshot. */
export interface DraftDeps extends ComputeDeps {
  readonly db: Transaction;
}

/** The same within the caller's snapshot, which stays open while drafts are computed. */
export async function loadDeductionsIn(
  deps: DraftDeps,
  commits: readonly Commit[],
): Promise<BalanceDeduction[]> {
  const final = await loadFinalDeductions(deps.db, commits);
  const plan = await planDrafts(deps, commits);
  return [...final, ...(await draftDeductions(deps, plan, commits))];
}

/** Of issued invoices, voided ones included, and of drafts. One moment in PostgreSQL for both. */
export async function loadDeductions(
  deps: BalanceDeps,
  commits: readonly Commit[],
): Promise<BalanceDeduction[]> {
  if (commits.length === 0) return [];
  const { final, plan } = await inSnapshot(deps.db, async (db) => ({
    final: await loadFinalDeductions(db, commits),
    plan: await planDrafts({ ...deps, db }, commits),
  }));
  return [...final, ...(await draftDeductions(deps, plan, commits))];
}

/** The drafts that may draw on the commits: of their contracts, or of all contracts of the customer. */
async function planDrafts(deps: DraftDeps, commits: readonly Commit[]): Promise<PlannedInvoices> {
  const ofCustomer = commits.filter(({ contractId }) => contractId === null);
  const customerIds = [...new Set(ofCustomer.map(({ customerId }) => customerId))];
  const contractIds = [...new Set(commits.flatMap(({ contractId }) => contractId ?? []))];
  const contracts = [
    ...(customerIds.length === 0 ? [] : await loadContracts(deps.db, { customerIds })),
    ...(contractIds.length === 0 ? [] : await loadContracts(deps.db, { ids: contractIds })),
  ];
  const own = [...new Map(contracts.map((contract) => [contract.id, contract])).values()];
  const places = await draftPlacesOf(deps, own, { type: 'USAGE' });
  const targets = places.flatMap((place) => (place.kind === 'usage' ? [place.target] : []));
  return planInvoices(deps.db, targets, deps.clock.now(), { schedulesOf: own });
}

async function draftDeductions(
  { alarms: _, ...silent }: ComputeDeps,
  plan: PlannedInvoices,
  commits: readonly Commit[],
): Promise<BalanceDeduction[]> {
  const wanted = groupBy(commits, ({ id }) => id);
  const drafts = await computeDrawingDrafts(silent, plan);
  return drafts.flatMap(({ invoice, deductions }) =>
    deductions
      .filter(({ bucket }) => wanted.has(bucket.id))
      .map(({ bucket, amount }) => ({
        commitId: bucket.id,
        segmentId: bucket.segmentId,
        invoiceId: invoice.id,
        contractId: invoice.contractId,
        amount,
        timestamp: Math.min(invoice.period.end, bucket.access.end),
        isFinal: false,
        creditedAt: null,
      })),
  );
}

/**
 * Issues SCHEDULED invoices on their dates (docs/explanation/invoices.md, "Scheduled invoices"). Their jobs are queued in
 * invoice-queue/scheduled-jobs.ts. There is no grace period; dates in the past are issued at once.
 */
import { assert } from '../../../core/errors.ts';
import type { Invoice } from '../../../core/invoice.ts';
import { HOUR_MS, type Instant, SECOND_MS } from '../../../core/time.ts';
import { publishFinalized } from '../../../notifications/invoice-messages.ts';
import { type Families, loadFamilies } from '../../../store/balances/sharing-customers.ts';
import type { Transaction } from '../../../store/base/database.ts';
import { loadContracts } from '../../../store/contracts/contracts.ts';
import { noteCustomerChanges } from '../../../store/customers/customer-changes.ts';
import { insertDeductions, lockBalances } from '../../../store/invoices/balance-deductions.ts';
import { storeInvoiceBalances } from '../../../store/invoices/invoice-terms.ts';
import { insertInvoicedItems } from '../../../store/invoices/invoiced-items.ts';
import { type IssuedInvoice, insertInvoices } from '../../../store/invoices/invoices.ts';
import { enqueueJobs, type Job } from '../../../store/jobs/jobs.ts';
import {
  type CustomerBalances,
  createBooks,
  loadCustomerBalances,
  shareBalances,
} from '../../balances/books.ts';
import type { BillingContext } from '../../billing-context.ts';
import { loadOpenSchedules, type ScheduledTarget } from '../../invoice-queue/open-items.ts';
import { contractOfJob, nextJob } from '../../invoice-queue/scheduled-jobs.ts';
import { collectPayments, queueCollections } from '../../payment-gates/collect-payment.ts';
import { tellOfPayments } from '../../payment-gates/tell-of-payments.ts';
import { withFinalShortfalls } from '../drafts/shortfalls.ts';
import { deductionsToKeep } from '../freeze/deductions-to-keep.ts';
import { freezeCustomFields } from '../freeze/invoice-fields.ts';
import { loadItemProducts, mayDraw, type ScheduledDraft, scheduledDraft } from '../scheduled/drafts.ts';
import { compareScheduled, drawingTimes, loadDrawingSchedules } from '../scheduled/drawing.ts';
import { heldTrueUps } from './held-true-ups.ts';

/** Runs due jobs: issues the invoices up to the job's instant, and queues the next one. Returns the invoices. */
export async function issueScheduledInvoices(
  { clock, gracePeriodHours, paymentProvider }: BillingContext,
  tx: Transaction,
  jobs: readonly Job[],
): Promise<Invoice[]> {
  const dueAt = new Map(jobs.map((job) => [contractOfJob(job), job.runAt]));
  const contracts = await loadContracts(tx, { ids: [...dueAt.keys()] });
  const now = Math.max(clock.now(), ...dueAt.values());
  const schedules = await loadOpenSchedules(tx, contracts, now);
  const runAtOf = (contractId: string): Instant => {
    const runAt = dueAt.get(contractId);
    assert(runAt !== undefined, `contract ${contractId} is of a job`);
    return runAt;
  };
  const reached = [...schedules].flatMap(([id, { targets }]) =>
    targets.filter(({ issueAt }) => issueAt <= runAtOf(id)),
  );
  const families = await lockDrawnBy(tx, reached);
  const held = await heldTrueUps(tx, reached, gracePeriodHours);
  const isHeld = ({ trueUpCommitId }: ScheduledTarget) => held.has(trueUpCommitId ?? '');
  const due = await withFinalShortfalls(
    tx,
    reached.filter((target) => !isHeld(target)),
  );
  const issued = await drawnDrafts(tx, due, clock.now(), { families, isBehindParents: true });
  const drafts = issued.map(({ invoice }) => invoice);
  const gated = drafts.flatMap((invoice, index) => {
    const commitId = due[index]?.gatedCommitId ?? null;
    return commitId === null ? [] : [{ commitId, invoice }];
  });
  const payments = await collectPayments(tx, gated, paymentProvider, clock.now());
  // A purchase whose payment failed is not owed.
  const statusOf = (id: string) => (payments.get(id) === 'FAILED' ? 'VOID' : 'FINALIZED');
  await freezeScheduledDrafts(tx, issued, statusOf);
  await queueCollections(tx, gated, paymentProvider, clock.now());
  await tellOfPayments(tx, gated, payments, clock.now());
  await enqueueJobs(
    tx,
    [...schedules].flatMap(([id, schedule]) => {
      const own = schedule.targets.flatMap(({ trueUpCommitId }) => held.get(trueUpCommitId ?? '') ?? []);
      const retryAt = Math.max(runAtOf(id), clock.now()) + HOUR_MS;
      // An invoice that is overdue was delayed by a failure.
      const checks = own.map((at) => (at >= runAtOf(id) ? at + SECOND_MS : retryAt));
      return nextJob(id, schedule, runAtOf(id), checks);
    }),
  );
  return drafts.map((draft) => ({ ...draft, status: statusOf(draft.id) }));
}

/**
 * Locks the amounts that invoices took, and manual entries, until the transaction ends. Returns which customers share
 * balances with these: a customer that begins to share some concurrently is not locked.
 */
export async function lockDrawnBy(tx: Transaction, targets: readonly ScheduledTarget[]): Promise<Families> {
  const drawing = targets.filter((target) => target.trueUpCommitId !== null || mayDraw(target));
  const customerIds = new Set(drawing.map(({ contract }) => contract.customerId));
  const families = await loadFamilies(tx, [...customerIds]);
  await lockBalances(tx, [...families.keys()]);
  return families;
}

interface DrawingPlace {
  readonly families: Families;
  /** Whether earlier unissued invoices of parents have taken their deductions. */
  readonly isBehindParents: boolean;
}

/** The drafts of the targets, in their order, after drawing on the amounts left by issued invoices. */
export async function drawnDrafts(
  tx: Transaction,
  targets: readonly ScheduledTarget[],
  now: Instant,
  { families, isBehindParents }: DrawingPlace,
): Promise<ScheduledDraft[]> {
  const balancesOf = (drawing: readonly ScheduledTarget[]) =>
    loadCustomerBalances(tx, drawingTimes(drawing), now, { families });
  const own = await balancesOf(targets);
  const before = isBehindParents ? await parentsBefore(tx, targets, own, now) : [];
  const drawing = [...before, ...targets];
  const books = createBooks(before.length === 0 ? own : await balancesOf(drawing));
  const products = await loadItemProducts(tx, drawing);
  const drawn = new Map(
    drawing
      .toSorted(compareScheduled)
      .map((target) => [target, scheduledDraft(target, products, now, books(target.contract.customerId))]),
  );
  return targets.flatMap((target) => drawn.get(target) ?? []);
}

/** Drafts of parents that share balances with the targets, which are not among these. No query without such parents. */
async function parentsBefore(
  tx: Transaction,
  targets: readonly ScheduledTarget[],
  balances: CustomerBalances,
  now: Instant,
): Promise<readonly ScheduledTarget[]> {
  const known = new Set(targets.map(({ contract }) => contract.id));
  const parentIds = targets.filter(mayDraw).flatMap(({ contract: { id, customerId, parent } }) => {
    const shared = balances.get(customerId);
    if (parent === null || known.has(parent.contractId) || shared === undefined) return [];
    return shareBalances(shared, id, parent.contractId) ? [parent.contractId] : [];
  });
  const parents = await loadContracts(tx, { ids: [...new Set(parentIds)] });
  const last = Math.max(...targets.map(({ issueAt }) => issueAt));
  const schedules = await loadDrawingSchedules(tx, parents, now);
  return schedules.targets.filter(({ issueAt }) => issueAt <= last);
}

/** Stores drafts of SCHEDULED invoices as issued. */
export async function freezeScheduledDrafts(
  tx: Transaction,
  drafts: readonly ScheduledDraft[],
  statusOf: (invoiceId: string) => IssuedInvoice['status'] = () => 'FINALIZED',
): Promise<void> {
  const balancesIdOf = await storeInvoiceBalances(
    tx,
    drafts.map(({ balances }) => balances),
  );
  const issued = drafts.map(({ invoice: draft, balances }) => ({
    ...draft,
    status: statusOf(draft.id),
    frozen: null,
    balancesId: balancesIdOf(balances),
    warningCount: 0,
    termsReadAt: null,
    countedUpTo: null,
  }));
  await insertInvoices(tx, issued);
  await insertInvoicedItems(tx, issued);
  await insertDeductions(tx, drafts.flatMap(deductionsToKeep));
  await freezeCustomFields(tx, issued);
  await noteCustomerChanges(
    tx,
    issued.map(({ customerId }) => customerId),
  );
  await publishFinalized(tx, issued);
}

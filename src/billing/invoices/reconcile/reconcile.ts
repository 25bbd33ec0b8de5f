/**
 * Compares everything that must be equal, customer by customer: usage, hours, days, lines, totals,
 * ledgers and schedules
 * (docs/how-to/reconciliation.md). It reads, and changes nothing.
 */
import { z } from 'zod';
import { invalid, notFound, words } from '../../../core/errors.ts';
import { isUuid } from '../../../core/ids.ts';
import type { Page, PageRequest } from '../../../core/paging.ts';
import type { Interval } from '../../../core/time.ts';
import type { LateUsage } from '../../../rating/invoices/late-usage.ts';
import { inSnapshot } from '../../../store/base/database.ts';
import { customerExists } from '../../../store/customers/customers.ts';
import { countCustomersAfter, customerIdsAfter } from '../../../store/customers/usage-owners.ts';
import { listInvoiceHeadsOverlapping } from '../../../store/invoices/invoice-lists.ts';
import type { IssuedInvoice } from '../../../store/invoices/invoices.ts';
import { withLines } from '../../../store/invoices/whole-invoices.ts';
import type { BillingContext } from '../../billing-context.ts';
import { planInvoices } from '../compute/plan-invoices.ts';
import { type DraftPlace, draftPlaces } from '../drafts/draft-places.ts';
import { firstOf, type Shown } from '../drafts/unbilled-usage.ts';
import { checkBalances } from './balances.ts';
import { reconcileConsolidated } from './consolidated.ts';
import { checkCreditNotes } from './credit-notes.ts';
import type { Difference } from './difference.ts';
import { checkIssue, reconcileDrafts } from './drafts.ts';
import { type Findings, reconcileIssued } from './issued.ts';

export const reconcileCursor = z.strictObject({ customerId: z.string().refine(isUuid) });
type ReconcileCursor = z.infer<typeof reconcileCursor>;

export interface ReconcileInput extends PageRequest<ReconcileCursor> {
  /** Invoices whose billing period shares time with it, or whose date lies in it. */
  readonly range: Interval;
  /** Null: all customers, archived ones too. */
  readonly customerId: string | null;
}

export interface ReconciledCustomer {
  readonly customerId: string;
  /** Drafts included. */
  readonly invoiceCount: number;
  readonly lineCount: number;
  readonly differences: Shown<Difference>;
  readonly late: Shown<LateUsage & { readonly invoiceId: string }>;
  /** Invoices that could not be checked completely. */
  readonly unchecked: Shown<{ readonly invoiceId: string; readonly reason: string }>;
}

export interface ReconciledPage extends Page<ReconciledCustomer, ReconcileCursor> {
  /** How many customers come after this page. */
  readonly customersLeft: number;
}

/** A page that takes longer ends with the customer that is checked then. */
const PAGE_MS_MAX = 10_000;

/** Customers without any invoice in the range have no row. Refuses an unknown customer, and a range without time. */
export async function reconcileInvoices(
  context: BillingContext,
  input: ReconcileInput,
  pageMsMax: number = PAGE_MS_MAX,
): Promise<ReconciledPage> {
  const { range, customerId } = input;
  if (range.end <= range.start) throw invalid(['endingBefore'], words`must be after ${['startingOn']}`);
  if (customerId !== null) {
    if (!(await customerExists(context.db, customerId))) throw notFound('customer', customerId);
    const one = await reconcileCustomer(context, customerId, range);
    return { rows: one === null ? [] : [one], next: null, customersLeft: 0 };
  }
  return reconcilePage(context, input, pageMsMax);
}

async function reconcilePage(
  context: BillingContext,
  { range, after, limit }: ReconcileInput,
  pageMsMax: number,
): Promise<ReconciledPage> {
  const startedMs = performance.now();
  const isOver = () => performance.now() - startedMs >= pageMsMax;
  const rows: ReconciledCustomer[] = [];
  for await (const id of customersAfter(context, after?.customerId ?? null, limit)) {
    const row = await reconcileCustomer(context, id, range);
    if (row !== null) rows.push(row);
    if (rows.length < limit && !isOver()) continue;
    const customersLeft = await countCustomersAfter(context.db, id);
    return { rows, next: customersLeft === 0 ? null : { customerId: id }, customersLeft };
  }
  return { rows, next: null, customersLeft: 0 };
}

/** All of them, `limit` at once. */
async function* customersAfter(
  { db }: BillingContext,
  after: string | null,
  limit: number,
): AsyncGenerator<string, void, undefined> {
  for (let last = after; ; ) {
    const ids = await customerIdsAfter(db, last, limit);
    yield* ids;
    last = ids.at(-1) ?? null;
    if (last === null) return;
  }
}

/** More invoices than a customer has in any requested range. */
const INVOICES_MAX = 100_000;

async function reconcileCustomer(
  context: BillingContext,
  customerId: string,
  range: Interval,
): Promise<ReconciledCustomer | null> {
  const now = context.clock.now();
  const { heads, places, plan, consolidated } = await inSnapshot(context.db, async (db) => {
    const all = await draftPlaces({ ...context, db }, { customerId });
    const open = all.filter((place) => isIn(place, range));
    const page = { order: 'ascending', limit: INVOICES_MAX, scheduledBy: 'issue' } as const;
    return {
      places: open,
      plan: await planInvoices(
        db,
        open.flatMap((place) => (place.kind === 'usage' ? [place.target] : [])),
        now,
      ),
      heads: await listInvoiceHeadsOverlapping(db, { customerId }, range, page),
      consolidated: await reconcileConsolidated({ ...context, db }, customerId, range),
    };
  });
  const invoiceCount = heads.length + places.length + consolidated.invoiceCount;
  if (invoiceCount === 0) return null;
  const found: Collected = {
    lineCount: 0,
    differences: [...consolidated.differences],
    ...{ late: [], unchecked: [] },
  };
  for (const head of heads) {
    const [invoice] = await withLines(context.db, [head]);
    if (invoice === undefined) continue;
    collect(found, invoice, await reconcileIssued(context, invoice));
    found.differences.push(...(await checkCreditNotes(context.db, invoice)));
  }
  for await (const draft of reconcileDrafts(context, plan, now)) {
    collect(found, { id: draft.id, lines: { length: draft.lineCount } }, draft);
  }
  found.differences.push(...(await checkBalances(context.db, customerId)));
  for (const place of places) {
    // A true-up waits for usage invoices, and without a shortfall it is never issued.
    if (place.kind !== 'scheduled' || place.target.trueUpCommitId !== null) continue;
    const { contract } = place.target;
    found.lineCount += place.target.items.length;
    const invoice = { id: place.id, contractId: contract.id, lines: [] };
    found.differences.push(...checkIssue(invoice, place.issuedAt, now));
  }
  return {
    customerId,
    invoiceCount,
    lineCount: found.lineCount,
    differences: firstOf(found.differences),
    late: firstOf(found.late),
    unchecked: firstOf(found.unchecked),
  };
}

function isIn(place: DraftPlace, range: Interval): boolean {
  if (place.kind === 'scheduled') return place.issuedAt >= range.start && place.issuedAt < range.end;
  const { start, end } = place.target.period;
  return start < range.end && end > range.start;
}

interface Collected {
  lineCount: number;
  readonly differences: Difference[];
  readonly late: (LateUsage & { readonly invoiceId: string })[];
  readonly unchecked: { readonly invoiceId: string; readonly reason: string }[];
}

function collect(
  found: Collected,
  { id, lines }: Pick<IssuedInvoice, 'id'> & { readonly lines: { readonly length: number } },
  { differences, late, unchecked }: Findings,
): void {
  found.lineCount += lines.length;
  found.differences.push(...differences);
  found.late.push(...late.map((one) => ({ ...one, invoiceId: id })));
  if (unchecked !== null) found.unchecked.push({ invoiceId: id, reason: unchecked });
}

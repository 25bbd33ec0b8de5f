/**
 * The issued invoices of a month that miss usage (docs/explanation/invoices.md, "Late usage"). Computing the late usage of an invoice
 * rates it again, so only those are computed for which something can have arrived.
 */
import { cutPage, type KeysetPosition, type Page, type PageRequest } from '../../../core/paging.ts';
import { type Instant, MINUTE_MS } from '../../../core/time.ts';
import type { CountedPeriod } from '../../../metering/events/later-events.ts';
import type { LateUsage } from '../../../rating/invoices/late-usage.ts';
import { mapConcurrently } from '../../../runtime/concurrently.ts';
import { customerRefs } from '../../../store/customers/customers.ts';
import { changedSince } from '../../../store/customers/usage-owners.ts';
import { listInvoiceHeads } from '../../../store/invoices/invoice-lists.ts';
import { countedUpToOf, type IssuedHead } from '../../../store/invoices/invoices.ts';
import { withLines } from '../../../store/invoices/whole-invoices.ts';
import type { BillingContext } from '../../billing-context.ts';
import { findLateUsage } from '../drafts/late-usage.ts';
import { firstOf, type Shown } from '../drafts/unbilled-usage.ts';

export interface LateInvoice {
  readonly invoice: IssuedHead;
  /** Null: it is not known, for example because events were removed. */
  readonly late: Shown<LateUsage> | null;
}

/** Invoices that are checked and computed together. */
const LOOKED_AT = 100;
const COMPUTED_AT_ONCE = 4;
const PAGE_MS_MAX = 10_000;
/**
 * On a server with several writers, the longest delay after which an event becomes visible although a later one is
 * already.
 */
const VISIBLE_AFTER_US = 10n * BigInt(MINUTE_MS) * 1_000n;

/**
 * A page of them by issue date and id. It ends early, and may be empty, when it has taken 10 seconds; then there is a
 * next one.
 */
export async function listLateUsage(
  context: BillingContext,
  month: Instant,
  { after: first, limit }: PageRequest,
): Promise<Page<LateInvoice>> {
  const end = performance.now() + PAGE_MS_MAX;
  const rows: LateInvoice[] = [];
  let after = first;
  for (;;) {
    const filter = { month, type: 'USAGE', status: 'FINALIZED' } as const;
    const heads = await listInvoiceHeads(context.db, filter, { after, limit: LOOKED_AT, order: 'ascending' });
    const suspects = await withLaterUsage(context, heads);
    const part = await readLate(context, suspects, { limit: limit - rows.length, end });
    rows.push(...part.rows);
    if (part.next !== null) return { rows, next: part.next };
    const last = heads.at(-1);
    if (last === undefined || heads.length < LOOKED_AT) return { rows, next: null };
    after = positionOf(last);
    if (rows.length >= limit || performance.now() >= end) return { rows, next: after };
  }
}

/**
 * Invoices that miss usage. `next` is the place at which it stopped, at the limit or at the end of its time, else null.
 */
async function readLate(
  context: BillingContext,
  suspects: readonly IssuedHead[],
  { limit, end }: { readonly limit: number; readonly end: number },
): Promise<Page<LateInvoice>> {
  const rows: LateInvoice[] = [];
  for (let from = 0; from < suspects.length; from += COMPUTED_AT_ONCE) {
    const part = suspects.slice(from, from + COMPUTED_AT_ONCE);
    const found = await mapConcurrently(part, COMPUTED_AT_ONCE, (head) => lateUsageOf(context, head));
    rows.push(...found.filter(({ late }) => late?.count !== 0));
    const { rows: shown, next } = cutPage(rows, limit, ({ invoice }) => positionOf(invoice));
    const last = found.at(-1);
    if (next !== null || (last !== undefined && performance.now() >= end)) {
      return { rows: shown, next: next ?? (last === undefined ? null : positionOf(last.invoice)) };
    }
  }
  return { rows, next: null };
}

function positionOf({ issuedAt, id }: IssuedHead): KeysetPosition {
  return { at: issuedAt, id };
}

async function lateUsageOf(context: BillingContext, head: IssuedHead): Promise<LateInvoice> {
  const [invoice] = await withLines(context.db, [head]);
  const late = invoice === undefined ? [] : await findLateUsage(context, invoice);
  return { invoice: head, late: late === null ? null : firstOf(late) };
}

/**
 * Invoices whose customer has events of the period that were ingested after the counted ones, or was changed since: an
 * alias that is added later brings earlier events along.
 */
async function withLaterUsage(context: BillingContext, heads: readonly IssuedHead[]): Promise<IssuedHead[]> {
  const { db, usageSource, eventFacts } = context;
  const own = heads.filter(({ frozen }) => frozen !== null);
  const customers = [...new Set(own.map(({ customerId }) => customerId))];
  const [refs, counted, changed] = await Promise.all([
    customerRefs(db, customers),
    countedUpToOf(
      db,
      own.map(({ id }) => id),
    ),
    changedSince(db, customers, Math.min(...own.map(({ issuedAt }) => issuedAt))),
  ]);
  // The only writer of an embedded ClickHouse adds no event before the moment up to which an invoice has counted.
  const visibleAfter = eventFacts.completeUpTo() === null ? VISIBLE_AFTER_US : 0n;
  const periods = own.map(({ id, customerId, period }): CountedPeriod => {
    const upTo = BigInt(counted.get(id) ?? '0') - visibleAfter;
    return {
      refs: refs.get(customerId) ?? [],
      period: { start: period.countedFrom, end: period.end },
      countedUpTo: String(upTo < 0n ? 0n : upTo),
    };
  });
  const later = await usageSource.events.periodsWithLater(periods);
  const keptFrom = eventFacts.keptFrom();
  return own.filter(
    ({ customerId, issuedAt, period }, position) =>
      later.has(position) ||
      (changed.get(customerId) ?? 0) >= issuedAt ||
      (keptFrom !== null && period.countedFrom < keptFrom),
  );
}

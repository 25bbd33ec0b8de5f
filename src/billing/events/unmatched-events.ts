/** Events without a customer: no customer has their id or alias now (docs/explanation/events.md). */
import { invalid } from '../../core/errors.ts';
import { cutPage, type Page, type PageRequest } from '../../core/paging.ts';
import { DAY_MS, type Instant, type Interval } from '../../core/time.ts';
import { whileKept } from '../../metering/client/kept-events.ts';
import type { UsedRef, UsedRefPosition } from '../../metering/events/used-refs.ts';
import { ownersOfRefs } from '../../store/customers/usage-owners.ts';
import type { BillingContext } from '../billing-context.ts';

/** The maximum range of one request, which is also the default. */
export const UNMATCHED_DAYS_MAX = 35;
const REFS_PER_READ = 5_000;
/** Maximum names that one request reads. Each read counts the events of all following names. */
const REFS_PER_ANSWER = 50_000;

type Deps = Pick<BillingContext, 'db' | 'usageSource' | 'eventFacts' | 'clock'>;

/**
 * A page by name. It has few rows, or none, if 50,000 names with a customer were read before it was full. Null: the
 * last 35 days. Refuses an empty range, a longer one, and one whose events retention has removed.
 */
export async function listUnmatchedEvents(
  context: Deps,
  range: { readonly start: Instant | null; readonly end: Instant | null },
  page: PageRequest<UsedRefPosition>,
): Promise<Page<UsedRef, UsedRefPosition>> {
  const end = range.end ?? (range.start === null ? context.clock.now() + 1 : endAfter(range.start, context));
  const start = range.start ?? startBefore(end, context);
  if (start >= end) throw invalid(['endingBefore'], 'must be after starting_on');
  if (end - start > UNMATCHED_DAYS_MAX * DAY_MS) {
    throw invalid(['endingBefore'], `must be at most ${UNMATCHED_DAYS_MAX} days after starting_on`);
  }
  const rows: UsedRef[] = [];
  let next = page.after;
  for (let looked = 0; looked < REFS_PER_ANSWER && rows.length <= page.limit; looked += REFS_PER_READ) {
    const after = next;
    const read = await whileKept(context.eventFacts, start, () =>
      readUnmatched(context, { start, end }, after),
    );
    rows.push(...read.rows);
    next = read.next;
    if (next === null) break;
  }
  const cut = cutPage(rows, page.limit, ({ position }) => position);
  return { rows: cut.rows, next: cut.next ?? next };
}

function startBefore(end: Instant, { eventFacts }: Deps): Instant {
  return Math.max(end - UNMATCHED_DAYS_MAX * DAY_MS, eventFacts.keptFrom() ?? Number.NEGATIVE_INFINITY);
}

function endAfter(start: Instant, { clock }: Deps): Instant {
  return Math.min(clock.now() + 1, start + UNMATCHED_DAYS_MAX * DAY_MS);
}

async function readUnmatched(
  { db, usageSource }: Deps,
  range: Interval,
  after: UsedRefPosition | null,
): Promise<Page<UsedRef, UsedRefPosition>> {
  const read = await usageSource.events.refs(range, { after, limit: REFS_PER_READ + 1 });
  const { rows, next } = cutPage(read, REFS_PER_READ, ({ position }) => position);
  const owners = await ownersOfRefs(
    db,
    rows.map(({ customerRef }) => customerRef),
  );
  return { rows: rows.filter(({ customerRef }) => !owners.has(customerRef)), next };
}

export interface UnmatchedTotals {
  /** Ids and aliases that no customer has. */
  readonly customers: number;
  readonly events: number;
}

/** Counts over the last 35 days. If more than 50,000 names have events, the totals are lower bounds. */
export async function countUnmatchedEvents(context: Deps): Promise<UnmatchedTotals> {
  const end = context.clock.now() + 1;
  const range = { start: startBefore(end, context), end };
  let total: UnmatchedTotals = { customers: 0, events: 0 };
  let next: UsedRefPosition | null = null;
  for (let looked = 0; looked < REFS_PER_ANSWER; looked += REFS_PER_READ) {
    const read: Page<UsedRef, UsedRefPosition> = await readUnmatched(context, range, next);
    total = {
      customers: total.customers + read.rows.length,
      events: read.rows.reduce((sum, { events }) => sum + events, total.events),
    };
    next = read.next;
    if (next === null) break;
  }
  return total;
}

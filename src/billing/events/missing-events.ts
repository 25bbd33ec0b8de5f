/** Customers whose events have stopped: they came on every day of a week, and then none (docs/explanation/events.md). */
import { cutPage, type Page, type PageRequest } from '../../core/paging.ts';
import { DAY_MS, floorToDay, type Instant, type Interval } from '../../core/time.ts';
import { whileKept } from '../../metering/client/kept-events.ts';
import type { DaysWithEvents } from '../../metering/events/days-with-events.ts';
import { customersBilledByUsage, type UsageCustomer } from '../../store/contracts/billed-customers.ts';
import { customerRefs } from '../../store/customers/customers.ts';
import type { BillingContext } from '../billing-context.ts';

/** Days in a row on which events came before they stopped. */
export const DAYS_BEFORE = 7;
/** Customers whose last event is older are not listed: their end is known by then. */
export const SILENT_DAYS_MAX = 28;
const CUSTOMERS_PER_READ = 1_000;
/** Maximum customers that one request looks at. */
const CUSTOMERS_PER_ANSWER = 20_000;
/** Beyond the timestamps in the future that ingest accepts. */
const AHEAD_MS = 7 * DAY_MS;

type Deps = Pick<BillingContext, 'db' | 'usageSource' | 'eventFacts' | 'clock'>;

interface MissingEvents extends UsageCustomer {
  readonly last: Instant;
}

/**
 * A page of customers with a contract on a rate card in force, whose events have stopped, by creation. It has few rows,
 * or none, if 20,000 customers were looked at before it was full.
 */
export async function listMissingEvents(context: Deps, page: PageRequest): Promise<Page<MissingEvents>> {
  const now = context.clock.now();
  const rows: MissingEvents[] = [];
  let next = page.after;
  for (let looked = 0; looked < CUSTOMERS_PER_ANSWER && rows.length <= page.limit; ) {
    const request = { after: next, limit: CUSTOMERS_PER_READ };
    const read = await customersBilledByUsage(context.db, now, request);
    rows.push(...(await stoppedAmong(context, read.rows, now)));
    next = read.next;
    looked += CUSTOMERS_PER_READ;
    if (next === null) break;
  }
  const cut = cutPage(rows, page.limit, ({ createdAt: at, id }) => ({ at, id }));
  return { rows: cut.rows, next: cut.next ?? next };
}

async function stoppedAmong(
  { db, usageSource, eventFacts }: Deps,
  customers: readonly UsageCustomer[],
  now: Instant,
): Promise<MissingEvents[]> {
  const refs = await customerRefs(
    db,
    customers.map(({ id }) => id),
  );
  const range = rangeAt(now, eventFacts.keptFrom());
  const found = await whileKept(eventFacts, range.start, () =>
    usageSource.events.days([...refs.values()].flat(), range),
  );
  const byRef = new Map(found.map((each) => [each.customerRef, each]));
  return customers.flatMap((customer) => {
    const own = (refs.get(customer.id) ?? []).flatMap((ref) => byRef.get(ref) ?? []);
    const last = stoppedAt(own, now);
    return last === null ? [] : [{ ...customer, last }];
  });
}

function rangeAt(now: Instant, keptFrom: Instant | null): Interval {
  const start = floorToDay(now) - (SILENT_DAYS_MAX + DAYS_BEFORE) * DAY_MS;
  return { start: Math.max(start, keptFrom ?? start), end: now + AHEAD_MS };
}

/** The last event, if it is at least 24 hours ago and events came on each of the seven days up to its own; else null. */
function stoppedAt(found: readonly DaysWithEvents[], now: Instant): Instant | null {
  const last = Math.max(...found.map((each) => each.last));
  if (!Number.isFinite(last) || last > now - DAY_MS || last < now - SILENT_DAYS_MAX * DAY_MS) return null;
  const days = new Set(found.flatMap((each) => each.days));
  for (let back = 0; back < DAYS_BEFORE; back += 1) {
    if (!days.has(floorToDay(last) - back * DAY_MS)) return null;
  }
  return last;
}

/** The stored events of all customers or of one, newest first, each with its current customer. */
import { cutPage, type Page, type PageRequest } from '../../core/paging.ts';
import { DAY_MS, type Instant } from '../../core/time.ts';
import {
  type EventPosition,
  type ListedEvent,
  listEvents as readEvents,
} from '../../metering/events/list-events.ts';
import { customerRefs } from '../../store/customers/customers.ts';
import { ownersOfRefs, type UsageOwnerName } from '../../store/customers/usage-owners.ts';
import type { BillingContext } from '../billing-context.ts';

interface EventFilter {
  readonly customerId: string | null;
  readonly eventType: string | null;
  readonly start: Instant | null;
  readonly end: Instant | null;
}

interface EventOfOwner {
  readonly event: ListedEvent;
  readonly customer: UsageOwnerName | null;
}

/** Days that are read: the first range, and the next one if the page is not full. */
const DAYS_READ = [35, 400] as const;
/** Events may be a day ahead of the clock. */
const AHEAD_DAYS = 2;

export async function listEvents(
  { db, clickhouse, clock }: Pick<BillingContext, 'db' | 'clickhouse' | 'clock'>,
  { customerId, eventType, start, end }: EventFilter,
  { after, limit }: PageRequest<EventPosition>,
): Promise<Page<EventOfOwner, EventPosition>> {
  const refs = customerId === null ? null : ((await customerRefs(db, [customerId])).get(customerId) ?? []);
  const first = start ?? 0;
  let until = Math.min(end ?? clock.now() + AHEAD_DAYS * DAY_MS, after === null ? Infinity : after.at + 1);
  const found: ListedEvent[] = [];
  for (const days of [...DAYS_READ, Infinity]) {
    if (until <= first || found.length > limit || refs?.length === 0) break;
    const range = { start: Math.max(first, until - days * DAY_MS), end: until };
    found.push(
      ...(await readEvents(
        clickhouse,
        { range, refs, eventType },
        { after, limit: limit + 1 - found.length },
      )),
    );
    until = range.start;
  }
  const page = cutPage(found, limit, ({ timestamp, transactionId }) => ({ at: timestamp, transactionId }));
  const owners = await ownersOfRefs(db, [...new Set(page.rows.map(({ customerRef }) => customerRef))]);
  const rows = page.rows.map((event) => ({ event, customer: owners.get(event.customerRef) ?? null }));
  return { rows, next: page.next };
}

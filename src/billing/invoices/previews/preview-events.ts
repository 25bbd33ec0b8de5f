/**
 * The drafts of a customer as they would be with given events (docs/how-to/previews.md). Computed like every draft;
 * only the events that are read differ. Nothing is stored.
 */
import { invalid } from '../../../core/errors.ts';
import { newId } from '../../../core/ids.ts';
import { DAY_MS, formatInstant, type Instant } from '../../../core/time.ts';
import { eventsToPreview, type SentEvent } from '../../../metering/events/events-to-preview.ts';
import type { EventPreview, PreviewedEvent } from '../../../metering/query/previewed-events.ts';
import type { UsageSource } from '../../../metering/usage/usage-source.ts';
import { inSnapshot } from '../../../store/base/database.ts';
import type { BillingContext } from '../../billing-context.ts';
import { NO_ALARMS } from '../../invoice-log/invoice-alarms.ts';
import { computeDrafts } from '../compute/compute.ts';
import { type PlannedInvoices, planInvoices } from '../compute/plan-invoices.ts';
import { draftPlaces } from '../drafts/draft-places.ts';
import { byPosition } from '../drafts/invoice-order.ts';
import { draftWithWarnings, type InvoiceWithWarnings } from '../drafts/unbilled-usage.ts';
import { requireCustomer } from '../read/read-invoices.ts';
import { usageMoment } from './usage-moment.ts';

export interface EventsToPreview {
  /** `replace`: only the given events count. `merge`: they are added to the stored ones. */
  readonly mode: 'replace' | 'merge';
  readonly events: readonly GivenEvent[];
}

/** If these are null, the id is a new one, and the time is now. */
interface GivenEvent extends Pick<SentEvent, 'eventType' | 'propertiesJson'> {
  readonly transactionId: string | null;
  readonly timestamp: string | null;
}

/**
 * The usage drafts of all contracts of the customer, in the order of lists. Refuses an unknown customer (`not_found`),
 * a repeated transaction id and events that ingestion would refuse (`invalid`).
 */
export async function previewEvents(
  billing: BillingContext,
  customerId: string,
  { mode, events }: EventsToPreview,
): Promise<InvoiceWithWarnings[]> {
  const now = billing.clock.now();
  refuseRepeated(events);
  const planned = await inSnapshot(billing.db, async (db) => {
    await requireCustomer(db, customerId);
    const places = await draftPlaces({ ...billing, db }, { customerId, type: 'USAGE' });
    return planInvoices(
      db,
      places.flatMap((place) => (place.kind === 'usage' ? [place.target] : [])),
      now,
    );
  });
  const given = eventsToPreview(
    events.map((event) => sentEvent(event, customerId, now)),
    { now, windowDays: billing.windowDays },
  );
  const preview =
    mode === 'replace'
      ? await besideOthers(billing, customerId, given, planned)
      : await besideStored(billing, customerId, given, planned);
  const drafts = await computeDrafts(
    { ...billing, usageSource: billing.usageSource.withPreview(preview), alarms: NO_ALARMS },
    planned,
  );
  return drafts.map(draftWithWarnings).sort(byPosition('ascending'));
}

function refuseRepeated(events: readonly GivenEvent[]): void {
  const seen = new Set<string>();
  for (const [index, { transactionId }] of events.entries()) {
    if (transactionId === null) continue;
    if (seen.has(transactionId)) {
      throw invalid(['events', index, 'transactionId'], 'another event of the request has the same');
    }
    seen.add(transactionId);
  }
}

function sentEvent(event: GivenEvent, customerId: string, now: Instant): SentEvent {
  return {
    ...event,
    customerId,
    transactionId: event.transactionId ?? newId(),
    timestamp: event.timestamp ?? formatInstant(now),
  };
}

const MICROSECONDS_PER_MS = 1_000;

/** From the stored events only those of other customers, whose drafts draw on balances first. */
async function besideOthers(
  { usageSource, clock }: BillingContext,
  customerRef: string,
  events: readonly PreviewedEvent[],
  { earlier, context }: PlannedInvoices,
): Promise<EventPreview> {
  const others = earlier.filter(({ contract }) => contract.customerId !== customerRef);
  const beside = await usageMoment(usageSource, { targets: [], earlier: others, context });
  const ingestedAfter =
    beside === null ? BigInt(clock.now() * MICROSECONDS_PER_MS) : BigInt(beside.ingestedUpTo);
  return { events, customerRef, ingestedAfter, beside };
}

/** Without the events whose ids are known: they would be dropped as duplicates. */
async function besideStored(
  { usageSource, clock, windowDays }: BillingContext,
  customerRef: string,
  events: readonly PreviewedEvent[],
  planned: PlannedInvoices,
): Promise<EventPreview> {
  const known = await knownIds(usageSource, events, clock.now() - windowDays * DAY_MS);
  const stored = await usageMoment(usageSource, planned);
  return {
    events: events.filter(({ transactionId }) => !known.has(transactionId)),
    customerRef,
    ingestedAfter: BigInt(stored?.ingestedUpTo ?? '0'),
    beside: stored,
  };
}

async function knownIds(
  usageSource: UsageSource,
  events: readonly PreviewedEvent[],
  receivedFrom: Instant,
): Promise<ReadonlySet<string>> {
  const ids = events.map(({ transactionId }) => transactionId);
  return await usageSource.events.acceptedIds(ids, receivedFrom);
}

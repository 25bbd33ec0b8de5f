/**
 * Finds events by transaction id, with their customer and the metrics that count them (docs/explanation/events.md).
 *
 * As for usage, current customers and metrics apply, so a moved alias or a new metric changes the answer.
 */
import { Refusal, unreachable } from '../../core/errors.ts';
import { derivedId } from '../../core/ids.ts';
import { DAY_MS, SECOND_MS } from '../../core/time.ts';
import { TOKEN_EVENT_TYPE, TOKEN_KINDS } from '../../core/token-billing.ts';
import type { CorrectedVersion } from '../../metering/events/find-events.ts';
import { mismatchReason, propertiesToMatch } from '../../metering/events/match-event.ts';
import type { PropertyReader } from '../../metering/events/nested-properties.ts';
import type { StoredEvent } from '../../metering/events/stored-event.ts';
import type { Database } from '../../store/base/database.ts';
import { ownersOfRefs, type UsageOwnerName } from '../../store/customers/usage-owners.ts';
import { correctionsOfAttempts } from '../../store/events/event-corrections.ts';
import { allMetrics, type StoredMetric } from '../../store/metrics/billable-metrics.ts';
import type { BillingContext } from '../billing-context.ts';
import { type WithCustomFields, withCustomFields } from '../custom-fields/with-fields.ts';
import { unpricedReasons } from '../token-billing/unpriced-uses.ts';

/** The search of events accepts as many ids as one ingest request has events. */
export const EVENT_SEARCH_IDS_MAX = 100;
/** Maximum repeats shown for one id. */
const REPEATS_SHOWN_MAX = 100;
/** Maximum results of one search, events times metrics: some 30 MB of JSON. */
const DECISIONS_MAX = 100_000;

type MatchedMetric = WithCustomFields<StoredMetric>;

interface UnmatchedMetric {
  readonly metric: StoredMetric;
  /** The first rule that the event fails, as text for people. */
  readonly reason: string;
}

/** How corrections have changed a version of an event. */
interface EventStanding {
  /** `billed`: it counts; `amended`: another version counts instead. */
  readonly status: 'billed' | 'voided' | 'amended';
  /** The set that gave this version, or took it away; null: none. */
  readonly correctionId: string | null;
}

const AS_SENT: EventStanding = { status: 'billed', correctionId: null };

export interface EventView {
  /** Identifies this row; stable across searches. */
  readonly id: string;
  readonly event: StoredEvent;
  readonly isDuplicate: boolean;
  readonly standing: EventStanding;
  readonly customer: UsageOwnerName | null;
  /** The metrics whose usage counts this event, archived ones included. */
  readonly matched: readonly MatchedMetric[];
  /** Why tokens of a token-billing event have no price; null if they have one, and for other events. */
  readonly unpricedReason: string | null;
  /** The active metrics that do not count it; empty for a row that nothing counts. */
  readonly unmatched: readonly UnmatchedMetric[];
}

/**
 * The events accepted within the window with these ids, in the order of the ids; each followed by the versions that
 * corrections have given it, and by its recorded repeats.
 * Refuses (`too_large`) more events and metrics than one answer can hold.
 */
export async function searchEvents(
  context: BillingContext,
  transactionIds: readonly string[],
): Promise<EventView[]> {
  const { db, usageSource, clock, windowDays, repeats } = context;
  const ids = [...new Set(transactionIds)];
  // Ids are kept in whole seconds: one accepted in this second or later is known now.
  const receivedFrom = (Math.floor(clock.now() / SECOND_MS) + 1) * SECOND_MS - windowDays * DAY_MS;
  await repeats.flush();
  const [{ accepted, corrected, repeats: duplicates }, metrics] = await Promise.all([
    usageSource.events.find(ids, receivedFrom, REPEATS_SHOWN_MAX),
    metricsWithFields(db),
  ]);
  const standings = await standingsOf(db, accepted, corrected);
  const events = [...standings.keys()];
  if (events.length * metrics.length > DECISIONS_MAX) {
    throw new Refusal(
      'too_large',
      `${events.length} events and ${metrics.length} billable metrics are too many for one answer: ask for fewer transactionIds`,
    );
  }
  const refs = new Set([...events, ...duplicates].map(({ customerRef }) => customerRef));
  const owners = await ownersOfRefs(db, [...refs]);
  const propertyOf = await usageSource.events.properties(events, metrics.flatMap(propertiesOf));
  const unpriced = await unpricedReasonsOf(db, events);
  const ownerOf = ({ customerRef }: StoredEvent) => owners.get(customerRef) ?? null;
  const views = [
    ...[...standings].map(([event, standing]) =>
      standing.status === 'billed'
        ? {
            ...acceptedView(event, ownerOf(event), metrics, propertyOf),
            standing,
            unpricedReason: unpriced.get(event) ?? null,
          }
        : uncountedView(event, ownerOf(event), { standing, isDuplicate: false }),
    ),
    ...duplicates.map((event) =>
      uncountedView(event, ownerOf(event), { standing: AS_SENT, isDuplicate: true }),
    ),
  ];
  const position = new Map(ids.map((id, index) => [id, index]));
  const positionOf = ({ event }: EventView) => position.get(event.transactionId) ?? 0;
  return views.sort((a, b) => positionOf(a) - positionOf(b));
}

/** All versions of these events, each with its standing, those as they were sent first. */
async function standingsOf(
  db: Database,
  accepted: readonly StoredEvent[],
  corrected: readonly CorrectedVersion[],
): Promise<Map<StoredEvent, EventStanding>> {
  const sets = await correctionsOfAttempts(
    db,
    corrected.map(({ attempt }) => attempt),
  );
  const ids = new Set(accepted.map(({ transactionId }) => transactionId));
  const given = corrected.filter(({ event, isGiven }) => isGiven && ids.has(event.transactionId));
  const standingOf = (event: StoredEvent, ofAttempt: string): EventStanding => {
    const taken = corrected.find(
      (one) => !one.isGiven && one.ofAttempt === ofAttempt && hasKeyOf(one.event, event),
    );
    const own = sets.get(taken?.attempt ?? ofAttempt)?.id ?? null;
    if (taken === undefined) return { status: 'billed', correctionId: own };
    const isAmended = given.some(
      (one) => one.attempt === taken.attempt && one.event.transactionId === event.transactionId,
    );
    return { status: isAmended ? 'amended' : 'voided', correctionId: own };
  };
  return new Map([
    ...accepted.map((event) => [event, standingOf(event, '')] as const),
    ...given.map(({ event, attempt }) => [event, standingOf(event, attempt)] as const),
  ]);
}

function hasKeyOf(a: StoredEvent, b: StoredEvent): boolean {
  return (
    a.transactionId === b.transactionId &&
    a.customerRef === b.customerRef &&
    a.eventType === b.eventType &&
    a.timestamp === b.timestamp
  );
}

async function metricsWithFields(db: Database): Promise<MatchedMetric[]> {
  return await withCustomFields(db, await allMetrics(db, { includeArchived: true }));
}

async function unpricedReasonsOf(
  db: Database,
  events: readonly StoredEvent[],
): Promise<ReadonlyMap<StoredEvent, string | null>> {
  const priced = events.filter(({ eventType }) => eventType === TOKEN_EVENT_TYPE);
  const reasons = await unpricedReasons(
    db,
    priced.map(({ customerRef, properties, timestamp }) => ({
      customerRef,
      provider: properties.get('provider') ?? '',
      model: properties.get('model') ?? '',
      kinds: TOKEN_KINDS.filter((kind) => properties.has(kind)),
      at: timestamp,
    })),
  );
  return new Map(priced.map((event, index) => [event, reasons[index] ?? null]));
}

/** The view of a row that counts for no usage. */
function uncountedView(
  event: StoredEvent,
  customer: UsageOwnerName | null,
  of: Pick<EventView, 'standing' | 'isDuplicate'>,
): EventView {
  return {
    ...of,
    id: rowId(event),
    event,
    customer,
    matched: [],
    unmatched: [],
    unpricedReason: null,
  };
}

function acceptedView(
  event: StoredEvent,
  customer: UsageOwnerName | null,
  metrics: readonly MatchedMetric[],
  propertyOf: PropertyReader,
): EventView {
  const matched: MatchedMetric[] = [];
  const unmatched: UnmatchedMetric[] = [];
  for (const metric of metrics) {
    const reason =
      customer === null
        ? `no customer has ${JSON.stringify(event.customerRef)} as its id or as an ingest alias`
        : reasonAgainst(metric, event, propertyOf);
    if (reason === null) matched.push(metric);
    else if (metric.archivedAt === null) unmatched.push({ metric, reason });
  }
  const about = { event, isDuplicate: false, standing: AS_SENT, customer };
  return { id: rowId(event), ...about, matched, unmatched, unpricedReason: null };
}

function rowId({ transactionId, tick }: StoredEvent): string {
  return derivedId('event', transactionId, tick);
}

function propertiesOf(metric: StoredMetric): string[] {
  switch (metric.kind) {
    case 'streaming':
      return propertiesToMatch(metric);
    case 'sql':
      return [];
    default:
      return unreachable(metric);
  }
}

/** A SQL metric may read any event of the customer. Whether its result counts an event is unknown. */
function reasonAgainst(metric: StoredMetric, event: StoredEvent, propertyOf: PropertyReader): string | null {
  switch (metric.kind) {
    case 'streaming':
      return mismatchReason(metric, event, propertyOf);
    case 'sql':
      return null;
    default:
      return unreachable(metric);
  }
}

/** Sets of corrections while they are open: created, filled, dropped, read (docs/explanation/corrections.md). */
import { conflict, invalid, notFound, Refusal } from '../../core/errors.ts';
import type { CorrectionEntry, CorrectionSet, CorrectionStatus } from '../../core/event-correction.ts';
import { isUuid, newId } from '../../core/ids.ts';
import type { Page, PageRequest } from '../../core/paging.ts';
import { formatInstant } from '../../core/time.ts';
import { findVersions } from '../../metering/events/find-events.ts';
import { textsJson } from '../../metering/ingest/event-rows.ts';
import { validateEvents } from '../../metering/ingest/validate-events.ts';
import type { Transaction } from '../../store/base/database.ts';
import { firstErased } from '../../store/customers/usage-owners.ts';
import {
  countEntries,
  findCorrection,
  insertCorrection,
  listCorrections,
  lockCorrection,
  putEntries,
  setDropped,
} from '../../store/events/event-corrections.ts';
import type { BillingContext, RowContext } from '../billing-context.ts';
import { versionsById } from './correction-plan.ts';

/** Events that one call adds, void and amended together. */
export const CORRECTION_ENTRIES_PER_CALL_MAX = 1_000;
/** Events of one set. */
export const CORRECTION_ENTRIES_MAX = 100_000;

/** What an amended event becomes, in the form of a request. Absent members stay as they are. */
interface Amendment {
  readonly transactionId: string;
  readonly customerId?: string | undefined;
  readonly eventType?: string | undefined;
  /** RFC 3339. */
  readonly timestamp?: string | undefined;
  /** JSON with numbers as they were sent. */
  readonly propertiesJson?: string | undefined;
}

export interface Additions {
  readonly void: readonly string[];
  readonly amend: readonly Amendment[];
}

export async function createCorrection(
  { db, clock }: RowContext,
  set: Pick<CorrectionSet, 'name' | 'reason' | 'createdBy'>,
): Promise<string> {
  const id = newId();
  await db.transaction((tx) => insertCorrection(tx, { ...set, id, createdAt: clock.now() }));
  return id;
}

/**
 * Adds events to an open set; an id that it has gets the new entry. Returns the void ids of which there is no event.
 * Refuses an unknown set (`not_found`), one that is not open (`conflict`), and as `invalid` ids that are named twice,
 * amended ids without an event or with several, values that ingestion would refuse, events of erased customers, and
 * more events than a set may have.
 */
export async function addToCorrection(
  context: BillingContext,
  id: string,
  additions: Additions,
): Promise<string[]> {
  const { db, clickhouse, clock, corrections } = context;
  requireDistinct(additions);
  const amended = additions.amend.map((one, index) => entryOf(one, index, clock.now()));
  const ids = [...additions.void, ...amended.map(({ transactionId }) => transactionId)];
  const found = await findVersions(clickhouse, ids);
  const order = corrections.known().map(({ attempt }) => attempt);
  const versions = versionsById(found, order);
  requireOneEvent(
    amended.map(({ transactionId }) => transactionId),
    (one) => versions.get(one)?.sent.length ?? 0,
  );
  const voided = additions.void.map(
    (transactionId): CorrectionEntry => ({ ...NOTHING_GIVEN, transactionId, action: 'void', foundRef: null }),
  );
  const entries = [...voided, ...amended].map((entry) => ({
    ...entry,
    foundRef: versions.get(entry.transactionId)?.last?.customerRef ?? null,
  }));
  await db.transaction(async (tx) => {
    const set = await lockedSet(tx, id);
    requireStatus(set, 'open');
    await requireNotErased(tx, amendedRefs(entries));
    await putEntries(tx, id, entries);
    if ((await countEntries(tx, id)) > CORRECTION_ENTRIES_MAX)
      throw invalid([], `a set has at most ${CORRECTION_ENTRIES_MAX} events: use several`);
  });
  return entries.filter(({ foundRef }) => foundRef === null).map(({ transactionId }) => transactionId);
}

const NOTHING_GIVEN = { customerRef: null, eventType: null, timestamp: null, propertiesJson: null };

function requireDistinct({ void: ids, amend }: Additions): void {
  const seen = new Set<string>();
  for (const id of [...ids, ...amend.map(({ transactionId }) => transactionId)]) {
    if (seen.has(id)) throw invalid([], `event ${id} is named twice`);
    seen.add(id);
  }
}

/** Old events may be amended, but not into a time after that of ingestion. */
const ANY_AGE_DAYS = 1_000_000;

/** The values as ingestion stores them. Those that are absent are replaced for the check. */
function entryOf(one: Amendment, index: number, now: number): CorrectionEntry {
  const { transactionId, customerId, eventType, timestamp, propertiesJson } = one;
  if ([customerId, eventType, timestamp, propertiesJson].every((value) => value === undefined)) {
    throw invalid(['amend', index], 'changes nothing');
  }
  const members = JSON.stringify({
    transaction_id: transactionId,
    customer_id: customerId ?? 'any',
    event_type: eventType ?? 'any',
    timestamp: timestamp ?? formatInstant(now),
  });
  const event = `[${members.slice(0, -1)},"properties":${propertiesJson ?? '{}'}}]`;
  const validation = validateEvents(Buffer.from(event), { now, windowDays: ANY_AGE_DAYS });
  if (!('rows' in validation)) {
    throw invalid(['amend', index], validation.errors[0]?.message ?? validation.message);
  }
  const read = validation.rows.read(0);
  return {
    transactionId,
    action: 'amend',
    customerRef: customerId === undefined ? null : read.customerRef,
    eventType: eventType === undefined ? null : read.eventType,
    timestamp: timestamp === undefined ? null : read.timestamp,
    propertiesJson: propertiesJson === undefined ? null : textsJson(read.properties),
    foundRef: null,
  };
}

/** An id can be used again after the deduplication window: which of its events is meant would be unknown. */
function requireOneEvent(ids: readonly string[], countOf: (id: string) => number): void {
  const unknown = ids.filter((id) => countOf(id) === 0);
  if (unknown.length > 0) {
    throw new Refusal('invalid', `there is no event with these ids: ${unknown.slice(0, 10).join(', ')}`, {
      path: ['amend'],
      details: { not_found: unknown },
    });
  }
  const several = ids.find((id) => countOf(id) > 1);
  if (several !== undefined) throw invalid(['amend'], `there are several events with the id ${several}`);
}

/** The references that lose an amended event, or get one. */
function amendedRefs(entries: readonly CorrectionEntry[]): string[] {
  return entries
    .filter(({ action }) => action === 'amend')
    .flatMap(({ customerRef, foundRef }) => [customerRef, foundRef].filter((ref) => ref !== null));
}

export async function requireNotErased(tx: Transaction, refs: readonly string[]): Promise<void> {
  const erased = await firstErased(tx, [...new Set(refs)]);
  if (erased !== null) throw invalid(['amend'], `customer ${erased} is erased: its events cannot be amended`);
}

/** Drops an open set. Refuses as `addToCorrection`. */
export async function dropCorrection({ db, clock }: RowContext, id: string, by: string): Promise<void> {
  await db.transaction(async (tx) => {
    const set = await lockedSet(tx, id);
    requireStatus(set, 'open');
    await setDropped(tx, set, { at: clock.now(), by });
  });
}

export async function lockedSet(tx: Transaction, id: string): Promise<CorrectionSet> {
  const set = await lockCorrection(tx, id);
  if (set === null) throw notFound('correction', id);
  return set;
}

export function requireStatus({ id, status }: CorrectionSet, wanted: CorrectionStatus): void {
  if (status !== wanted) throw conflict(`correction ${id} is ${status}, not ${wanted}`);
}

export async function readCorrection({ db }: Pick<RowContext, 'db'>, id: string): Promise<CorrectionSet> {
  const set = isUuid(id) ? await findCorrection(db, id) : null;
  if (set === null) throw notFound('correction', id);
  return set;
}

export async function readCorrections(
  { db }: Pick<RowContext, 'db'>,
  status: CorrectionStatus | null,
  page: PageRequest,
): Promise<Page<CorrectionSet>> {
  return await listCorrections(db, status, page);
}

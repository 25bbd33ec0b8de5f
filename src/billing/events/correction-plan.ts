/** Plans how a set of corrections changes the versions of events (docs/explanation/corrections.md). Pure. */
import type { CorrectionEntry } from '../../core/event-correction.ts';
import type { CorrectedRow } from '../../metering/corrections/corrected-rows.ts';
import type { CorrectedVersion, FoundEvents } from '../../metering/events/find-events.ts';
import type { StoredEvent } from '../../metering/events/stored-event.ts';
import { textsJson } from '../../metering/ingest/event-rows.ts';

/** The events of one id, and what standing corrections have changed of them. */
export interface EventVersions {
  readonly sent: readonly StoredEvent[];
  /** The versions that count now. */
  readonly counting: readonly CountingVersion[];
  /** The version that was the last to count; null without an event. */
  readonly last: StoredEvent | null;
}

interface CountingVersion {
  /** The application that gave it; empty: the event as it was sent. */
  readonly attempt: string;
  readonly event: StoredEvent;
}

const keyOf = ({ transactionId, customerRef, eventType, timestamp }: StoredEvent) =>
  JSON.stringify([transactionId, customerRef, eventType, timestamp]);

/** By id, of events that `findVersions` has found. `order`: the attempts of applied sets, in the order of application. */
export function versionsById(
  { accepted, corrected }: Pick<FoundEvents, 'accepted' | 'corrected'>,
  order: readonly string[],
): ReadonlyMap<string, EventVersions> {
  const ids = new Set(accepted.map(({ transactionId }) => transactionId));
  return new Map(
    [...ids].map((id) => [
      id,
      versionsOf(
        accepted.filter(({ transactionId }) => transactionId === id),
        corrected.filter(({ event }) => event.transactionId === id),
        order,
      ),
    ]),
  );
}

function versionsOf(
  sent: readonly StoredEvent[],
  corrected: readonly CorrectedVersion[],
  order: readonly string[],
): EventVersions {
  const taken = corrected.filter(({ isGiven }) => !isGiven);
  const isTaken = ({ attempt, event }: CountingVersion) =>
    taken.some((one) => one.ofAttempt === attempt && keyOf(one.event) === keyOf(event));
  const given = corrected
    .filter(({ isGiven }) => isGiven)
    .sort((a, b) => order.indexOf(a.attempt) - order.indexOf(b.attempt));
  const all = [...sent.map((event) => ({ attempt: '', event })), ...given];
  return { sent, counting: all.filter((one) => !isTaken(one)), last: all.at(-1)?.event ?? null };
}

/** `changed`: null if the set has nothing to change of the id. */
export interface EntryPlan {
  readonly entry: CorrectionEntry;
  readonly changed: {
    readonly taken: readonly CorrectedRow[];
    readonly given: CorrectedRow | null;
  } | null;
}

/** Plans one entry. `versions` are those of its id; undefined: no event has that id. */
export function planEntry(entry: CorrectionEntry, versions: EventVersions | undefined): EntryPlan {
  const base = versions?.counting[0]?.event ?? versions?.last ?? null;
  if (versions === undefined || base === null) return { entry, changed: null };
  const taken = versions.counting.map(({ attempt, event }) => rowOf(event, { ofAttempt: attempt }));
  if (entry.action === 'void') return { entry, changed: taken.length === 0 ? null : { taken, given: null } };
  const given: CorrectedRow = {
    ...rowOf(base, { isGiven: true }),
    customerRef: entry.customerRef ?? base.customerRef,
    eventType: entry.eventType ?? base.eventType,
    timestamp: entry.timestamp ?? base.timestamp,
    propertiesJson: entry.propertiesJson ?? textsJson([...base.properties]),
  };
  return { entry, changed: { taken, given } };
}

function rowOf(
  event: StoredEvent,
  { isGiven = false, ofAttempt = '' }: { readonly isGiven?: boolean; readonly ofAttempt?: string },
): CorrectedRow {
  const { transactionId, customerRef, eventType, timestamp, ingestedAt } = event;
  return {
    ...{ isGiven, ofAttempt, transactionId, customerRef, eventType, timestamp, ingestedAt },
    propertiesJson: '{}',
  };
}

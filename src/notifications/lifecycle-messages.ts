/**
 * Messages about the lifecycle of contracts, commits and credits (docs/explanation/notifications.md). A commit is any
 * term that grants a balance and is paid for; a credit is not.
 */
import { isDeepStrictEqual } from 'node:util';
import type { CustomFields } from '../core/custom-fields.ts';
import type { Commit } from '../core/terms/commits.ts';
import type { FullContract } from '../core/terms/contract.ts';
import { formatInstant, type Instant } from '../core/time.ts';
import type { Transaction } from '../store/base/database.ts';
import { sentTogether } from '../store/base/sent-together.ts';
import { loadCustomFields } from '../store/custom-fields/custom-fields.ts';
import { contractInstants, type Rescheduled, segmentInstants } from './due-messages.ts';
import { CHANGE_TYPES, type ChangeType, type LifecycleType } from './message-types.ts';
import { type Message, publish } from './outbox.ts';
import { reschedule } from './schedule.ts';
import type { Upcoming } from './upcoming.ts';

/** A state before and after a change; `before` is null for a new object. */
export interface Changed<State> {
  readonly before: State | null;
  readonly after: State;
}

interface LifecycleEvent {
  readonly type: LifecycleType;
  readonly customerId: string;
  readonly contractId: string | null;
  /** The commit or credit; null for events of the contract itself. */
  readonly commit: Pick<Commit, 'id' | 'type' | 'recurringCommitId'> | null;
}

type ChangeEvent = LifecycleEvent & { readonly type: ChangeType };

/**
 * Reports created and changed contracts, and the effects of the changes on their commits and credits. Schedules the
 * later messages about them. `upcoming`: of the changed contracts that have recurring terms.
 */
export async function publishContractChanges(
  tx: Transaction,
  changes: readonly Changed<FullContract>[],
  upcoming: readonly Upcoming[],
  now: Instant,
): Promise<void> {
  const rescheduled = () => changes.flatMap((change) => rescheduledContract(change, now));
  await sentTogether(
    () => publishEvents(tx, () => changes.flatMap(contractEvents), now),
    () => reschedule(tx, () => ({ changes: rescheduled(), upcoming }), now),
  );
}

/** Reports commits and credits that change without a change of a contract, likewise. */
export async function publishCommitChanges(
  tx: Transaction,
  changes: readonly Changed<Commit>[],
  now: Instant,
): Promise<void> {
  if (changes.length === 0) return;
  await publishEvents(tx, () => changes.flatMap(commitEvents), now);
  const rescheduled = () => changes.map((change) => rescheduledCommit(change, { now, dueAfter: now }));
  await reschedule(tx, () => ({ changes: rescheduled(), upcoming: [] }), now);
}

/** A commit or credit that the service created when it was due. */
export interface Granted {
  readonly commit: Commit;
  /** Messages due by this instant were scheduled before, or are not sent. */
  readonly dueAfter: Instant;
}

/** Reports commits and credits that the service has created, likewise. `upcoming`: those created later. */
export async function publishGrants(
  tx: Transaction,
  granted: readonly Granted[],
  upcoming: readonly Upcoming[],
  now: Instant,
): Promise<void> {
  const created = ({ commit }: Granted) => ({ before: null, after: commit });
  await publishEvents(tx, () => granted.flatMap((one) => commitEvents(created(one))), now);
  const rescheduled = () =>
    granted.map((one) => rescheduledCommit(created(one), { now, dueAfter: one.dueAfter }));
  await reschedule(tx, () => ({ changes: rescheduled(), upcoming }), now);
}

function contractEvents(change: Changed<FullContract>): ChangeEvent[] {
  return [contractEvent(change), ...changedCommits(change).flatMap(commitEvents)];
}

function contractEvent({ before, after }: Changed<FullContract>): ChangeEvent {
  const { id: contractId, customerId } = after.contract;
  const type = `contract.${verbOf(before?.contract ?? null, after.contract) ?? 'edit'}` as const;
  return { type, customerId, contractId, commit: null };
}

function changedCommits({ before, after }: Changed<FullContract>): Changed<Commit>[] {
  const known = new Map(before?.terms.commits.map((commit) => [commit.id, commit]));
  return after.terms.commits.map((commit) => ({ before: known.get(commit.id) ?? null, after: commit }));
}

function commitEvents({ before, after: commit }: Changed<Commit>): ChangeEvent[] {
  const verb = verbOf(before, commit);
  if (verb === null) return [];
  const { customerId, contractId } = commit;
  const kind = commit.type === 'CREDIT' ? 'credit' : 'commit';
  return [{ type: `${kind}.${verb}`, customerId, contractId, commit }];
}

/** Null if nothing has changed. */
function verbOf<State extends { readonly archivedAt: Instant | null }>(
  before: State | null,
  after: State,
): 'create' | 'edit' | 'archive' | null {
  if (before === null) return 'create';
  if (before.archivedAt === null && after.archivedAt !== null) return 'archive';
  return isDeepStrictEqual(before, after) ? null : 'edit';
}

function rescheduledContract(change: Changed<FullContract>, now: Instant): Rescheduled[] {
  const { before, after } = change;
  const event = contractEvent(change);
  const isArchived = event.type === 'contract.archive';
  return [
    {
      before: before === null ? [] : contractInstants(before),
      after: contractInstants(after),
      change: datedChange(event, now),
      archived: isArchived ? [after.contract.id] : [],
      dueAfter: now,
    },
    ...changedCommits(change).map((commit) => rescheduledCommit(commit, { now, dueAfter: now })),
  ];
}

function rescheduledCommit(
  change: Changed<Commit>,
  { now, dueAfter }: { readonly now: Instant; readonly dueAfter: Instant },
): Rescheduled {
  const { before, after } = change;
  const [event] = commitEvents(change);
  const isArchived = before?.archivedAt === null && after.archivedAt !== null;
  return {
    before: before === null ? [] : segmentInstants(before),
    after: segmentInstants(after),
    change: event === undefined ? null : datedChange(event, now),
    archived: isArchived ? [after.id, ...after.accessSchedule.segments.map(({ id }) => id)] : [],
    dueAfter,
  };
}

function datedChange({ type, customerId, contractId, commit }: ChangeEvent, now: Instant) {
  const commitId = commit?.id ?? null;
  const subjectId = commitId ?? contractId ?? customerId;
  return { type, subjectId, customerId, contractId, commitId, segmentId: null, eventAt: now };
}

async function publishEvents(
  tx: Transaction,
  eventsOf: () => readonly ChangeEvent[],
  now: Instant,
): Promise<void> {
  await publish(tx, CHANGE_TYPES, () => lifecycleMessages(tx, eventsOf(), () => ({ eventAt: now })));
}

/** The members of a message besides the event. */
interface About {
  /** If given, the id of the message. */
  readonly id?: string;
  readonly eventAt: Instant;
  readonly members?: Readonly<Record<string, unknown>>;
}

/** The messages of events, in their order, with the current custom fields. */
export async function lifecycleMessages<Event extends LifecycleEvent>(
  tx: Transaction,
  events: readonly Event[],
  aboutOf: (event: Event) => About,
): Promise<Message[]> {
  const fields = await loadCustomFields(tx, [...new Set(events.flatMap(namedIds))]);
  return events.map((event) => messageOf(event, (id) => fields.get(id) ?? {}, aboutOf(event)));
}

function namedIds({ customerId, contractId, commit }: LifecycleEvent): string[] {
  return [customerId, contractId, commit?.id].filter((id) => id !== null && id !== undefined);
}

function messageOf(
  { type, customerId, contractId, commit }: LifecycleEvent,
  fieldsOf: (id: string) => CustomFields,
  { id, eventAt, members = {} }: About,
): Message {
  const kind = commit?.type === 'CREDIT' ? 'credit' : 'commit';
  return {
    ...(id === undefined ? {} : { id }),
    type,
    customerId,
    content: {
      timestamp: formatInstant(eventAt),
      environment_type: 'PRODUCTION',
      customer_id: customerId,
      customer_custom_fields: fieldsOf(customerId),
      contract_id: contractId,
      contract_custom_fields: contractId === null ? null : fieldsOf(contractId),
      ...(commit === null
        ? {}
        : {
            [`${kind}_id`]: commit.id,
            [`${kind}_custom_fields`]: fieldsOf(commit.id),
            [`parent_recurring_${kind}_id`]: commit.recurringCommitId,
          }),
      ...members,
    },
  };
}

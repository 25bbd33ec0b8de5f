/**
 * Messages of what happens to contracts, commits and credits (docs/notifications.md). A commit is any term that grants
 * a balance and is paid for; a credit is not.
 */
import { isDeepStrictEqual } from 'node:util';
import type { CustomFields } from '../core/custom-fields.ts';
import type { Commit } from '../core/terms/commits.ts';
import type { FullContract } from '../core/terms/contract.ts';
import { formatInstant, type Instant } from '../core/time.ts';
import { loadCustomFields } from '../store/custom-fields.ts';
import type { Transaction } from '../store/database.ts';
import { LIFECYCLE_TYPES, type LifecycleType } from './message-types.ts';
import { type Message, publish } from './outbox.ts';

/** A state before and after a change; `before` is null for what is new. */
export interface Changed<State> {
  readonly before: State | null;
  readonly after: State;
}

interface LifecycleEvent {
  readonly type: LifecycleType;
  readonly customerId: string;
  readonly contractId: string | null;
  /** The commit or credit; null for events of the contract itself. */
  readonly commit: Commit | null;
}

/** Tells of created and changed contracts, and of what the changes do to their commits and credits. */
export async function publishContractChanges(
  tx: Transaction,
  changes: readonly Changed<FullContract>[],
  now: Instant,
): Promise<void> {
  await publishEvents(tx, () => changes.flatMap(contractEvents), now);
}

/** Tells of commits and credits that change without a change of a contract. */
export async function publishCommitChanges(
  tx: Transaction,
  changes: readonly Changed<Commit>[],
  now: Instant,
): Promise<void> {
  if (changes.length === 0) return;
  await publishEvents(tx, () => changes.flatMap(commitEvents), now);
}

function contractEvents({ before, after }: Changed<FullContract>): LifecycleEvent[] {
  const known = new Map(before?.terms.commits.map((commit) => [commit.id, commit]));
  const { id: contractId, customerId } = after.contract;
  const type = `contract.${verbOf(before?.contract ?? null, after.contract) ?? 'edit'}` as const;
  return [
    { type, customerId, contractId, commit: null },
    ...after.terms.commits.flatMap((commit) =>
      commitEvents({ before: known.get(commit.id) ?? null, after: commit }),
    ),
  ];
}

function commitEvents({ before, after: commit }: Changed<Commit>): LifecycleEvent[] {
  const verb = verbOf(before, commit);
  if (verb === null) return [];
  const { customerId, contractId } = commit;
  const kind = commit.type === 'CREDIT' ? 'credit' : 'commit';
  return [{ type: `${kind}.${verb}`, customerId, contractId, commit }];
}

/** Null where nothing has changed. */
function verbOf<State extends { readonly archivedAt: Instant | null }>(
  before: State | null,
  after: State,
): 'create' | 'edit' | 'archive' | null {
  if (before === null) return 'create';
  if (before.archivedAt === null && after.archivedAt !== null) return 'archive';
  return isDeepStrictEqual(before, after) ? null : 'edit';
}

async function publishEvents(
  tx: Transaction,
  eventsOf: () => readonly LifecycleEvent[],
  now: Instant,
): Promise<void> {
  await publish(tx, LIFECYCLE_TYPES, async () => {
    const events = eventsOf();
    const fields = await loadCustomFields(tx, [...new Set(events.flatMap(namedIds))]);
    return events.map((event) => messageOf(event, (id) => fields.get(id) ?? {}, now));
  });
}

function namedIds({ customerId, contractId, commit }: LifecycleEvent): string[] {
  return [customerId, contractId, commit?.id].filter((id) => id !== null && id !== undefined);
}

function messageOf(
  { type, customerId, contractId, commit }: LifecycleEvent,
  fieldsOf: (id: string) => CustomFields,
  now: Instant,
): Message {
  const kind = commit?.type === 'CREDIT' ? 'credit' : 'commit';
  return {
    type,
    customerId,
    content: {
      timestamp: formatInstant(now),
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
    },
  };
}

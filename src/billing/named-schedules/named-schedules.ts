/**
 * Use cases of named schedules: values over time that clients keep at customers, contracts and rate cards. The service
 * does not interpret them.
 */
import { invalid, notFound, Refusal, words } from '../../core/errors.ts';
import { coveringSegments, type ScheduleSegment, withSegment } from '../../core/named-schedules.ts';
import type { Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../../store/base/database.ts';
import { findContract, lockContract } from '../../store/contracts/contracts.ts';
import {
  countOtherSegments,
  loadSchedule,
  replaceSchedule,
  type ScheduleKey,
} from '../../store/contracts/named-schedules.ts';
import { customerExists, lockCustomer } from '../../store/customers/customers.ts';
import { findRateCard, lockRateCard } from '../../store/rate-cards/rate-cards.ts';
import type { RowContext } from '../billing-context.ts';

/**
 * Segments of all schedules of one customer, contract or rate card; one call reads and writes the segments of one
 * schedule.
 */
const SEGMENTS_MAX = 1_000;
/** Characters of one value as JSON. */
const VALUE_LENGTH_MAX = 20_000;

/** The owner of the schedule. `customerId` of a contract is the customer whose contract it has to be. */
export type ScheduleOwner =
  | { readonly subject: 'customer' | 'rate_card'; readonly id: string }
  | { readonly subject: 'contract'; readonly id: string; readonly customerId: string };

export interface NamedSchedule {
  readonly owner: ScheduleOwner;
  readonly name: string;
  readonly properties: Readonly<Record<string, string>>;
}

/** All segments by start, or the one that covers an instant. Refuses an unknown owner (`not_found`). */
export async function getNamedSchedule(
  { db }: Pick<RowContext, 'db'>,
  schedule: NamedSchedule,
  coveringDate: Instant | null,
): Promise<ScheduleSegment[]> {
  if (!(await ownerExists(db, schedule.owner))) throw ownerNotFound(schedule.owner);
  const segments = await loadSchedule(db, keyOf(schedule));
  return coveringDate === null ? segments : coveringSegments(segments, coveringDate);
}

/**
 * Writes a value over an interval; the rest of the schedule stays. Refuses an unknown owner (`not_found`), an empty
 * interval, a value that is too long, and more segments than an owner may have (`invalid`).
 */
export async function updateNamedSchedule(
  { db }: Pick<RowContext, 'db'>,
  schedule: NamedSchedule,
  segment: ScheduleSegment,
): Promise<void> {
  if (segment.endingBefore !== null && segment.endingBefore <= segment.startingAt) {
    throw invalid(['endingBefore'], words`must be after ${['startingAt']}`);
  }
  if (segment.value.length > VALUE_LENGTH_MAX) {
    throw invalid(['value'], `must not be longer than ${VALUE_LENGTH_MAX} characters of JSON`);
  }
  await db.transaction(async (tx) => {
    if (!(await lockOwner(tx, schedule.owner))) throw ownerNotFound(schedule.owner);
    const key = keyOf(schedule);
    const segments = withSegment(await loadSchedule(tx, key), segment);
    if (segments.length + (await countOtherSegments(tx, key)) > SEGMENTS_MAX) {
      throw new Refusal('invalid', `its schedules may have ${SEGMENTS_MAX} segments together, and have them`);
    }
    await replaceSchedule(tx, key, segments);
  });
}

function keyOf({ owner, name, properties }: NamedSchedule): ScheduleKey {
  return { subject: owner.subject, subjectId: owner.id, name, properties };
}

async function ownerExists(db: Database, owner: ScheduleOwner): Promise<boolean> {
  if (owner.subject === 'contract') {
    return (await findContract(db, owner.id))?.customerId === owner.customerId;
  }
  if (owner.subject === 'customer') return await customerExists(db, owner.id);
  return (await findRateCard(db, owner.id)) !== null;
}

async function lockOwner(tx: Transaction, owner: ScheduleOwner): Promise<boolean> {
  if (owner.subject === 'contract') {
    return (await lockContract(tx, owner.id))?.customerId === owner.customerId;
  }
  if (owner.subject === 'customer') return await lockCustomer(tx, owner.id);
  return (await lockRateCard(tx, owner.id)) !== null;
}

function ownerNotFound({ subject, id }: ScheduleOwner): Refusal {
  if (subject === 'customer') return notFound('customer', id, 'CustomerNotFound');
  if (subject === 'contract') return notFound('contract', id, 'ContractNotFound');
  return notFound('rate card', id);
}

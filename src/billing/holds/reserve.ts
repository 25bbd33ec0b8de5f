/** Grants or refuses holds. A 409 refuses the whole batch; otherwise each hold of a batch is granted or refused by itself. */
import { type Decimal, maximum, ZERO } from '../../core/decimal.ts';
import { conflict, Refusal } from '../../core/errors.ts';
import type { Hold } from '../../core/hold.ts';
import { type Instant, SECOND_MS } from '../../core/time.ts';
import type { Decision, HoldPart } from '../../rating/holds/hold-book.ts';
import type { NotCharged } from '../../rating/holds/price-event.ts';
import { endExpired, findHolds } from '../../store/holds/holds.ts';
import { payersOf, unitOf } from './facts-of-parts.ts';
import type { HoldFamily } from './hold-family.ts';
import type { HoldParts } from './hold-parts.ts';
import type { Reservation, Reserved } from './hold-writer.ts';
import type { ListedHold } from './list-holds.ts';
import { type HoldRequest, type PreparedHold, prepareHolds, requireUnits } from './prepare-holds.ts';

export type HoldAnswer =
  | ListedHold
  | {
      readonly reason: NotCharged | 'balance' | 'spend_limit' | 'customer_not_found';
      readonly required: Decimal | null;
      readonly remaining: Decimal | null;
    };

export const TTL_SECONDS = 600;
export const TTL_SECONDS_MAX = 86_400;
const ATTEMPTS_MAX = 5;
/** The number of evaluations that confirm a refusal if usage has arrived since the last one. */
const CONFIRMED_MAX = 2;
/**
 * From this attempt on, prices may change during the attempt. The hold then has the prices of an evaluation that began
 * after the request, as if it had arrived before the change.
 */
const REPRICED_FROM = 2;

export async function reserve(parts: HoldParts, requests: readonly HoldRequest[]): Promise<HoldAnswer[]> {
  const begunAfter = parts.isShared ? performance.now() : 0;
  const prepared = prepareHolds(parts, requests);
  await requireUnits(parts.nameOf, requests);
  const distinct = new Map<string, PreparedHold>();
  for (const [index, one] of prepared.entries()) {
    const { transactionId } = one.request;
    const first = distinct.get(transactionId) ?? one;
    distinct.set(transactionId, first);
    if (first.hash !== one.hash) throw takenAt(index, 'another hold of the batch has this transaction id,');
  }
  if (distinct.size > 1) await refuseStored(parts, prepared);
  const granted: Hold[] = [];
  const answers = await Promise.all(
    [...distinct.values()].map((one) => reserveOne(parts, one, begunAfter, granted)),
  );
  const byId = new Map([...distinct.keys()].map((id, index) => [id, answers[index]]));
  const results = prepared.map(({ request }) => byId.get(request.transactionId));
  const taken = results.findIndex((result) => result === undefined || result === 'taken');
  if (taken >= 0) {
    // A concurrent request has stored a hold with this id.
    await Promise.all(granted.map((hold) => releaseGranted(parts, hold)));
    throw takenAt(taken, 'a hold with this transaction id exists,');
  }
  const given = results.flatMap((result) => (result === undefined || result === 'taken' ? [] : [result]));
  parts.counts.answered(given, granted.length);
  return given;
}

function takenAt(index: number, problem: string): Refusal {
  return conflict(`${problem} with other content`, ['holds', index, 'transactionId']);
}

/** Refuses a batch before any of its holds is granted. */
async function refuseStored({ db, clock }: HoldParts, prepared: readonly PreparedHold[]): Promise<void> {
  const transactionIds = [...new Set(prepared.map(({ request }) => request.transactionId))];
  const stored = new Map((await findHolds(db, { transactionIds })).map((hold) => [hold.transactionId, hold]));
  const now = clock.now();
  const taken = prepared.findIndex(({ request, hash }) => {
    const other = stored.get(request.transactionId);
    return other !== undefined && isLive(other, now) && other.contentHash !== hash;
  });
  if (taken >= 0) throw takenAt(taken, 'a hold with this transaction id exists,');
}

async function releaseGranted({ families, writer }: HoldParts, { id, customerId }: Hold): Promise<void> {
  const end = { id, status: 'released' as const, settledAmount: null };
  await writer.change({ family: families.known(customerId), end });
}

/** Adds a hold that did not exist before to `granted`. */
async function reserveOne(
  parts: HoldParts,
  one: PreparedHold,
  begunAfter: number,
  granted: Hold[],
): Promise<HoldAnswer | 'taken'> {
  const begunAt = performance.now();
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const freshness = freshnessOf(attempt, { begunAfter, begunAt });
    const isConfirmed = attempt < CONFIRMED_MAX;
    const answer = await tryToReserve(parts, one, { ...freshness, isConfirmed, granted });
    if (answer !== 'again') return answer;
  }
  throw new Refusal('unavailable', 'what holds depend on keeps changing: try again in a moment');
}

/** The required age of an evaluation. */
export type Freshness = Pick<Reservation, 'begunAfter' | 'needsPrices'>;

export function freshnessOf(
  attempt: number,
  { begunAfter, begunAt }: { readonly begunAfter: number; readonly begunAt: number },
): Freshness {
  const needsPrices = attempt < REPRICED_FROM;
  return { begunAfter: needsPrices ? begunAfter : begunAt, needsPrices };
}

interface Attempt extends Freshness {
  readonly isConfirmed: boolean;
  readonly granted: Hold[];
}

async function tryToReserve(
  parts: HoldParts,
  one: PreparedHold,
  { begunAfter, needsPrices, isConfirmed, granted }: Attempt,
): Promise<HoldAnswer | 'taken' | 'again'> {
  const { families, writer, clock } = parts;
  const found = await families.find(one.request.customerRef);
  if (found === null) return { reason: 'customer_not_found', required: null, remaining: null };
  const { family, customerId } = found;
  const live = liveHoldOf(parts, family, one);
  if (live !== null) return onceWritten(parts, family, one, live);
  if (!family.isValidAt(clock.now(), begunAfter)) {
    await families.renew(family, begunAfter);
    // Its customer may be archived or erased, or have other names now.
    if ((await families.find(one.request.customerRef))?.family !== family) return 'again';
  }
  const reserved = await writer.reserve({
    ...{ family, begunAfter, needsPrices },
    partsNow: () => family.prices.partsOf(customerId, one.charged),
    newHold: (decision, charged) => newHold(one, customerId, decision, charged, clock.now()),
  });
  if (reserved.kind === 'granted') granted.push(reserved.hold);
  const same = reserved.kind === 'refused' ? await sameHold(parts, one) : null;
  if (same !== null) return repeated(parts, one, same);
  if (isConfirmed && 'decision' in reserved && family.hasStoredUsage()) {
    // Usage since the evaluation is priced conservatively; that alone refuses nobody.
    await families.renew(family, performance.now());
    return 'again';
  }
  if (reserved.kind === 'overtaken') return 'again';
  return reserved.kind === 'taken' ? afterOther(parts, one) : answerOf(parts, reserved);
}

function liveHoldOf({ clock }: HoldParts, family: HoldFamily, { request }: PreparedHold): Hold | null {
  const hold = family.holdOf(request.transactionId);
  return hold !== null && hold.expiresAt > clock.now() ? hold : null;
}

/** A hold is answered when it is on disk, and may still be refused. */
async function onceWritten(
  parts: HoldParts,
  family: HoldFamily,
  one: PreparedHold,
  live: Hold,
): Promise<HoldAnswer | 'taken' | 'again'> {
  if (family.active.get(live.id)?.isStored !== false) return repeated(parts, one, live);
  await parts.writer.groupEnded();
  return 'again';
}

/** The hold of this transaction id that was granted meanwhile, and may be what there is not enough for. */
async function sameHold({ readHold, clock }: HoldParts, { request }: PreparedHold): Promise<Hold | null> {
  const hold = await readHold({ holdId: null, transactionId: request.transactionId });
  return hold !== null && isLive(hold, clock.now()) ? hold : null;
}

/** Another hold has the transaction id: it is a repeat, or in the way, or over. */
async function afterOther(parts: HoldParts, one: PreparedHold): Promise<HoldAnswer | 'taken' | 'again'> {
  const now = parts.clock.now();
  const [other] = await findHolds(parts.db, { transactionIds: [one.request.transactionId] });
  if (other === undefined) return 'again';
  if (isLive(other, now)) return repeated(parts, one, other);
  await endExpired(parts.db, [other.id], now);
  return 'again';
}

export function isLive({ status, expiresAt }: Hold, now: Instant): boolean {
  return status === 'settled' || (status === 'active' && expiresAt > now);
}

/** Repeats the answer; `taken` if the stored hold has other content. */
async function repeated(parts: HoldParts, { hash }: PreparedHold, hold: Hold): Promise<HoldAnswer | 'taken'> {
  return hold.contentHash === hash ? named(parts, hold) : 'taken';
}

async function named({ nameOf }: HoldParts, hold: Hold): Promise<ListedHold> {
  return { hold, creditTypeName: await nameOf(hold.creditTypeId) };
}

async function answerOf(
  parts: HoldParts,
  reserved: Exclude<Reserved, { kind: 'overtaken' | 'taken' }>,
): Promise<HoldAnswer> {
  if (reserved.kind === 'granted') return named(parts, reserved.hold);
  if (!('decision' in reserved)) return { reason: reserved.reason, required: null, remaining: null };
  const { amount, remaining } = reserved.decision;
  const left = remaining === null ? null : maximum(remaining, ZERO);
  return { reason: reserved.reason, required: amount, remaining: left };
}

function newHold(
  { request, hash, charged, properties }: PreparedHold,
  customerId: string,
  { amount, remaining }: Decision,
  parts: readonly HoldPart[],
  now: Instant,
): Hold {
  return {
    id: '',
    customerId,
    transactionId: request.transactionId,
    contentHash: hash,
    eventType: request.event?.eventType ?? null,
    properties,
    timestamp: 'event' in charged ? charged.event.timestamp : charged.at,
    amount,
    creditTypeId: unitOf(parts),
    remaining,
    status: 'active',
    settledAmount: null,
    createdAt: now,
    expiresAt: now + (request.ttlSeconds ?? TTL_SECONDS) * SECOND_MS,
    endedAt: null,
    payers: payersOf(parts),
  };
}

/** The operations of holds (docs/holds.md): reserve, settle, release, extend. */
import { type Decimal, maximum, ZERO } from '../../core/decimal.ts';
import { conflict, Refusal } from '../../core/errors.ts';
import { DAY_MS, formatInstant, type Instant, MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import type { NewEventWatch } from '../../metering/ingest/new-events.ts';
import type { Decision, HoldPart } from '../../rating/holds/hold-book.ts';
import { endExpired, findHolds, type Hold, tidyHolds } from '../../store/holds/holds.ts';
import type { BalanceDeps } from '../invoices/deductions.ts';
import { type Billed, createHoldFamilies, type HoldFamilies } from './hold-families.ts';
import type { HoldFamily, NotCharged } from './hold-family.ts';
import { createHoldWriter, type HoldWriter, type Reserved } from './hold-writer.ts';
import { createUnitNames, type ListedHold } from './list-holds.ts';
import { type HoldRequest, type PreparedHold, prepareHolds } from './prepare-holds.ts';
import { settleStored } from './settle-stored.ts';

export type HoldAnswer =
  | ListedHold
  | {
      readonly reason: NotCharged | 'balance' | 'spend_limit' | 'customer_not_found';
      readonly required: Decimal | null;
      readonly remaining: Decimal | null;
    };

/** One of both. */
interface HoldName {
  readonly holdId: string | null;
  readonly transactionId: string | null;
}

interface Settlement extends HoldName {
  readonly eventType: string | null;
  readonly properties: string | null;
  readonly timestamp: Instant | null;
}

export type SettleAnswer =
  | { readonly hold: Hold; readonly accepted: boolean; readonly amount: Decimal | null }
  | { readonly error: string };
export type EndAnswer = { readonly hold: Hold } | { readonly error: string };

export interface Holds {
  reserve(requests: readonly HoldRequest[]): Promise<HoldAnswer[]>;
  settle(settlements: readonly Settlement[]): Promise<SettleAnswer[]>;
  release(names: readonly HoldName[]): Promise<EndAnswer[]>;
  extend(
    extensions: readonly { readonly holdId: string; readonly ttlSeconds: number }[],
  ): Promise<EndAnswer[]>;
  readonly watch: NewEventWatch;
  /** Removes old holds from now on. */
  start(): void;
  close(): void;
}

export interface HoldDeps extends BalanceDeps {
  readonly windowDays: number;
  readonly log: { error(fields: Readonly<Record<string, unknown>>, message: string): void };
  /** Whether other processes may take in events of the same customers. */
  readonly isShared: boolean;
  ingest(body: Buffer): Promise<{ readonly accepted: number; readonly duplicates: number }>;
  ingestSettled(): Promise<void>;
  storedAmong(transactionIds: readonly string[]): Promise<ReadonlySet<string>>;
}

export const TTL_SECONDS = 600;
export const TTL_SECONDS_MAX = 86_400;
const ATTEMPTS_MAX = 5;
/** A refusal is confirmed so often by an evaluation where usage has come since the last one. */
const CONFIRMED_MAX = 2;

export function createHolds(deps: HoldDeps): Holds {
  const writer = createHoldWriter(deps);
  const settled = (billed: readonly Billed[]) => noteSettled(deps, writer, billed);
  const families = createHoldFamilies({ ...deps, settled });
  const parts: Parts = { ...deps, writer, families, nameOf: createUnitNames(deps.db) };
  const background = [keepTidy(deps), settleStored({ ...deps, writer, families })];
  return {
    reserve: (requests) => reserve(parts, requests),
    settle: async (settlements) => {
      const answers: SettleAnswer[] = [];
      for (const one of settlements) answers.push(await settle(parts, one));
      return answers;
    },
    release: (names) => Promise.all(names.map((name) => release(parts, name))),
    extend: (extensions) => Promise.all(extensions.map((one) => extend(parts, one))),
    watch: families.watch,
    start() {
      for (const work of background) work.start();
    },
    close() {
      for (const work of background) work.close();
    },
  };
}

/** Longer than a transaction id is remembered. */
const KEPT_MS = 35 * DAY_MS;
const TIDY_INTERVAL_MS = 5 * MINUTE_MS;
const TIDIED_MAX = 10_000;

function keepTidy({ db, clock, log }: HoldDeps): Pick<Holds, 'start' | 'close'> {
  let timer: NodeJS.Timeout | undefined;
  const tidy = () => {
    tidyHolds(db, clock.now() - KEPT_MS, TIDIED_MAX).catch((err: unknown) =>
      log.error({ err }, 'old holds could not be removed: it will be tried again'),
    );
  };
  return {
    start() {
      timer = setInterval(tidy, TIDY_INTERVAL_MS).unref();
    },
    close: () => clearInterval(timer),
  };
}

interface Parts extends HoldDeps {
  readonly writer: HoldWriter;
  readonly families: HoldFamilies;
  readonly nameOf: (creditTypeId: string) => Promise<string>;
}

/** The events are on disk whatever happens here. */
async function noteSettled({ log }: HoldDeps, writer: HoldWriter, billed: readonly Billed[]): Promise<void> {
  const written = billed.map(({ family, hold, amount }) =>
    writer.change({ family, end: { id: hold.id, status: 'settled', settledAmount: amount ?? hold.amount } }),
  );
  try {
    await Promise.all(written);
  } catch (err) {
    log.error({ err, holds: billed.length }, 'holds whose events are stored could not be marked as settled');
  }
}

async function reserve(parts: Parts, requests: readonly HoldRequest[]): Promise<HoldAnswer[]> {
  const since = parts.isShared ? performance.now() : 0;
  const prepared = prepareHolds(parts, requests);
  const answers = new Map<string, Promise<HoldAnswer | 'taken'>>();
  for (const [index, one] of prepared.entries()) {
    const { transactionId } = one.request;
    const first = prepared.find(({ request }) => request.transactionId === transactionId);
    if (first !== undefined && first.hash !== one.hash)
      throw conflict('another hold of the batch has this transaction id, with other content', [
        'holds',
        index,
        'transactionId',
      ]);
  }
  for (const one of prepared) {
    const { transactionId } = one.request;
    if (!answers.has(transactionId)) answers.set(transactionId, reserveOne(parts, one, since));
  }
  const results = await Promise.all(prepared.map(({ request }) => answers.get(request.transactionId)));
  const taken = results.findIndex((result) => result === undefined || result === 'taken');
  if (taken >= 0)
    throw conflict('a hold with this transaction id and other content exists', [
      'holds',
      taken,
      'transactionId',
    ]);
  return results.flatMap((result) => (result === undefined || result === 'taken' ? [] : [result]));
}

async function reserveOne(parts: Parts, one: PreparedHold, since: number): Promise<HoldAnswer | 'taken'> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const answer = await tryToReserve(parts, one, since, attempt < CONFIRMED_MAX);
    if (answer !== 'again') return answer;
  }
  throw new Refusal('unavailable', 'what holds depend on keeps changing: try again in a moment');
}

async function tryToReserve(
  parts: Parts,
  one: PreparedHold,
  since: number,
  isConfirmed: boolean,
): Promise<HoldAnswer | 'taken' | 'again'> {
  const { families, writer, clock } = parts;
  const found = await families.find(one.request.customerRef);
  if (found === null) return { reason: 'customer_not_found', required: null, remaining: null };
  const { family, customerId } = found;
  const live = family.holdOf(one.request.transactionId);
  if (live !== null && live.expiresAt > clock.now()) return repeated(parts, one, live);
  if (!family.isValidAt(clock.now(), since)) {
    await families.renew(family, since);
    // Its customer may be archived or erased, or have other names now.
    if ((await families.find(one.request.customerRef))?.family !== family) return 'again';
  }
  const reserved = await writer.reserve({
    family,
    since,
    partsNow: () => family.partsOf(customerId, one.charged),
    newHold: (decision, charged) => newHold(one, customerId, decision, unitOf(charged), clock.now()),
  });
  families.renewLater(family);
  if (isConfirmed && 'decision' in reserved && family.hasStoredUsage()) {
    // Usage since the evaluation is priced on the safe side: nobody is refused because of that.
    await families.renew(family, performance.now());
    return 'again';
  }
  if (reserved.kind === 'overtaken') return 'again';
  return reserved.kind === 'taken' ? afterOther(parts, one) : answerOf(parts, reserved);
}

/** Another hold has the transaction id: it is a repeat, or in the way, or over. */
async function afterOther(parts: Parts, one: PreparedHold): Promise<HoldAnswer | 'taken' | 'again'> {
  const now = parts.clock.now();
  const [other] = await findHolds(parts.db, { transactionIds: [one.request.transactionId] });
  if (other === undefined) return 'again';
  if (isLive(other, now)) return repeated(parts, one, other);
  await endExpired(parts.db, [other.id], now);
  return 'again';
}

function isLive({ status, expiresAt }: Hold, now: Instant): boolean {
  return status === 'settled' || (status === 'active' && expiresAt > now);
}

/** The same answer again, or none where other content was asked for. */
async function repeated(parts: Parts, { hash }: PreparedHold, hold: Hold): Promise<HoldAnswer | 'taken'> {
  return hold.contentHash === hash ? named(parts, hold) : 'taken';
}

async function named({ nameOf }: Parts, hold: Hold): Promise<ListedHold> {
  return { hold, creditTypeName: await nameOf(hold.creditTypeId) };
}

async function answerOf(
  parts: Parts,
  reserved: Exclude<Reserved, { kind: 'overtaken' | 'taken' }>,
): Promise<HoldAnswer> {
  if (reserved.kind === 'granted') return named(parts, reserved.hold);
  if (!('decision' in reserved)) return { reason: reserved.reason, required: null, remaining: null };
  const { amount, remaining } = reserved.decision;
  const left = remaining === null ? null : maximum(remaining, ZERO);
  return { reason: reserved.reason, required: amount, remaining: left };
}

function unitOf([part]: readonly HoldPart[]): string {
  if (part === undefined) throw new Error('a hold takes something');
  return ('slot' in part ? part.slot.charge : part.charge).creditTypeId;
}

function newHold(
  { request, hash, charged, properties }: PreparedHold,
  customerId: string,
  { amount, remaining }: Decision,
  creditTypeId: string,
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
    creditTypeId,
    remaining,
    status: 'active',
    settledAmount: null,
    createdAt: now,
    expiresAt: now + (request.ttlSeconds ?? TTL_SECONDS) * SECOND_MS,
    endedAt: null,
  };
}

/** The hold that is meant: with a transaction id the one that is active or settled, else the last one. */
async function findHold({ db, clock }: Parts, { holdId, transactionId }: HoldName): Promise<Hold | null> {
  const [byName = null] = await findHolds(
    db,
    holdId === null ? { transactionIds: [transactionId ?? ''] } : { ids: [holdId] },
  );
  if (holdId === null || byName === null || isLive(byName, clock.now())) return byName;
  // An ended hold may have been replaced by another one, which becomes the event.
  const [live = byName] = await findHolds(db, { transactionIds: [byName.transactionId] });
  return byName.status === 'released' ? byName : live;
}

/** Ingests the event, which settles the hold on its way. */
async function settle(parts: Parts, settlement: Settlement): Promise<SettleAnswer> {
  const hold = await findHold(parts, settlement);
  if (hold === null || hold.status === 'released') return { error: notThere(settlement) };
  if (hold.status === 'settled') return { hold, accepted: false, amount: hold.settledAmount };
  const eventType = hold.eventType ?? settlement.eventType;
  if (eventType === null) return { error: 'event_type is needed to settle a hold of an amount' };
  const family = await pricingFamily(parts, hold);
  const timestamp = settlement.timestamp ?? hold.timestamp;
  const properties = settlement.properties ?? textsAsJson(hold.properties);
  const head = { transaction_id: hold.transactionId, customer_id: hold.customerId, event_type: eventType };
  const members = JSON.stringify({ ...head, timestamp: formatInstant(timestamp) }).slice(1, -1);
  const body = Buffer.from(`[{${members},"properties":${properties}}]`);
  const { accepted } = await ingestOne(parts, body);
  const [after = hold] = await findHolds(parts.db, { ids: [hold.id] });
  if (after.status === 'settled') return { hold: after, accepted: accepted > 0, amount: after.settledAmount };
  // Its event arrived before the hold, or while no process watched.
  const end = { id: hold.id, status: 'settled' as const, settledAmount: null };
  await parts.writer.change({ family, end });
  return { hold: { ...hold, status: 'settled' }, accepted: accepted > 0, amount: null };
}

/** Knows the hold, so that its event is priced on its way. */
async function pricingFamily(parts: Parts, hold: Hold): Promise<HoldFamily | null> {
  const since = parts.isShared ? performance.now() : 0;
  const found = await parts.families.find(hold.customerId);
  if (found === null) return null;
  const { family } = found;
  await parts.families.renew(family, since);
  // It has expired, or another process has granted it.
  if (family.holdOf(hold.transactionId) === null) family.keep(hold);
  return family;
}

async function ingestOne(parts: Parts, body: Buffer): Promise<{ readonly accepted: number }> {
  try {
    return await parts.ingest(body);
  } catch (error) {
    if (!(error instanceof Refusal) || error.kind !== 'invalid') throw error;
    throw new Refusal('invalid', error.problem, { path: ['settlements'], details: error.details });
  }
}

function textsAsJson(properties: string | null): string {
  const entries: readonly (readonly [string, string])[] = JSON.parse(properties ?? '[]');
  return `{${entries.map(([name, text]) => `${JSON.stringify(name)}:${JSON.stringify(text)}`).join(',')}}`;
}

async function release(parts: Parts, name: HoldName): Promise<EndAnswer> {
  const hold = await activeHold(parts, name);
  if (hold === null) return { error: notThere(name) };
  const end = { id: hold.id, status: 'released' as const, settledAmount: null };
  const isDone = await parts.writer.change({ family: parts.families.known(hold.customerId), end });
  return isDone ? { hold: { ...hold, status: 'released' } } : { error: notThere(name) };
}

async function extend(
  parts: Parts,
  { holdId, ttlSeconds }: { readonly holdId: string; readonly ttlSeconds: number },
): Promise<EndAnswer> {
  const name = { holdId, transactionId: null };
  const hold = await activeHold(parts, name);
  if (hold === null) return { error: notThere(name) };
  const expiresAt = parts.clock.now() + ttlSeconds * SECOND_MS;
  const family = parts.families.known(hold.customerId);
  const isDone = await parts.writer.change({ family, extension: { id: hold.id, expiresAt } });
  return isDone ? { hold: { ...hold, expiresAt } } : { error: notThere(name) };
}

async function activeHold(parts: Parts, name: HoldName): Promise<Hold | null> {
  const hold = await findHold(parts, name);
  return hold !== null && hold.status === 'active' && hold.expiresAt > parts.clock.now() ? hold : null;
}

function notThere({ holdId, transactionId }: HoldName): string {
  return holdId === null
    ? `there is no active hold of transaction ${transactionId}`
    : `there is no active hold ${holdId}`;
}

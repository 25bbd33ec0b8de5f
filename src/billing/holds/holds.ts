/** The operations of holds (docs/holds.md): reserve, settle, release, extend. */
import type { Decimal } from '../../core/decimal.ts';
import { Refusal } from '../../core/errors.ts';
import { DAY_MS, formatInstant, type Instant, MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import type { NewEventWatch } from '../../metering/ingest/new-events.ts';
import { findHolds, type Hold, tidyHolds } from '../../store/holds/holds.ts';
import { type CheckAnswer, type CheckRequest, createCheck } from './check.ts';
import { createHoldCounts, type HoldFigures } from './hold-counts.ts';
import { type Billed, createHoldFamilies } from './hold-families.ts';
import type { HoldFamily } from './hold-family.ts';
import type { HoldContext, HoldParts } from './hold-parts.ts';
import { createHoldWriter, type HoldWriter } from './hold-writer.ts';
import { createUnitNames } from './list-holds.ts';
import type { HoldRequest } from './prepare-holds.ts';
import { type HoldAnswer, isLive, reserve } from './reserve.ts';
import { settleStored } from './settle-stored.ts';

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
  /** Whether something may be used now. Holds nothing. */
  check(request: CheckRequest): Promise<CheckAnswer>;
  readonly watch: NewEventWatch;
  figures(): HoldFigures;
  /** Gives the seconds of each evaluation to one observer. */
  observeEvaluations(observe: (seconds: number) => void): void;
  /** Removes old holds from now on. */
  start(): void;
  close(): void;
}

export function createHolds(deps: HoldContext): Holds {
  const writer = createHoldWriter(deps);
  const settling = new Map<string, Decimal | null>();
  const settled = (billed: readonly Billed[]) => noteSettled(deps, writer, billed, settling);
  const counts = createHoldCounts();
  const families = createHoldFamilies({ ...deps, settled, evaluated: counts.evaluated });
  const parts: HoldParts = { ...deps, writer, families, settling, counts, nameOf: createUnitNames(deps.db) };
  const check = createCheck(parts);
  const background = [keepTidy(deps), settleStored(parts), counts.outstanding(deps)];
  return {
    reserve: (requests) => reserve(parts, requests),
    settle: async (settlements) => {
      const answers: SettleAnswer[] = [];
      for (const one of settlements) answers.push(await settle(parts, one));
      return answers;
    },
    release: (names) => Promise.all(names.map((name) => release(parts, name))),
    extend: (extensions) => Promise.all(extensions.map((one) => extend(parts, one))),
    check: async (request) => {
      const answer = await check(request);
      counts.checked(answer.reason);
      return answer;
    },
    watch: families.watch,
    figures: counts.figures,
    observeEvaluations: counts.observeEvaluations,
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

function keepTidy({ db, clock, log }: HoldContext): Pick<Holds, 'start' | 'close'> {
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

/** The events are on disk whatever happens here. */
async function noteSettled(
  { log }: HoldContext,
  writer: HoldWriter,
  billed: readonly Billed[],
  settling: HoldParts['settling'],
): Promise<void> {
  const written = billed.map(async ({ family, hold, amount }) => {
    const settledAmount = amount ?? hold.amount;
    const isNoted = await writer.change({ family, end: { id: hold.id, status: 'settled', settledAmount } });
    if (isNoted && settling.has(hold.id)) settling.set(hold.id, settledAmount);
  });
  try {
    await Promise.all(written);
  } catch (err) {
    log.error({ err, holds: billed.length }, 'holds whose events are stored could not be marked as settled');
  }
}

/** The hold that is meant: with a transaction id the one that is active or settled, else the last one. */
async function findHold({ db, clock }: HoldParts, { holdId, transactionId }: HoldName): Promise<Hold | null> {
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
async function settle(parts: HoldParts, settlement: Settlement): Promise<SettleAnswer> {
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
  const { accepted, amount } = await ingestSettling(parts, hold, body);
  if (amount !== null) return { hold: { ...hold, status: 'settled' }, accepted, amount };
  const [after = hold] = await findHolds(parts.db, { ids: [hold.id] });
  if (after.status === 'settled') return { hold: after, accepted, amount: after.settledAmount };
  // Its event arrived before the hold, or while no process watched.
  const end = { id: hold.id, status: 'settled' as const, settledAmount: null };
  await parts.writer.change({ family, end });
  return { hold: { ...hold, status: 'settled' }, accepted, amount: null };
}

/** `amount`: what the event costs, where it has just become the hold's; null: that has to be looked up. */
async function ingestSettling(
  parts: HoldParts,
  { id }: Hold,
  body: Buffer,
): Promise<{ readonly accepted: boolean; readonly amount: Decimal | null }> {
  const { settling } = parts;
  settling.set(id, null);
  try {
    const { accepted } = await ingestOne(parts, body);
    return { accepted: accepted > 0, amount: settling.get(id) ?? null };
  } finally {
    settling.delete(id);
  }
}

/** Knows the hold, so that its event is priced on its way. */
async function pricingFamily(parts: HoldParts, hold: Hold): Promise<HoldFamily | null> {
  const since = parts.isShared ? performance.now() : 0;
  const found = await parts.families.find(hold.customerId);
  if (found === null) return null;
  const { family } = found;
  await parts.families.renew(family, since);
  // It has expired, or another process has granted it.
  if (family.holdOf(hold.transactionId) === null) family.keep(hold);
  return family;
}

async function ingestOne(parts: HoldParts, body: Buffer): Promise<{ readonly accepted: number }> {
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

async function release(parts: HoldParts, name: HoldName): Promise<EndAnswer> {
  const hold = await activeHold(parts, name);
  if (hold === null) return { error: notThere(name) };
  const end = { id: hold.id, status: 'released' as const, settledAmount: null };
  const isDone = await parts.writer.change({ family: parts.families.known(hold.customerId), end });
  return isDone ? { hold: { ...hold, status: 'released' } } : { error: notThere(name) };
}

async function extend(
  parts: HoldParts,
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

async function activeHold(parts: HoldParts, name: HoldName): Promise<Hold | null> {
  const hold = await findHold(parts, name);
  return hold !== null && hold.status === 'active' && hold.expiresAt > parts.clock.now() ? hold : null;
}

function notThere({ holdId, transactionId }: HoldName): string {
  return holdId === null
    ? `there is no active hold of transaction ${transactionId}`
    : `there is no active hold ${holdId}`;
}

/** Settles holds by ingesting their events, which ends the holds (docs/explanation/holds.md, "Operations"). */
import { Refusal } from '../../core/errors.ts';
import { groupBy } from '../../core/group-by.ts';
import type { Hold } from '../../core/hold.ts';
import { formatInstant, type Instant } from '../../core/time.ts';
import { findHolds } from '../../store/holds/holds.ts';
import { findHold, notThere } from './find-hold.ts';
import type { BilledCost, HoldFamily } from './hold-family.ts';
import type { HoldName, HoldParts } from './hold-parts.ts';
import { requireValid } from './prepare-holds.ts';

export interface Settlement extends HoldName {
  readonly eventType: string | null;
  readonly properties: string | null;
  readonly timestamp: Instant | null;
}

export type SettleAnswer =
  | ({ readonly hold: Hold; readonly accepted: boolean } & BilledCost)
  | { readonly error: string };

/** A settlement of a batch and its hold. */
interface Named {
  readonly index: number;
  readonly settlement: Settlement;
  readonly hold: Hold | null;
}

/**
 * Settles holds concurrently, so that they share writes; settlements of one hold run in sequence. Stores nothing if any
 * event is invalid.
 */
export async function settleAll(
  parts: HoldParts,
  settlements: readonly Settlement[],
): Promise<SettleAnswer[]> {
  const named = await Promise.all(
    settlements.map(async (settlement, index): Promise<Named> => {
      return { index, settlement, hold: await findHold(parts, settlement) };
    }),
  );
  if (named.length > 1) requireValidEvents(parts, named);
  const answers: SettleAnswer[] = [];
  const ofHolds = groupBy(named, ({ hold, index }) => hold?.id ?? String(index));
  const settled = [...ofHolds.values()].map(async ([first, ...again]) => {
    if (first !== undefined) answers[first.index] = await settle(parts, first);
    for (const { index, settlement } of again) {
      const hold = await findHold(parts, settlement);
      answers[index] = await settle(parts, { settlement, hold });
    }
  });
  // A failed settlement does not stop the others.
  const failed = (await Promise.allSettled(settled)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
  return answers;
}

function requireValidEvents(parts: HoldParts, named: readonly Named[]): void {
  const events = named.flatMap(({ index, settlement, hold }) => {
    const isOver = hold === null || hold.status === 'released' || hold.status === 'settled';
    const body = isOver ? null : eventOf(hold, settlement);
    return body === null ? [] : [{ index, body }];
  });
  requireValid(parts, events, 'settlements');
}

/** Null: the event type is unknown. */
function eventOf(hold: Hold, settlement: Settlement): string | null {
  const event_type = hold.eventType ?? settlement.eventType;
  if (event_type === null) return null;
  const timestamp = formatInstant(settlement.timestamp ?? hold.timestamp);
  const properties = settlement.properties ?? textsAsJson(hold.properties);
  const head = { transaction_id: hold.transactionId, customer_id: hold.customerId, event_type, timestamp };
  return `{${JSON.stringify(head).slice(1, -1)},"properties":${properties}}`;
}

async function settle(
  parts: HoldParts,
  { settlement, hold }: Pick<Named, 'settlement' | 'hold'>,
): Promise<SettleAnswer> {
  if (hold === null || hold.status === 'released') return { error: notThere(settlement) };
  if (hold.status === 'settled') return recorded(hold, false);
  const event = eventOf(hold, settlement);
  if (event === null) return { error: 'event_type is needed to settle a hold of an amount' };
  const family = await pricingFamily(parts, hold);
  const { accepted, cost } = await ingestSettling(parts, hold, Buffer.from(`[${event}]`));
  if (cost !== null) return { hold: { ...hold, status: 'settled' }, accepted, ...cost };
  const [after = hold] = await findHolds(parts.db, { ids: [hold.id] });
  if (after.status === 'settled') return recorded(after, accepted);
  // The event arrived before the hold, or while no process watched.
  const end = { id: hold.id, status: 'settled' as const, settledAmount: null };
  await parts.writer.change({ family, end });
  return { hold: { ...hold, status: 'settled' }, accepted, amount: null, reason: null };
}

function recorded(hold: Hold, accepted: boolean): SettleAnswer {
  return { hold, accepted, amount: hold.settledAmount, reason: null };
}

/** `cost`: the cost of the event if the event has just settled the hold; null: the cost has to be read. */
async function ingestSettling(
  parts: HoldParts,
  hold: Hold,
  body: Buffer,
): Promise<{ readonly accepted: boolean; readonly cost: BilledCost | null }> {
  const { settling } = parts;
  const { transactionId } = hold;
  settling.set(transactionId, { hold, cost: null });
  try {
    const { accepted } = await ingestOne(parts, body);
    return { accepted: accepted > 0, cost: settling.get(transactionId)?.cost ?? null };
  } finally {
    settling.delete(transactionId);
  }
}

/** Evaluates the family first, so that ingest can price the event. */
async function pricingFamily(parts: HoldParts, hold: Hold): Promise<HoldFamily | null> {
  const since = parts.isShared ? performance.now() : 0;
  const found = await parts.families.find(hold.customerId);
  if (found === null) return null;
  await parts.families.renew(found.family, since);
  return found.family;
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

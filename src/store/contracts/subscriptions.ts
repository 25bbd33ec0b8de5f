/** Subscriptions with every change of their quantity and their seats, in the order of submission. */
import { asc, eq, inArray, sql } from 'drizzle-orm';
import { groupBy } from '../../core/group-by.ts';
import type { QuantityChange, SeatChange, Subscription } from '../../core/terms/subscriptions.ts';
import type { Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { isOneOf } from '../base/is-one-of.ts';
import { rowsPerInsert } from '../base/rows-per-insert.ts';
import { allOrNone } from './applicability.ts';
import {
  subscriptionBillingStarts,
  subscriptionQuantityChanges,
  subscriptionSeatChanges,
  subscriptions,
} from './subscriptions.tables.ts';

/** Stores subscriptions in their order. */
export async function insertSubscriptions(tx: Transaction, added: readonly Subscription[]): Promise<void> {
  for (const chunk of rowsPerInsert(added)) await tx.insert(subscriptions).values(chunk.map(toRow));
  for (const { id, quantityChanges, seatChanges } of added) {
    await addQuantityChanges(tx, id, quantityChanges);
    await addSeatChanges(tx, id, seatChanges);
  }
}

/**
 * Writes an existing subscription. Changes of quantity and seats are only appended: those that `before` does not have
 * are stored.
 */
export async function updateSubscription(
  tx: Transaction,
  before: Subscription,
  after: Subscription,
): Promise<void> {
  await tx.update(subscriptions).set(toRow(after)).where(eq(subscriptions.id, after.id));
  await addQuantityChanges(tx, after.id, after.quantityChanges.slice(before.quantityChanges.length));
  await addSeatChanges(tx, after.id, after.seatChanges.slice(before.seatChanges.length));
}

async function addQuantityChanges(
  tx: Transaction,
  subscriptionId: string,
  changes: readonly QuantityChange[],
): Promise<void> {
  for (const chunk of rowsPerInsert(changes)) {
    await tx.insert(subscriptionQuantityChanges).values(chunk.map((row) => ({ ...row, subscriptionId })));
  }
}

async function addSeatChanges(
  tx: Transaction,
  subscriptionId: string,
  changes: readonly SeatChange[],
): Promise<void> {
  for (const chunk of rowsPerInsert(changes)) {
    await tx.insert(subscriptionSeatChanges).values(chunk.map((row) => ({ ...row, subscriptionId })));
  }
}

/** The subscriptions of the contracts, in the order of addition. */
export async function loadSubscriptions(
  db: Database | Transaction,
  contractIds: readonly string[],
): Promise<Subscription[]> {
  if (contractIds.length === 0) return [];
  const rows = await db
    .select()
    .from(subscriptions)
    .where(isOneOf(subscriptions.contractId, contractIds))
    .orderBy(asc(subscriptions.sequence));
  const ids = rows.map((row) => row.id);
  if (ids.length === 0) return [];
  const quantityRows = await db
    .select()
    .from(subscriptionQuantityChanges)
    .where(isOneOf(subscriptionQuantityChanges.subscriptionId, ids))
    .orderBy(asc(subscriptionQuantityChanges.sequence));
  const quantities = groupBy(quantityRows, (row) => row.subscriptionId);
  const seats = await loadSeatChanges(db, ids);
  return rows.map((row) =>
    fromRow(row, (quantities.get(row.id) ?? []).map(quantityChangeFromRow), seats.get(row.id) ?? []),
  );
}

/** One JSON text for each subscription: 100,000 separate rows take the driver a second. */
async function loadSeatChanges(
  db: Database | Transaction,
  subscriptionIds: readonly string[],
): Promise<Map<string, SeatChange[]>> {
  const { subscriptionId, startingAt, kind, seatId, count, sequence } = subscriptionSeatChanges;
  const milliseconds = sql`(extract(epoch from ${startingAt}) * 1000)::bigint`;
  const rows = await db
    .select({
      subscriptionId,
      changes: sql<
        SeatRow[]
      >`json_agg(json_build_array(${milliseconds}, ${kind}, ${seatId}, ${count}) order by ${sequence})`,
    })
    .from(subscriptionSeatChanges)
    .where(inArray(subscriptionId, [...subscriptionIds]))
    .groupBy(subscriptionId);
  return new Map(
    rows.map((row) => [
      row.subscriptionId,
      row.changes.map(([at, change, seat, seats]) => ({
        ...{ startingAt: at, kind: change, seatId: seat, count: seats },
      })),
    ]),
  );
}

type SeatRow = [startingAt: Instant, kind: SeatChange['kind'], seatId: string | null, count: number | null];

/** The subset of the contracts that have subscriptions. */
export async function contractsWithSubscriptions(
  db: Database | Transaction,
  contractIds: readonly string[],
): Promise<Set<string>> {
  if (contractIds.length === 0) return new Set();
  const rows = await db
    .selectDistinct({ contractId: subscriptions.contractId })
    .from(subscriptions)
    .where(isOneOf(subscriptions.contractId, contractIds));
  return new Set(rows.map(({ contractId }) => contractId));
}

/** Up to when usage invoices were issued without the subscription; newer subscriptions are absent. */
export async function loadBillingStarts(
  db: Database | Transaction,
  subscriptionIds: readonly string[],
): Promise<Map<string, Instant>> {
  if (subscriptionIds.length === 0) return new Map();
  const { subscriptionId } = subscriptionBillingStarts;
  const rows = await db
    .select()
    .from(subscriptionBillingStarts)
    .where(inArray(subscriptionId, [...subscriptionIds]));
  return new Map(rows.map((row) => [row.subscriptionId, row.billedFrom]));
}

function toRow(subscription: Subscription): typeof subscriptions.$inferInsert {
  const { prorationRounding, quantityChanges: _, seatChanges: __, ...rest } = subscription;
  return {
    ...rest,
    roundingMethod: prorationRounding?.roundingMethod ?? null,
    roundingPlaces: prorationRounding?.decimalPlaces ?? null,
  };
}

function fromRow(
  row: typeof subscriptions.$inferSelect,
  quantityChanges: readonly QuantityChange[],
  seatChanges: readonly SeatChange[],
): Subscription {
  const { sequence: _, roundingMethod, roundingPlaces, ...rest } = row;
  return {
    ...rest,
    prorationRounding: allOrNone({ roundingMethod, decimalPlaces: roundingPlaces }),
    quantityChanges,
    seatChanges,
  };
}

function quantityChangeFromRow(row: typeof subscriptionQuantityChanges.$inferSelect): QuantityChange {
  const { startingAt, quantity, quantityDelta } = row;
  return { startingAt, quantity, quantityDelta };
}

/**
 * Applies and reverts sets of corrections (docs/explanation/corrections.md).
 *
 * First the changed versions are written to ClickHouse under a new attempt, where no reader sees them. Then one
 * transaction of PostgreSQL makes the set applied with this attempt: from its commit on every reader counts them. A
 * process that is killed before leaves rows of an attempt that no set has.
 */
import { randomUUID } from 'node:crypto';
import { conflict, invalid, Refusal } from '../../core/errors.ts';
import type { CorrectionSet } from '../../core/event-correction.ts';
import { formatInstant, HOUR_MS } from '../../core/time.ts';
import {
  type CorrectedRow,
  insertCorrectedRows,
  lastIngestionSince,
  refsOfAttempt,
} from '../../metering/corrections/corrected-rows.ts';
import type { AppliedCorrection } from '../../metering/corrections/corrections.ts';
import { findVersions } from '../../metering/events/find-events.ts';
import type { Transaction } from '../../store/base/database.ts';
import { type UnitEnd, whenEnded } from '../../store/base/request-unit.ts';
import { noteCustomerChanges } from '../../store/customers/customer-changes.ts';
import { ownersOfRefs } from '../../store/customers/usage-owners.ts';
import { holdEventRetention } from '../../store/erasure/event-retention.ts';
import {
  firstStandingOn,
  loadAppliedCorrections,
  loadEntries,
  lockCorrections,
  setApplied,
  setReverted,
} from '../../store/events/event-corrections.ts';
import type { BillingContext } from '../billing-context.ts';
import { type EntryPlan, planEntry, versionsById } from './correction-plan.ts';
import { lockedSet, readCorrection, requireNotErased, requireStatus } from './correction-sets.ts';

const APPLICATIONS_MAX = 3;

/**
 * Applies an open set as a whole. Refuses an unknown one (`not_found`), one that is not open (`conflict`), and as
 * `invalid` one that amends events of erased customers, moves events into removed months, or amends an id that has
 * several events by now. If sets are applied or added to all the time, it is refused (`unavailable`).
 */
export async function applyCorrection(context: BillingContext, id: string, by: string): Promise<void> {
  for (let tried = 0; tried < APPLICATIONS_MAX; tried += 1) {
    const written = await writeVersions(context, await readCorrection(context, id));
    if (await applied(context, written, by)) return;
  }
  throw new Refusal('unavailable', 'corrections are being changed: try again later');
}

/** False: the versions were written for another state of the set, or of what is applied. */
async function applied(context: BillingContext, written: Written, by: string): Promise<boolean> {
  const { set, order, attempt, refs, amendedRefs, earliest, ...counts } = written;
  return await switched(context, async (tx, tickNow) => {
    const now = await lockedSet(tx, set.id);
    requireStatus(now, 'open');
    if (now.changes !== set.changes || !isSame(await loadAppliedCorrections(tx), order)) return false;
    await requireNotErased(tx, [...amendedRefs]);
    await requireKept(tx, earliest);
    await noteRefs(tx, refs);
    const tick = await tickNow();
    await setApplied(tx, set.id, { ...counts, attempt, by, at: context.clock.now(), tick });
    return true;
  });
}

function isSame(now: readonly AppliedCorrection[], then: readonly AppliedCorrection[]): boolean {
  const text = (sets: readonly AppliedCorrection[]) =>
    JSON.stringify(sets.map(({ attempt, revertedTick }) => [attempt, revertedTick]));
  return text(now) === text(then);
}

/**
 * Reverts an applied set as a whole. Refuses an unknown one (`not_found`), and as `conflict` one that is not applied,
 * or on whose ids a later set stands.
 */
export async function revertCorrection(context: BillingContext, id: string, by: string): Promise<void> {
  const { attempt } = await readCorrection(context, id);
  const refs = attempt === null ? [] : await refsOfAttempt(context.clickhouse, attempt);
  await switched(context, async (tx, tickNow) => {
    const set = await lockedSet(tx, id);
    requireStatus(set, 'applied');
    // It was applied since.
    if (set.attempt !== attempt) throw conflict(`correction ${id} was just applied: try again`);
    const later = await firstStandingOn(tx, id);
    if (later !== null)
      throw conflict(`correction ${later} was applied later to the same events: revert it first`, [], later);
    await noteRefs(tx, refs);
    await setReverted(tx, id, { by, at: context.clock.now(), tick: await tickNow() });
  });
}

/**
 * A change of what readers count, in one transaction. `tickNow` gives its instant of ingestion; readers that count up to
 * an instant count up to an earlier one from then until the end of the transaction.
 */
async function switched<Result>(
  context: BillingContext,
  change: (tx: Transaction, tickNow: () => Promise<number>) => Promise<Result>,
): Promise<Result> {
  const { db, corrections } = context;
  const ticks: number[] = [];
  const decided = (end: UnitEnd, after: readonly AppliedCorrection[]) => {
    for (const tick of ticks.splice(0)) corrections.decided(tick, end, after);
  };
  try {
    const made = await db.transaction(async (tx) => {
      await lockCorrections(tx);
      const result = await change(tx, async () => {
        const tick = await nextTick(context, (marked) => ticks.push(marked));
        return tick;
      });
      return { result, after: await loadAppliedCorrections(tx) };
    });
    whenEnded((end) => decided(end, made.after));
    return made.result;
  } catch (error) {
    decided('unknown', []);
    throw error;
  }
}

const MICROSECONDS_PER_MS = 1_000;

/** Later than the ingestion of every event that a reader may have counted, and than every earlier change. */
async function nextTick(
  { eventFacts, corrections, clickhouse, clock }: BillingContext,
  onMark: (tick: number) => void,
): Promise<number> {
  const own = eventFacts.mark();
  if (own !== null) {
    corrections.hold(own);
    onMark(own);
    // Events that were taken before are visible when the change is.
    await eventFacts.drained();
    return own;
  }
  const now = clock.now();
  await corrections.refresh();
  const last = Number(await lastIngestionSince(clickhouse, now - HOUR_MS));
  const tick = Math.max(now * MICROSECONDS_PER_MS, last + 1, corrections.lastTick() + 1);
  onMark(tick);
  return tick;
}

/** The versions that a set changes, as they were written under an attempt. */
interface Written extends Pick<CorrectionSet, 'voided' | 'amended' | 'notFound'> {
  /** As they were when the versions were found. */
  readonly set: CorrectionSet;
  readonly order: readonly AppliedCorrection[];
  readonly attempt: string;
  /** Whose events change. */
  readonly refs: ReadonlySet<string>;
  /** Whose events are amended, or are by then. */
  readonly amendedRefs: ReadonlySet<string>;
  /** The first amended event; null for none. */
  readonly earliest: CorrectedRow | null;
}

const ENTRIES_AT_ONCE = 1_000;

async function writeVersions(
  { db, clickhouse, corrections }: Pick<BillingContext, 'db' | 'clickhouse' | 'corrections'>,
  set: CorrectionSet,
): Promise<Written> {
  requireStatus(set, 'open');
  // As readers know them now or later: versions of another state are found when it is compared with that of PostgreSQL.
  await corrections.refresh();
  const order = corrections.known();
  const attempts = order.map(({ attempt }) => attempt);
  const attempt = randomUUID();
  const sum = new Summary();
  for (let after: string | null = ''; after !== null; ) {
    const entries = await loadEntries(db, set.id, after, ENTRIES_AT_ONCE);
    const ids = entries.map(({ transactionId }) => transactionId);
    if (ids.length === 0) break;
    const versions = versionsById(await findVersions(clickhouse, ids), attempts);
    const plans = entries.map((entry) => planEntry(entry, versions.get(entry.transactionId)));
    requireUnambiguous(plans, (one) => versions.get(one)?.sent.length ?? 0);
    await insertCorrectedRows(clickhouse, attempt, plans.flatMap(rowsOf));
    for (const plan of plans) sum.add(plan);
    after = ids.length < ENTRIES_AT_ONCE ? null : (ids.at(-1) ?? null);
  }
  const { refs, amendedRefs, earliest, voided, amended, notFound } = sum;
  return { set, order, attempt, refs, amendedRefs, earliest, voided, amended, notFound };
}

/** The sum of what the entries of a set change. */
class Summary implements Omit<Written, 'set' | 'order' | 'attempt'> {
  readonly refs = new Set<string>();
  readonly amendedRefs = new Set<string>();
  earliest: CorrectedRow | null = null;
  voided = 0;
  amended = 0;
  notFound = 0;

  add(plan: EntryPlan): void {
    const { entry, changed } = plan;
    for (const { customerRef } of rowsOf(plan)) this.refs.add(customerRef);
    if (changed === null) this.notFound += 1;
    else if (entry.action === 'void') this.voided += 1;
    else this.amended += 1;
    if (changed?.given) this.#addGiven(changed.given, changed.taken);
  }

  #addGiven(given: CorrectedRow, taken: readonly CorrectedRow[]): void {
    for (const { customerRef } of [given, ...taken]) this.amendedRefs.add(customerRef);
    if (this.earliest === null || given.timestamp < this.earliest.timestamp) this.earliest = given;
  }
}

const rowsOf = ({ changed }: EntryPlan) =>
  changed === null ? [] : [...changed.taken, ...(changed.given === null ? [] : [changed.given])];

function requireUnambiguous(plans: readonly EntryPlan[], countOf: (id: string) => number): void {
  const several = plans.find(({ entry }) => entry.action === 'amend' && countOf(entry.transactionId) > 1);
  if (several === undefined) return;
  throw invalid([], `there are several events with the id ${several.entry.transactionId}`);
}

async function requireKept(tx: Transaction, earliest: CorrectedRow | null): Promise<void> {
  const retention = await holdEventRetention(tx);
  if (earliest === null || retention === null || earliest.timestamp >= retention.keptFrom) return;
  const { transactionId, timestamp } = earliest;
  throw invalid(
    [],
    `event ${transactionId} would be at ${formatInstant(timestamp)}, of which events are removed`,
  );
}

const REFS_AT_ONCE = 1_000;

/** Drafts, balances, alerts and holds of these customers are evaluated again. */
async function noteRefs(tx: Transaction, refs: Iterable<string>): Promise<void> {
  const all = [...refs];
  for (let from = 0; from < all.length; from += REFS_AT_ONCE) {
    const owners = await ownersOfRefs(tx, all.slice(from, from + REFS_AT_ONCE));
    await noteCustomerChanges(
      tx,
      [...owners.values()].map(({ id }) => id),
    );
  }
}

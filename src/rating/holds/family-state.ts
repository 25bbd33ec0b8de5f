/**
 * The state of customers who share balances, as a process knows them (docs/explanation/holds.md, "The state"): an
 * evaluation, and the usage and holds since. It is a value, and `reduce` is its only writer: everything else sends events
 * and reads. Pure.
 */
import type { Decimal } from '../../core/decimal.ts';
import type { AccountMarks, AccountSeen, Hold } from '../../core/hold.ts';
import type { Instant } from '../../core/time.ts';
import {
  type Evaluation,
  emptyView,
  newView,
  type PendingUsage,
  uncounted,
  type View,
  withHold,
  withoutHold as withoutHoldIn,
  withStored,
  withUsage,
} from './family-view.ts';
import type { Decision, HoldPart, Standing } from './hold-book.ts';
import { type KnownHold, type KnownHolds, keptHold, storedHolds, withoutHold } from './known-holds.ts';
import type { NotCharged } from './price-event.ts';

export type FamilyEvent<E extends Evaluation> =
  /**
   * An evaluation has ended. It has counted the usage up to its moment, or where that is not known, `counted`: the ids of
   * what was stored when it began. `begunAt` in milliseconds of this process. `isAhead`: for the hour that begins next.
   */
  | {
      readonly kind: 'evaluated';
      readonly evaluation: E;
      readonly begunAt: number;
      readonly counted: readonly string[];
      readonly isAhead: boolean;
    }
  /** The full hour may have begun for which there is an evaluation. */
  | { readonly kind: 'hour begun'; readonly now: Instant }
  /** Ingest has taken an event, which has these parts on the current drafts. */
  | {
      readonly kind: 'used';
      readonly usage: PendingUsage;
      readonly parts: readonly HoldPart[] | NotCharged;
    }
  /** Usage is on disk, or an evaluation is to show whether it is. */
  | { readonly kind: 'stored'; readonly usageIds: readonly string[] }
  /** There was room for a hold (`decide`), which is not on disk yet. */
  | { readonly kind: 'granted'; readonly hold: Hold; readonly parts: readonly HoldPart[] }
  /** A statement of this process has changed accounts, and these holds are on disk as they are here. */
  | {
      readonly kind: 'written';
      readonly accounts: ReadonlyMap<string, AccountMarks>;
      readonly holds: readonly Hold[];
    }
  /** A hold has become its event, was released, has expired, or was not stored. */
  | { readonly kind: 'ended'; readonly holdId: string }
  /** Something has changed that only an evaluation can tell, or another process has changed something. */
  | { readonly kind: 'overtaken' };

export interface FamilyState<E extends Evaluation> {
  readonly current: View<E>;
  /** For the hour that begins next. Everything that happens is added to both. */
  readonly ahead: View<E> | null;
  readonly holds: KnownHolds;
  readonly accounts: ReadonlyMap<string, AccountSeen>;
  /** Nothing may be granted before the next evaluation. */
  readonly isStale: boolean;
}

/** The state of a family that has no evaluation yet. */
export function unevaluated<E extends Evaluation>(evaluation: E): FamilyState<E> {
  return {
    current: emptyView(evaluation),
    ahead: null,
    holds: storedHolds([]),
    accounts: new Map(),
    isStale: true,
  };
}

/** The state after an event. The state before stays as it is. */
export function reduce<E extends Evaluation>(state: FamilyState<E>, event: FamilyEvent<E>): FamilyState<E> {
  switch (event.kind) {
    case 'evaluated':
      return event.isAhead ? evaluatedAhead(state, event) : evaluated(state, event);
    case 'hour begun':
      return hourBegun(state, event.now);
    case 'used':
      return used(state, event.usage, event.parts);
    case 'stored':
      return inBoth(state, (view) => withStored(view, event.usageIds));
    case 'granted':
      return granted(state, event.hold, event.parts);
    case 'written':
      return written(state, event.accounts, event.holds);
    case 'ended':
      return ended(state, event.holdId);
    case 'overtaken':
      return state.isStale ? state : { ...state, isStale: true };
  }
}

/** Whether there is room for these parts. */
export function decide<E extends Evaluation>(
  { current }: FamilyState<E>,
  id: string,
  parts: readonly HoldPart[],
): Decision {
  return current.entries.read().book.decide(id, parts);
}

/** As `decide`, and how much may be held beside. */
export function standing<E extends Evaluation>(
  { current }: FamilyState<E>,
  parts: readonly HoldPart[],
): Standing {
  return current.entries.read().book.standing('asked', parts);
}

/** A number that grows by what usage of these parts adds to the charges of drafts. Null: that is not known. */
export function billedCost<E extends Evaluation>(
  { current }: FamilyState<E>,
  parts: readonly HoldPart[],
): Decimal | null {
  return current.entries.read().book.billedCostOf(parts);
}

/** The usage that the evaluation has not counted. */
export function pendingUsage<E extends Evaluation>({
  current,
}: FamilyState<E>): ReadonlyMap<string, PendingUsage> {
  return current.entries.read().usage;
}

/** The active holds, by id. */
export function activeHolds<E extends Evaluation>({ holds }: FamilyState<E>): ReadonlyMap<string, KnownHold> {
  return holds.read().byId;
}

/** The active hold of a transaction. */
export function holdOf<E extends Evaluation>(
  { holds }: FamilyState<E>,
  transactionId: string,
): KnownHold | null {
  const { byId, idOf } = holds.read();
  return byId.get(idOf.get(transactionId) ?? '') ?? null;
}

type EvaluatedEvent<E extends Evaluation> = Extract<FamilyEvent<E>, { kind: 'evaluated' }>;

/** Holds are those of this process if nobody else has changed anything, and else those that the evaluation has found. */
function evaluated<E extends Evaluation>(
  state: FamilyState<E>,
  { evaluation, begunAt, counted }: EvaluatedEvent<E>,
): FamilyState<E> {
  const { ahead, current, isStale } = state;
  const usage = uncounted(current, evaluation, counted);
  const holds = isStale ? storedHolds(evaluation.evaluated.holds) : state.holds;
  const { view, isPriced } = newView(evaluation, begunAt, usage, holds.read().byId.values());
  return {
    current: view,
    ahead: isStale || ahead?.evaluation.terms() !== evaluation.terms() ? null : ahead,
    holds,
    accounts: accountsSeen(state, evaluation),
    isStale: !isPriced,
  };
}

/** An evaluation for the next hour is kept if it has the terms of the present one and a price for all usage since. */
function evaluatedAhead<E extends Evaluation>(
  state: FamilyState<E>,
  { evaluation, begunAt }: EvaluatedEvent<E>,
): FamilyState<E> {
  const { current, holds, isStale } = state;
  if (isStale || evaluation.evaluated.countedUpTo === null) return state;
  if (evaluation.terms() !== current.evaluation.terms()) return { ...state, isStale: true };
  const usage = uncounted(current, evaluation, []);
  const { view, isPriced } = newView(evaluation, begunAt, usage, holds.read().byId.values());
  return isPriced ? { ...state, ahead: view } : state;
}

function hourBegun<E extends Evaluation>(state: FamilyState<E>, now: Instant): FamilyState<E> {
  const { ahead, current, isStale } = state;
  if (ahead === null || isStale || now < current.evaluation.evaluated.validUntil) return state;
  const { validFrom, validUntil } = ahead.evaluation.evaluated;
  if (now < validFrom || now >= validUntil) return { ...state, ahead: null };
  return { ...state, current: ahead, ahead: null, accounts: accountsSeen(state, ahead.evaluation) };
}

/** Usage counts until an evaluation includes it. Usage without a price ahead may take anything. */
function used<E extends Evaluation>(
  state: FamilyState<E>,
  usage: PendingUsage,
  parts: readonly HoldPart[] | NotCharged,
): FamilyState<E> {
  const { ahead, current, isStale } = state;
  if (current.entries.read().usage.has(usage.id)) return state;
  const later = ahead?.evaluation.partsOfEvent(usage.customerId, usage.event) ?? 'not_priceable';
  return {
    ...state,
    current: withUsage(current, usage, parts),
    ahead: ahead === null || later === 'not_priceable' ? null : withUsage(ahead, usage, later),
    isStale: isStale || parts === 'not_priceable',
  };
}

function granted<E extends Evaluation>(
  state: FamilyState<E>,
  hold: Hold,
  parts: readonly HoldPart[],
): FamilyState<E> {
  const { ahead } = state;
  return {
    ...state,
    current: withHold(state.current, hold.id, parts),
    ahead: ahead === null ? null : withHold(ahead, hold.id, ahead.evaluation.partsOfHold(hold)),
    holds: keptHold(state.holds, hold, false),
  };
}

/** Versions change by one with each statement of this process; anything else was another's change. */
function written<E extends Evaluation>(
  state: FamilyState<E>,
  marks: ReadonlyMap<string, AccountMarks>,
  stored: readonly Hold[],
): FamilyState<E> {
  const accounts = new Map(state.accounts);
  let { isStale, holds } = state;
  for (const [customerId, { version, usageMark }] of marks) {
    const seen = accounts.get(customerId);
    if (seen === undefined) continue;
    if (version !== seen.version + 1 || usageMark > seen.usageMark + 1) isStale = true;
    accounts.set(customerId, { ...seen, version, usageMark });
  }
  for (const hold of stored) {
    // An evaluation that began before has taken over.
    if (!holds.read().byId.has(hold.id)) isStale = true;
    else holds = keptHold(holds, hold, true);
  }
  return { ...state, accounts, holds, isStale };
}

function ended<E extends Evaluation>(state: FamilyState<E>, holdId: string): FamilyState<E> {
  const known = state.holds.read().byId.get(holdId);
  if (known === undefined) return state;
  const holds = withoutHold(state.holds, known.hold);
  return inBoth({ ...state, holds }, (view) => withoutHoldIn(view, holdId));
}

function inBoth<E extends Evaluation>(
  state: FamilyState<E>,
  change: (view: View<E>) => View<E>,
): FamilyState<E> {
  const { current, ahead } = state;
  return { ...state, current: change(current), ahead: ahead === null ? null : change(ahead) };
}

/** Versions are known of what this process has changed since. */
function accountsSeen<E extends Evaluation>(
  { accounts, isStale }: FamilyState<E>,
  { evaluated: { seen } }: E,
): ReadonlyMap<string, AccountSeen> {
  return new Map(
    seen.map((account) => {
      const own = isStale ? undefined : accounts.get(account.customerId);
      const marks = own === undefined ? {} : { version: own.version, usageMark: own.usageMark };
      return [account.customerId, { ...account, ...marks }];
    }),
  );
}

/**
 * Selects the overrides that decide a price, by target and by time, without scanning the others
 * (docs/explanation/rating.md, "Overrides"). Rating and the rate schedule of a contract use the same index.
 *
 * Building it takes n log n steps for n overrides; a decision takes a binary search in each group of overrides with the
 * same target.
 */
import type { Decimal } from '../../core/decimal.ts';
import { assert } from '../../core/errors.ts';
import { resultAtOnce, resultInChunks } from '../../core/in-chunks.ts';
import { perObject } from '../../core/per-object.ts';
import { sortedInSteps } from '../../core/sort-in-steps.ts';
import type { MultiplierPrioritization, Override } from '../../core/terms/overrides.ts';
import { contains, type Instant } from '../../core/time.ts';
import {
  changeInstants,
  type Lane,
  laneOf,
  nextStart,
  type PlacedOverride,
  previousStart,
  winnerAt,
} from './override-lanes.ts';
import {
  groupsOf,
  type PricedSubject,
  type TargetGroup,
  type TargetIndex,
  targetGroups,
  targetIndex,
} from './override-targets.ts';
import type { ContractOverrides, DecidingOverrides, OverrideDecision } from './overrides.ts';

export interface OverrideIndex {
  readonly isEmpty: boolean;
  /** Whether the price of usage may depend on the commit or credit that pays for it. */
  readonly hasCommitSpecific: boolean;
  /** The overrides that apply to the subject at some time. */
  of(subject: PricedSubject): SubjectOverrides;
}

/** The overrides of one subject over time. */
export interface SubjectOverrides {
  decisionAt(at: Instant): OverrideDecision;
  /** The first instant after `at` at which the decision may change; null: never. */
  nextChange(at: Instant): Instant | null;
  /** The last instant at or before `at` at which the decision may have changed; null: never. */
  previousChange(at: Instant): Instant | null;
}

const UNDECIDED: OverrideDecision = { prices: [], entitled: null };

/** For a subject without overrides. */
export const NO_SUBJECT_OVERRIDES: SubjectOverrides = {
  decisionAt: () => UNDECIDED,
  nextChange: () => null,
  previousChange: () => null,
};

const indexesOf = perObject(
  (_overrides: readonly Override[]) => new Map<MultiplierPrioritization, OverrideIndex>(),
);

/** Immutable overrides are indexed once and cached. */
export function indexOverrides(contract: ContractOverrides): OverrideIndex {
  const index = keptIndex(contract) ?? resultAtOnce(newIndex(contract));
  keepIndex(contract, index);
  return index;
}

/**
 * Indexes immutable overrides in parts, between which the process serves other requests; `indexOverrides` then finds
 * that index. Other overrides are left to `indexOverrides`.
 */
export async function prepareIndex(contract: ContractOverrides): Promise<void> {
  if (Object.isFrozen(contract.overrides) && keptIndex(contract) === undefined) {
    keepIndex(contract, await resultInChunks(newIndex(contract, GROUP_MEMBERS)));
  }
}

function keptIndex({ overrides, prioritization }: ContractOverrides): OverrideIndex | undefined {
  return Object.isFrozen(overrides) ? indexesOf(overrides).get(prioritization) : undefined;
}

function keepIndex({ overrides, prioritization }: ContractOverrides, index: OverrideIndex): void {
  if (Object.isFrozen(overrides)) indexesOf(overrides).set(prioritization, index);
}

/** When indexing in parts, the lanes of groups with more members are built ahead: a subject may meet several. */
const GROUP_MEMBERS = 20;

/** Yields until it has its result. */
type Steps<Result> = Generator<void, Result, undefined>;

/** Builds the lanes of groups of more than `membersMax`; lanes of other groups are built on first use. */
function* newIndex(
  { overrides, prioritization }: ContractOverrides,
  membersMax = Number.POSITIVE_INFINITY,
): Steps<OverrideIndex> {
  const groups = (yield* targetGroups(overrides)).map((group) => new IndexedGroup(group, prioritization));
  for (const group of groups) if (group.members.length > membersMax) yield* group.buildLanes();
  const index: TargetIndex<IndexedGroup> = yield* targetIndex(groups);
  return {
    isEmpty: overrides.length === 0,
    hasCommitSpecific: overrides.some(({ isCommitSpecific }) => isCommitSpecific),
    of(subject) {
      const own = groupsOf(index, subject);
      return own.length === 0 ? NO_SUBJECT_OVERRIDES : subjectOverrides(own, subject, prioritization);
    },
  };
}

type RateTarget = Override['target'];

/** The overrides of one group, by what they change. */
interface GroupLanes {
  readonly entitling: Lane;
  readonly overwrites: Readonly<Record<RateTarget, Lane>>;
  readonly multipliers: Readonly<Record<RateTarget, Lane>>;
  /** Several apply at a time, because each range of quantities has its own best one. */
  readonly tiered: readonly PlacedOverride[];
  readonly tieredChanges: Pick<Lane, 'starts'>;
}

class IndexedGroup implements TargetGroup {
  readonly condition: TargetGroup['condition'];
  readonly isCommitSpecific: boolean;
  readonly members: readonly PlacedOverride[];
  readonly #prioritization: MultiplierPrioritization;
  #lanes: GroupLanes | null = null;

  constructor(group: TargetGroup, prioritization: MultiplierPrioritization) {
    this.condition = group.condition;
    this.isCommitSpecific = group.isCommitSpecific;
    this.members = group.members;
    this.#prioritization = prioritization;
  }

  get lanes(): GroupLanes {
    return this.#lanes ?? resultAtOnce(this.buildLanes());
  }

  *buildLanes(): Steps<GroupLanes> {
    const lanes = yield* lanesOf(this.members, this.#prioritization);
    this.#lanes = lanes;
    return lanes;
  }
}

function* lanesOf(
  members: readonly PlacedOverride[],
  prioritization: MultiplierPrioritization,
): Steps<GroupLanes> {
  const lastFirst = members.toReversed();
  const tiered = members.filter(({ override: one }) => one.type === 'TIERED');
  const isItself = (a: Override, b: Override) => a === b;
  const entitling = lastFirst.filter(({ override: one }) => one.entitled !== null);
  const overwrites = (target: RateTarget) =>
    laneOf(
      lastFirst.filter(({ override: one }) => one.type === 'OVERWRITE' && one.target === target),
      isItself,
    );
  const multipliers = (target: RateTarget) => multiplierLane(members, target, prioritization);
  return {
    entitling: yield* laneOf(entitling, isItself),
    overwrites: {
      LIST_RATE: yield* overwrites('LIST_RATE'),
      COMMIT_RATE: yield* overwrites('COMMIT_RATE'),
    },
    multipliers: {
      LIST_RATE: yield* multipliers('LIST_RATE'),
      COMMIT_RATE: yield* multipliers('COMMIT_RATE'),
    },
    tiered,
    tieredChanges: { starts: changeInstants(tiered) },
  };
}

function* multiplierLane(
  members: readonly PlacedOverride[],
  target: RateTarget,
  prioritization: MultiplierPrioritization,
): Steps<Lane> {
  const compare = (a: Override, b: Override) => compareMultipliers(a, b, prioritization);
  const own = members.filter(({ override: one }) => one.type === 'MULTIPLIER' && one.target === target);
  const bestFirst = yield* sortedInSteps(own, (a, b) => compare(a.override, b.override));
  return yield* laneOf(bestFirst, (a, b) => compare(a, b) === 0);
}

/** The better override first: under EXPLICIT the lower priority value, then the smaller multiplier. */
function compareMultipliers(a: Override, b: Override, prioritization: MultiplierPrioritization): number {
  assert(a.multiplier !== null && b.multiplier !== null, 'a MULTIPLIER has a multiplier');
  const byPriority = prioritization === 'EXPLICIT' ? priorityOf(a).cmp(priorityOf(b)) : 0;
  return byPriority === 0 ? a.multiplier.cmp(b.multiplier) : byPriority;
}

function priorityOf({ priority }: Override): Decimal {
  assert(priority !== null, 'under EXPLICIT every multiplier has a priority');
  return priority;
}

function subjectOverrides(
  groups: readonly IndexedGroup[],
  { payer }: PricedSubject,
  prioritization: MultiplierPrioritization,
): SubjectOverrides {
  const target = payer?.usesCommitRate === true ? 'COMMIT_RATE' : 'LIST_RATE';
  const lanes = groups.map((group) => group.lanes);
  const classes = [true, false].map((isCommitSpecific) =>
    groups.filter((group) => group.isCommitSpecific === isCommitSpecific).map((one) => one.lanes),
  );
  const dated = lanes.flatMap(({ entitling, overwrites, multipliers, tieredChanges }) => [
    entitling,
    overwrites[target],
    multipliers[target],
    tieredChanges,
  ]);
  return {
    decisionAt: (at) => ({
      prices: classes.map((own) => decidingAt(own, target, prioritization, at)),
      entitled: lastAdded(lanes.map(({ entitling }) => winnerAt(entitling, at)))?.entitled ?? null,
    }),
    nextChange: (at) =>
      smallest(
        dated.map((lane) => nextStart(lane, at)),
        1,
      ),
    previousChange: (at) =>
      smallest(
        dated.map((lane) => previousStart(lane, at)),
        -1,
      ),
  };
}

function decidingAt(
  groups: readonly GroupLanes[],
  target: RateTarget,
  prioritization: MultiplierPrioritization,
  at: Instant,
): DecidingOverrides {
  const overwrite = lastAdded(groups.map(({ overwrites }) => winnerAt(overwrites[target], at)));
  if (overwrite !== null) return { overwrite, multipliers: [] };
  const plain = groups.flatMap(({ multipliers }) => winnerAt(multipliers[target], at)?.override ?? []);
  const tiered = groups
    .flatMap((group) => group.tiered)
    .map(({ override }) => override)
    .filter((one) => one.target === target && contains({ start: one.startingAt, end: one.endingBefore }, at));
  return { overwrite, multipliers: prioritized([...plain, ...tiered], prioritization) };
}

/**
 * An override with several targets may be found more than once. Under EXPLICIT only the lowest priority value remains.
 */
function prioritized(found: readonly Override[], prioritization: MultiplierPrioritization): Override[] {
  const multipliers = [...new Set(found)];
  if (prioritization === 'LOWEST_MULTIPLIER' || multipliers.length < 2) return multipliers;
  const first = multipliers.map(priorityOf).reduce((lowest, one) => (one.lt(lowest) ? one : lowest));
  return multipliers.filter((one) => priorityOf(one).eq(first));
}

function lastAdded(winners: readonly (PlacedOverride | null)[]): Override | null {
  let last: PlacedOverride | null = null;
  for (const winner of winners) {
    if (winner !== null && (last === null || winner.position > last.position)) last = winner;
  }
  return last?.override ?? null;
}

/** The smallest of the instants, times `sign`; null if all are null. */
function smallest(instants: readonly (Instant | null)[], sign: 1 | -1): Instant | null {
  let found: Instant | null = null;
  for (const at of instants) if (at !== null && (found === null || (at - found) * sign < 0)) found = at;
  return found;
}

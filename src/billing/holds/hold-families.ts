/**
 * The families of this process (docs/explanation/holds.md, "The state"): evaluated when they are first needed and when
 * something has changed, and notified of every new event of theirs before it is acknowledged.
 */
import { AsyncResource } from 'node:async_hooks';
import { hashText } from '../../core/byte-hash.ts';
import { type Instant, MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import type { ReadEvent } from '../../metering/ingest/event-rows.ts';
import type { NewEventWatch } from '../../metering/ingest/new-events.ts';
import { ownersOfRefs } from '../../store/customers/usage-owners.ts';
import type { Hold } from '../../store/holds/holds.ts';
import type { BillingContext } from '../billing-context.ts';
import { unevaluatedFamilies } from './evaluate-families.ts';
import { createEvaluations, type Evaluation } from './evaluations.ts';
import { createGroupedReads } from './grouped-reads.ts';
import { type BilledCost, HoldFamily } from './hold-family.ts';
import type { PendingUsage } from './hold-state.ts';
import { createRefresh } from './refresh-families.ts';

/** A hold whose event is on its way to the disk. */
export interface Billed {
  readonly family: HoldFamily;
  readonly hold: Hold;
  readonly cost: BilledCost;
}

/** Families in memory, and those of them that are evaluated for the hour that begins next. */
export interface FamilyFigures {
  readonly known: number;
  readonly ahead: number;
}

export interface HoldFamilies {
  /** The customer that an id or ingest alias means, with its family; null: none that can hold. */
  find(ref: string): Promise<{ readonly customerId: string; readonly family: HoldFamily } | null>;
  /** Null: this process has not evaluated the customer. */
  known(customerId: string): HoldFamily | null;
  /** Evaluates the family, unless it is as it should be. `since`: the evaluation must have begun after this. */
  renew(family: HoldFamily, since: number): Promise<void>;
  /** Evaluates before it is needed, from now on. */
  readonly refresh: { start(): void; close(): void };
  readonly watch: NewEventWatch;
  figures(): FamilyFigures;
}

interface FamilyContext extends BillingContext {
  /** Whether other processes may take in events of the same customers. */
  readonly isShared: boolean;
  /** The events of these holds are on disk: they are settled. */
  settled(billed: readonly Billed[]): Promise<void>;
  /** Seconds of a group of evaluations. */
  evaluated(seconds: number): void;
  /** Resolves when the events that are on their way to the disk now are there. */
  ingestSettled(): Promise<void>;
}

const RENEWALS_MAX = 3;

/** More are forgotten, those first that have been here longest and hold nothing. */
const FAMILIES_MAX = 20_000;
/** Of a family that was evaluated before it was needed, or could not be. */
const REST_MS = SECOND_MS;
const REST_AFTER_FAILURE_MS = MINUTE_MS;

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: its functions share the state of one process, and each is short.
export function createHoldFamilies(deps: FamilyContext): HoldFamilies {
  /** By id of a customer. */
  const families = new Map<string, HoldFamily>();
  /** By id or ingest alias. */
  const names = new Map<string, { readonly customerId: string; readonly family: HoldFamily }>();
  const owners = new Map<number, number>();
  const loading = new Map<string, Promise<HoldFamily | null>>();
  const renewing = new Map<HoldFamily, Promise<void>>();
  /** Evaluations before they are needed. Each family has one evaluation at a time, so that a later one counts more. */
  const refreshing = new Map<HoldFamily, Promise<void>>();
  const evaluations = createEvaluations(deps);
  const ownerOf = createGroupedReads(async (refs: readonly string[]) => {
    const found = await ownersOfRefs(deps.db, [...new Set(refs)]);
    return (ref) => found.get(ref)?.id ?? null;
  });
  const membersOf = createGroupedReads(async (customerIds: readonly string[]) => {
    const found = await unevaluatedFamilies(deps.db, [...new Set(customerIds)]);
    return (id) => found.get(id) ?? null;
  });
  const own = new AsyncResource('hold families');
  let used = 0;

  function forget(family: HoldFamily): void {
    family.isStale = true;
    for (const ref of family.names) if (names.get(ref)?.family === family) unname(ref);
    for (const id of family.evaluated.customerIds) if (families.get(id) === family) families.delete(id);
  }

  function unname(ref: string): void {
    if (!names.delete(ref)) return;
    const hash = hashText(ref);
    const count = (owners.get(hash) ?? 1) - 1;
    if (count > 0) owners.set(hash, count);
    else owners.delete(hash);
  }

  /** Under its present names. Whoever had one of its customers is forgotten. */
  function remember(family: HoldFamily): void {
    for (const id of family.evaluated.customerIds) {
      const other = families.get(id);
      if (other !== undefined && other !== family) forget(other);
    }
    for (const ref of family.names) unname(ref);
    family.names = [...family.evaluated.customerOf.keys()];
    for (const [ref, customerId] of family.evaluated.customerOf) {
      unname(ref);
      names.set(ref, { customerId, family });
      owners.set(hashText(ref), (owners.get(hashText(ref)) ?? 0) + 1);
    }
    for (const id of family.evaluated.customerIds) families.set(id, family);
  }

  function isBusy(family: HoldFamily): boolean {
    return renewing.has(family) || refreshing.has(family);
  }

  function makeRoom(): void {
    for (const family of families.values()) {
      if (families.size < FAMILIES_MAX) return;
      if (family.active.size === 0 && !isBusy(family)) forget(family);
    }
  }

  async function load(customerId: string): Promise<HoldFamily | null> {
    makeRoom();
    const members = await membersOf(customerId);
    // Another customer of the family may have been asked for meanwhile.
    const known = families.get(customerId);
    if (known !== undefined || members === null) return known ?? null;
    const family = new HoldFamily(members);
    family.isStale = true;
    remember(family);
    // Earlier events are counted by the evaluation, and later ones are noticed.
    family.noticed = deps.ingestSettled();
    await renew(family);
    return family;
  }

  async function renewOnce(family: HoldFamily): Promise<void> {
    evaluations.giveUpLater(family);
    await Promise.all([family.noticed, refreshing.get(family)]);
    for (let attempt = 0; attempt < RENEWALS_MAX; attempt += 1) {
      if (!renewed(family, await evaluations.evaluate(family))) return;
      await deps.ingestSettled();
    }
  }

  /** Returns whether the family has new names: usage under them that came meanwhile was not watched. */
  function renewed(family: HoldFamily, { evaluated, begunAt, counted }: Evaluation): boolean {
    const isNew = ([ref, id]: readonly [string, string]) => {
      const known = names.get(ref);
      return known?.customerId !== id || known.family !== family;
    };
    const hasNewNames = [...evaluated.customerOf].some(isNew);
    family.takeOver(evaluated, counted);
    family.begunAt = begunAt;
    remember(family);
    if (hasNewNames) family.isStale = true;
    return hasNewNames;
  }

  function renew(family: HoldFamily): Promise<void> {
    const running = renewing.get(family);
    if (running !== undefined) return running;
    const work = own.runInAsyncScope(() => renewOnce(family)).finally(() => renewing.delete(family));
    renewing.set(family, work);
    return work;
  }

  /** Evaluates these, which are not busy, before it is needed. `at`: for the hour that begins then; null: for now. */
  async function refreshAll(due: readonly HoldFamily[], at: Instant | null): Promise<void> {
    const answers = evaluations.evaluateLater(due, at);
    const work = due.map((family, index) => {
      const one = takeLater(family, at, answers[index]).finally(() => refreshing.delete(family));
      refreshing.set(family, one);
      return one;
    });
    await Promise.all(work);
  }

  /** One that fails is tried by whoever needs it. */
  async function takeLater(
    family: HoldFamily,
    at: Instant | null,
    answer: Promise<Evaluation | null> | undefined,
  ): Promise<void> {
    let restMs = REST_MS;
    const evaluation = await answer?.catch(() => {
      restMs = REST_AFTER_FAILURE_MS;
      return null;
    });
    family.restsUntil = performance.now() + restMs;
    const [customerId = ''] = family.evaluated.customerIds;
    if (evaluation == null || families.get(customerId) !== family) return;
    if (at === null) renewed(family, evaluation);
    else family.prepare(evaluation.evaluated, evaluation.begunAt);
  }

  async function familyOf(customerId: string): Promise<HoldFamily | null> {
    const known = families.get(customerId);
    if (known !== undefined) return known;
    const running = loading.get(customerId);
    if (running !== undefined) return running;
    const work = own.runInAsyncScope(() => load(customerId)).finally(() => loading.delete(customerId));
    loading.set(customerId, work);
    return work;
  }

  function use(
    event: ReadEvent,
    ingestedBefore: number,
  ): { readonly usage: PendingUsage; readonly billed: Billed | null } | null {
    const found = names.get(event.customerRef);
    if (found === undefined) return null;
    const { family, customerId } = found;
    used += 1;
    const { eventType, timestamp } = event;
    const usage: PendingUsage = {
      id: `usage ${used}`,
      customerId,
      event: { eventType, timestamp, properties: new Map(event.properties) },
      ingestedBefore,
      isStored: false,
    };
    const hold = family.holdOf(event.transactionId);
    if (hold !== null) family.end(hold.id);
    const cost = family.use(usage, { wasHeld: hold !== null });
    return { usage, billed: hold === null ? null : { family, hold, cost } };
  }

  return {
    async find(ref) {
      if (!names.has(ref)) {
        const owner = await ownerOf(ref);
        if (owner === null) return null;
        await familyOf(owner);
      }
      const found = names.get(ref) ?? null;
      if (found !== null) found.family.askedAt = performance.now();
      return found;
    },
    known: (customerId) => families.get(customerId) ?? null,
    async renew(family, since) {
      // One that is running may have begun before.
      while (!family.isValidAt(deps.clock.now(), since)) {
        await renew(family);
        if (family.isStale) return;
      }
    },
    refresh: createRefresh({
      ...{ clock: deps.clock, log: deps.log, isShared: deps.isShared, refresh: refreshAll, forget },
      families: () => new Set(families.values()),
      isBusy,
    }),
    watch: {
      isWatching: () => names.size > 0,
      isWatched: (owner) => owners.has(owner),
      taken(events, ingestedBefore) {
        const taken = events.flatMap((event) => use(event, ingestedBefore) ?? []);
        if (taken.length === 0) return null;
        const store = () => {
          for (const { usage } of taken) usage.isStored = true;
        };
        return {
          // They count until an evaluation shows whether they are stored.
          failed: store,
          async stored() {
            store();
            const billed = taken.flatMap((one) => one.billed ?? []);
            if (billed.length > 0) await deps.settled(billed);
          },
        };
      },
    },
    figures() {
      const all = [...new Set(families.values())];
      const now = deps.clock.now();
      return { known: all.length, ahead: all.filter((family) => family.isAheadOf(now)).length };
    },
  };
}

/**
 * The families of this process (docs/explanation/holds.md, "The state"). A family is evaluated when it is first needed and
 * after a change, and is notified of each of its new events before the event is acknowledged.
 */
import { groupBy } from '../../core/group-by.ts';
import type { Hold } from '../../core/hold.ts';
import type { ReadEvent } from '../../metering/ingest/event-rows.ts';
import type { NewEventWatch, WatchedEvents } from '../../metering/ingest/new-events.ts';
import type { PendingUsage } from '../../rating/holds/family-view.ts';
import { createBatcher } from '../../runtime/batcher.ts';
import type { Poll } from '../../runtime/poll.ts';
import { withoutRequest } from '../../runtime/request-scope.ts';
import { ownersOfRefs } from '../../store/customers/usage-owners.ts';
import { READ_TOGETHER_MAX } from '../../store/holds/holds.ts';
import type { BillingContext } from '../billing-context.ts';
import { unevaluatedFamilies } from './evaluate-families.ts';
import { createEvaluations } from './evaluations.ts';
import { type BilledCost, HoldFamily } from './hold-family.ts';
import { KnownFamilies, type NamedFamily } from './known-families.ts';
import { createRefresh } from './refresh-families.ts';
import { Renewals } from './renewals.ts';

/** A hold whose event is being written to disk. */
export interface Billed {
  readonly family: HoldFamily;
  readonly hold: Hold;
  readonly cost: BilledCost;
}

/** The numbers of families in memory, and of families evaluated for the next hour. */
export interface FamilyFigures {
  readonly known: number;
  readonly ahead: number;
}

export interface HoldFamilies {
  /** The customer with this id or ingest alias, and its family; null: no customer can hold under this name. */
  find(ref: string): Promise<NamedFamily | null>;
  /** Null: this process has not evaluated the customer. */
  known(customerId: string): HoldFamily | null;
  /** Evaluates the family unless its evaluation is valid. `begunAfter`: the evaluation must have begun after this. */
  renew(family: HoldFamily, begunAfter: number): Promise<void>;
  /** Evaluates families in the background. */
  readonly refresh: Poll;
  readonly watch: NewEventWatch;
  figures(): FamilyFigures;
}

/** An event of the family that ingest has accepted. */
interface Taken {
  readonly family: HoldFamily;
  readonly usageId: string;
  readonly billed: Billed | null;
}

interface FamilyContext extends BillingContext {
  /** Whether other processes may take in events of the same customers. */
  readonly isShared: boolean;
  /** By transaction: the holds that requests are settling now, including expired holds and holds of other processes. */
  readonly settling: ReadonlyMap<string, { readonly hold: Hold }>;
  /** Called when the events of these holds are on disk, which settles them. */
  eventsStored(billed: readonly Billed[]): Promise<void>;
  /** Observes the duration of a group of evaluations in seconds. */
  evaluated(seconds: number): void;
  /** Resolves when all events that are being written now are on disk. */
  ingestDrained(): Promise<void>;
}

export function createHoldFamilies(context: FamilyContext): HoldFamilies {
  const known = new KnownFamilies();
  const renewals = new Renewals({
    ...{ known, evaluations: createEvaluations(context) },
    ingestDrained: () => context.ingestDrained(),
  });
  return {
    find: createFind(context, known, renewals),
    known: (customerId) => known.of(customerId),
    async renew(family, begunAfter) {
      // A running evaluation may have begun before `begunAfter`.
      while (!family.isValidAt(context.clock.now(), begunAfter)) {
        await renewals.renew(family);
        if (family.isStale) return;
      }
    },
    refresh: createRefresh({
      ...{ clock: context.clock, log: context.log, isShared: context.isShared },
      refresh: (due, at) => renewals.refresh(due, at),
      forget: (family) => known.forget(family),
      families: () => known.all(),
      isBusy: (family) => renewals.isBusy(family),
    }),
    watch: createWatch(context, known),
    figures() {
      const all = [...known.all()];
      const now = context.clock.now();
      return { known: all.length, ahead: all.filter((family) => family.isAheadOf(now)).length };
    },
  };
}

/** Finds families by name, and evaluates families that are not in memory. */
function createFind(context: FamilyContext, known: KnownFamilies, renewals: Renewals): HoldFamilies['find'] {
  const loading = new Map<string, Promise<HoldFamily | null>>();
  const owners = createBatcher({
    name: 'customers of holds',
    sizeMax: READ_TOGETHER_MAX,
    async work(refs: readonly string[]) {
      const found = await ownersOfRefs(context.db, [...new Set(refs)]);
      return refs.map((ref) => found.get(ref)?.id ?? null);
    },
  });
  const members = createBatcher({
    name: 'families of holds',
    sizeMax: READ_TOGETHER_MAX,
    async work(customerIds: readonly string[]) {
      const found = await unevaluatedFamilies(context.db, [...new Set(customerIds)]);
      return customerIds.map((id) => found.get(id) ?? null);
    },
  });

  async function load(customerId: string): Promise<HoldFamily | null> {
    known.makeRoom((family) => renewals.isBusy(family));
    const found = await members.ask(customerId);
    // A concurrent request for another customer may have loaded the family.
    const other = known.of(customerId);
    if (other !== null || found === null) return other;
    const family = new HoldFamily(found);
    known.remember(family);
    // The evaluation counts earlier events; later ones are watched.
    family.noticed = context.ingestDrained();
    await renewals.renew(family);
    return family;
  }

  async function loaded(customerId: string): Promise<HoldFamily | null> {
    const running = known.of(customerId) ?? loading.get(customerId);
    if (running !== undefined) return running;
    const work = withoutRequest(() => load(customerId)).finally(() => loading.delete(customerId));
    loading.set(customerId, work);
    return work;
  }

  return async (ref) => {
    if (known.named(ref) === null) {
      const customerId = await owners.ask(ref);
      if (customerId === null) return null;
      await loaded(customerId);
    }
    const found = known.named(ref);
    if (found !== null) found.family.askedAt = performance.now();
    return found;
  };
}

/** Notifies families of new events. */
function createWatch(context: FamilyContext, known: KnownFamilies): NewEventWatch {
  let used = 0;

  function use(event: ReadEvent, ingestedBefore: number): Taken | null {
    const found = known.named(event.customerRef);
    if (found === null) return null;
    const { family, customerId } = found;
    used += 1;
    const { eventType, timestamp, transactionId } = event;
    const usage: PendingUsage = {
      id: `usage ${used}`,
      customerId,
      event: { eventType, timestamp, properties: new Map(event.properties) },
      ingestedBefore,
      isStored: false,
    };
    const settling = context.settling.get(transactionId)?.hold;
    const hold = family.holdOf(transactionId) ?? (settling?.customerId === customerId ? settling : null);
    if (hold !== null) family.send({ kind: 'ended', holdId: hold.id });
    const cost = family.use(usage, { wasHeld: hold !== null });
    return { family, usageId: usage.id, billed: hold === null ? null : { family, hold, cost } };
  }

  return {
    isWatching: () => known.hasNames(),
    isWatched: (owner) => known.isOwner(owner),
    taken(events, ingestedBefore) {
      const taken = events.flatMap((event) => use(event, ingestedBefore) ?? []);
      return taken.length === 0 ? null : watchedOf(context, taken);
    },
  };
}

function watchedOf(context: FamilyContext, taken: readonly Taken[]): WatchedEvents {
  const store = () => {
    for (const [family, own] of groupBy(taken, (one) => one.family))
      family.send({ kind: 'stored', usageIds: own.map(({ usageId }) => usageId) });
  };
  return {
    // The usage counts until an evaluation shows whether it is stored.
    failed: store,
    async stored() {
      store();
      const billed = taken.flatMap((one) => one.billed ?? []);
      if (billed.length > 0) await context.eventsStored(billed);
    },
  };
}

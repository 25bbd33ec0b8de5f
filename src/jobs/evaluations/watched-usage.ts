/**
 * Reports new events to the meters of watched customers, and marks those customers. Runs within each request. Usage
 * that changes nothing is deferred until there is more of it, or the customer is evaluated.
 */
import { hashText } from '../../core/byte-hash.ts';
import type { UsageMeter, WeighedUsage } from '../../core/event-quantities.ts';
import { eachInChunks } from '../../core/in-chunks.ts';
import { createQuietUsage, type QuietUsage } from './quiet-usage.ts';
import { WHEN_THERE_IS_TIME } from './waiting-customers.ts';
import { createWatchList, type WatchedCustomer, type WatchList } from './watch-list.ts';

/** For an evaluator whose result any usage may change. */
export const ALWAYS_AT_ONCE: UsageMeter = { add: () => undefined, waitMs: () => 0, room: () => 0 };

export interface WatchedUsage {
  readonly list: Omit<WatchList, 'replace'>;
  /** Like `WatchList.replace`. All usage of the replaced customers is reported first. */
  replace(customerIds: readonly string[], watched: readonly WatchedCustomer[]): void;
  /** Replaces the whole list. In parts, between which other work runs; unchanged customers are kept. */
  replaceAll(watched: readonly WatchedCustomer[]): Promise<void>;
  /** New events are on disk. Customers that are not watched are skipped. */
  tell(usage: WeighedUsage): void;
  /** Reports deferred usage to the meters of these customers. */
  catchUp(customerIds: readonly string[]): void;
}

export function createWatchedUsage(): WatchedUsage {
  const list = createWatchList();
  /** The kinds that were reported for the current customer. */
  const told: number[] = [];
  const quiet = createQuietUsage((customerId, kind, amount) => {
    for (const meter of list.get(customerId)?.meters ?? []) meter.add(kind, amount);
  });

  function tell(usage: WeighedUsage): void {
    const { owners, ends } = usage;
    let start = 0;
    for (let place = 0; place < owners.length; place += 1) {
      const end = ends[place] ?? start;
      tellOf(owners[place] ?? 0, usage, start, end);
      start = end;
    }
  }

  /** The quantities from `start` to `end` belong to this reference. Usually all of them are deferred. */
  // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: runs for each event of a batch: the cases are in one loop.
  function tellOf(owner: number, { kinds, amounts }: WeighedUsage, start: number, end: number): void {
    told.length = 0;
    for (let at = start; at < end; at += 1) {
      const kind = kinds[at] ?? 0;
      const amount = amounts[at] ?? 0;
      if (quiet.hold(owner, kind, amount)) continue;
      for (const customer of list.customersOf(owner)) add(quiet, customer, kind, amount);
      told.push(kind);
    }
    if (told.length === 0 && start < end) return;
    // Without any quantity, it was added to the list after its events were scanned.
    if (start < end || list.isWatched(owner)) markAndAllow(list, quiet, owner, told);
  }

  function catchUp(customerIds: readonly string[]): void {
    for (const id of customerIds) quiet.flush(id);
  }

  function replace(customerIds: readonly string[], watched: readonly WatchedCustomer[]): void {
    catchUp(customerIds);
    // An alias may belong to another customer so far, which keeps the usage up to now.
    for (const ref of watched.flatMap(({ refs }) => refs)) {
      catchUp(list.customersOf(hashText(ref)).map(({ id }) => id));
    }
    list.replace(customerIds, watched);
  }

  return {
    list,
    replace,
    async replaceAll(watched) {
      const kept = new Set(watched.map(({ id }) => id));
      replace(
        [...list.customerIds()].filter((id) => !kept.has(id)),
        [],
      );
      await eachInChunks(watched, (customer) => {
        if (!isSame(list.get(customer.id), customer)) replace([customer.id], [customer]);
      });
    },
    tell,
    catchUp,
  };
}

function isSame(known: WatchedCustomer | undefined, { refs, evaluators }: WatchedCustomer): boolean {
  return (
    known !== undefined &&
    known.refs.length === refs.length &&
    known.refs.every((ref, index) => ref === refs[index]) &&
    known.evaluators.size === evaluators.size &&
    [...known.evaluators].every((name) => evaluators.has(name))
  );
}

function add(quiet: QuietUsage, { id, meters }: WatchedCustomer, kind: number, amount: number): void {
  quiet.flushKind(id, kind);
  for (const meter of meters) meter.add(kind, amount);
}

/** Marks the customers of a reference after these kinds were reported; none: usage of unknown quantities. */
function markAndAllow(list: WatchList, quiet: QuietUsage, owner: number, kinds: readonly number[]): void {
  const customers = list.customersOf(owner);
  for (const { meters, mark } of customers) mark(soonest(meters, kinds.length > 0));
  const [customer] = customers;
  // If two references share a hash, the owner of the usage is unknown, so both are reported at once.
  if (customer === undefined || customers.length > 1) return;
  for (const kind of kinds) quiet.allow(customer.id, { owner, kind }, roomOf(customer, kind));
}

function roomOf({ meters }: WatchedCustomer, kind: number): number {
  return meters.reduce((least, meter) => Math.min(least, meter.room(kind)), WHEN_THERE_IS_TIME);
}

function soonest(meters: readonly UsageMeter[], isKnown: boolean): number {
  return meters.reduce((least, meter) => Math.min(least, meter.waitMs(isKnown)), WHEN_THERE_IS_TIME);
}

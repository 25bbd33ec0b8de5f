/** The customers to evaluate, found by the references in events (docs/explanation/thresholds.md). In memory. */
import { hashText } from '../../core/byte-hash.ts';
import type { UsageMeter } from '../../core/event-quantities.ts';

/** A customer with its id and its ingest aliases. */
export interface WatchedCustomer {
  readonly id: string;
  readonly refs: readonly string[];
  /** The names of the evaluators that watch it. */
  readonly evaluators: ReadonlySet<string>;
  /** The meters of these evaluators. */
  readonly meters: readonly UsageMeter[];
  /** Requests its evaluation within this many milliseconds. */
  mark(withinMs: number): void;
}

export interface WatchList {
  /** The customers with a reference of this hash: one, or several if hashes collide. */
  customersOf(owner: number): readonly WatchedCustomer[];
  /** False: there is none, which is cheaper to determine. */
  isWatched(owner: number): boolean;
  get(customerId: string): WatchedCustomer | undefined;
  isWatchedBy(customerId: string, evaluator: string): boolean;
  readonly size: number;
  customerIds(): Iterable<string>;
  /** Replaces these customers; those that are not in `watched` are no longer watched. */
  replace(customerIds: readonly string[], watched: readonly WatchedCustomer[]): void;
}

const NOBODY: readonly WatchedCustomer[] = [];
/** 128 KiB, which stay in the processor's cache. */
const BITS = 1 << 20;

export function createWatchList(): WatchList {
  const owners = new Map<string, WatchedCustomer>();
  const byHash = new Map<number, readonly WatchedCustomer[]>();
  const customers = new Map<string, WatchedCustomer>();
  /** A bit for the hash of each reference ever added. */
  const bits = new Uint32Array(BITS / 32);

  function removeRef(ref: string): void {
    const owner = owners.get(ref);
    if (owner === undefined) return;
    owners.delete(ref);
    const hash = hashText(ref);
    const isNeeded = owner.refs.some((other) => owners.get(other) === owner && hashText(other) === hash);
    if (isNeeded) return;
    const others = (byHash.get(hash) ?? NOBODY).filter((one) => one !== owner);
    if (others.length === 0) byHash.delete(hash);
    else byHash.set(hash, others);
  }

  const remove = (id: string) => {
    const customer = customers.get(id);
    // An alias may have moved to another customer, which was added before.
    for (const ref of customer?.refs ?? []) if (owners.get(ref)?.id === id) removeRef(ref);
    customers.delete(id);
  };
  const add = (customer: WatchedCustomer) => {
    customers.set(customer.id, customer);
    for (const ref of customer.refs) {
      removeRef(ref);
      owners.set(ref, customer);
      const hash = hashText(ref);
      const present = byHash.get(hash) ?? NOBODY;
      if (!present.includes(customer)) byHash.set(hash, [...present, customer]);
      const bit = hash & (BITS - 1);
      bits[bit >>> 5] = (bits[bit >>> 5] ?? 0) | (1 << (bit & 31));
    }
  };
  return {
    customersOf: (owner) => byHash.get(owner) ?? NOBODY,
    isWatched(owner) {
      const bit = owner & (BITS - 1);
      return ((bits[bit >>> 5] ?? 0) & (1 << (bit & 31))) !== 0;
    },
    get: (id) => customers.get(id),
    isWatchedBy: (id, evaluator) => customers.get(id)?.evaluators.has(evaluator) ?? false,
    customerIds: () => customers.keys(),
    get size() {
      return customers.size;
    },
    replace(customerIds, watched) {
      for (const id of customerIds) remove(id);
      for (const customer of watched) add(customer);
    },
  };
}

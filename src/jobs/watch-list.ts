/** The customers that are evaluated, found by the references that events carry (docs/thresholds.md). In memory. */

/** A customer with its id and its ingest aliases. */
export interface WatchedCustomer {
  readonly id: string;
  readonly refs: readonly string[];
}

export interface WatchList {
  /** The customer whose events have this reference; undefined if it is not watched. */
  customerOf(ref: string): string | undefined;
  readonly size: number;
  customerIds(): Iterable<string>;
  replaceAll(customers: readonly WatchedCustomer[]): void;
  /** Replaces these customers; those of them that are not in `watched` are not watched any more. */
  replace(customerIds: readonly string[], watched: readonly WatchedCustomer[]): void;
}

export function createWatchList(): WatchList {
  const owners = new Map<string, string>();
  const refsOf = new Map<string, readonly string[]>();
  const remove = (id: string) => {
    // An alias may have moved to another customer, which was added before.
    for (const ref of refsOf.get(id) ?? []) if (owners.get(ref) === id) owners.delete(ref);
    refsOf.delete(id);
  };
  const add = ({ id, refs }: WatchedCustomer) => {
    refsOf.set(id, refs);
    for (const ref of refs) owners.set(ref, id);
  };
  return {
    customerOf: (ref) => owners.get(ref),
    customerIds: () => refsOf.keys(),
    get size() {
      return refsOf.size;
    },
    replaceAll(customers) {
      owners.clear();
      refsOf.clear();
      for (const customer of customers) add(customer);
    },
    replace(customerIds, watched) {
      for (const id of customerIds) remove(id);
      for (const customer of watched) add(customer);
    },
  };
}

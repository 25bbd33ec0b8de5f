/** The customers that are evaluated, found by the references that events carry (docs/thresholds.md). In memory. */

/** A customer with its id and its ingest aliases. */
export interface WatchedCustomer {
  readonly id: string;
  readonly refs: readonly string[];
  /** The names of the evaluators that watch it. */
  readonly evaluators: ReadonlySet<string>;
}

export interface WatchList {
  /** The customer whose events have this reference; undefined if it is not watched. */
  customerOf(ref: string): string | undefined;
  isWatchedBy(customerId: string, evaluator: string): boolean;
  readonly size: number;
  customerIds(): Iterable<string>;
  replaceAll(customers: readonly WatchedCustomer[]): void;
  /** Replaces these customers; those of them that are not in `watched` are not watched any more. */
  replace(customerIds: readonly string[], watched: readonly WatchedCustomer[]): void;
}

export function createWatchList(): WatchList {
  const owners = new Map<string, string>();
  const customers = new Map<string, WatchedCustomer>();
  const remove = (id: string) => {
    // An alias may have moved to another customer, which was added before.
    for (const ref of customers.get(id)?.refs ?? []) if (owners.get(ref) === id) owners.delete(ref);
    customers.delete(id);
  };
  const add = (customer: WatchedCustomer) => {
    customers.set(customer.id, customer);
    for (const ref of customer.refs) owners.set(ref, customer.id);
  };
  return {
    customerOf: (ref) => owners.get(ref),
    isWatchedBy: (id, evaluator) => customers.get(id)?.evaluators.has(evaluator) ?? false,
    customerIds: () => customers.keys(),
    get size() {
      return customers.size;
    },
    replaceAll(watched) {
      owners.clear();
      customers.clear();
      for (const customer of watched) add(customer);
    },
    replace(customerIds, watched) {
      for (const id of customerIds) remove(id);
      for (const customer of watched) add(customer);
    },
  };
}

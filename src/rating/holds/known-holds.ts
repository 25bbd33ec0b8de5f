/** The active holds of customers who share balances, as a process knows them. Pure. */
import type { Hold } from '../../core/hold.ts';
import { Revision } from './revision.ts';

export interface KnownHold {
  readonly hold: Hold;
  /** Whether it is on disk. */
  readonly isStored: boolean;
}

interface Holds {
  readonly byId: Map<string, KnownHold>;
  /** By transaction. */
  readonly idOf: Map<string, string>;
}

export type KnownHolds = Revision<Holds>;

export function storedHolds(stored: readonly Hold[]): KnownHolds {
  return new Revision({
    byId: new Map(stored.map((hold) => [hold.id, { hold, isStored: true }])),
    idOf: new Map(stored.map(({ id, transactionId }) => [transactionId, id])),
  });
}

export function keptHold(holds: KnownHolds, hold: Hold, isStored: boolean): KnownHolds {
  return changedHold(holds, hold, { hold, isStored }, hold.id);
}

export function withoutHold(holds: KnownHolds, hold: Hold): KnownHolds {
  const id = holds.read().idOf.get(hold.transactionId);
  return changedHold(holds, hold, undefined, id === hold.id ? undefined : id);
}

/** `idAfter`: the active hold of the transaction from now on. */
function changedHold(
  holds: KnownHolds,
  { id, transactionId }: Hold,
  after: KnownHold | undefined,
  idAfter: string | undefined,
): KnownHolds {
  const { byId, idOf } = holds.read();
  const [before, idBefore] = [byId.get(id), idOf.get(transactionId)];
  const put = (value: Holds, known: KnownHold | undefined, idOfTransaction: string | undefined) => {
    setOrDelete(value.byId, id, known);
    setOrDelete(value.idOf, transactionId, idOfTransaction);
  };
  return holds.changed({
    apply: (value) => put(value, after, idAfter),
    revert: (value) => put(value, before, idBefore),
  });
}

function setOrDelete<Value>(map: Map<string, Value>, key: string, value: Value | undefined): void {
  if (value === undefined) map.delete(key);
  else map.set(key, value);
}

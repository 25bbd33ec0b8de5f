/** Facts of the stored events as a whole, for readers of usage. */
import type { Instant } from '../../core/time.ts';
import type { Corrections } from '../corrections/corrections.ts';
import type { Ingest } from './ingest-operations.ts';

export interface EventFacts {
  /** The start of event retention; null: all events are kept. */
  keptFrom(): Instant | null;
  /**
   * The ingestion time up to which reads see every event and every correction, and before which none is added: epoch microseconds. Null if
   * unknown, as with a server that other processes write to.
   */
  completeUpTo(): string | null;
  /** No event that is taken later has this ingestion time or an earlier one: epoch microseconds. Null if unknown. */
  takenUpTo(): number | null;
  /**
   * An instant of ingestion that no event has, in epoch microseconds: events that were taken before have an earlier one,
   * later events a later one. Null if unknown, as `completeUpTo`.
   */
  mark(): number | null;
  /** Resolves when the events that were taken before are on disk, or have failed. */
  drained(): Promise<void>;
  /**
   * The subset of these transaction ids whose events are visible to reads from now on, as far as this process knows.
   */
  storedAmong(transactionIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Reads which events other processes have stored so far. Does nothing if there is no other process. */
  tail(): Promise<void>;
}

interface FactParts {
  readonly ingest: Pick<Ingest, 'completeUpTo' | 'takenUpTo' | 'mark' | 'drained' | 'storedAmong' | 'tail'>;
  readonly corrections: Pick<Corrections, 'below'>;
  readonly keptFrom: EventFacts['keptFrom'];
  /** Whether other processes may store events as well. */
  readonly isShared: boolean;
}

/** Facts about the events that ingest stores, or reads in its tail. */
export function createEventFacts({ ingest, corrections, keptFrom, isShared }: FactParts): EventFacts {
  return {
    keptFrom,
    completeUpTo: () => corrections.below(ingest.completeUpTo()),
    takenUpTo: () => ingest.takenUpTo(),
    mark: () => ingest.mark(),
    drained: () => ingest.drained(),
    storedAmong: (transactionIds) => ingest.storedAmong(transactionIds),
    async tail() {
      if (isShared) await ingest.tail();
    },
  };
}

/** Facts about events that another program stores: only the start of their retention is known. */
export function factsWithoutIngest(keptFrom: EventFacts['keptFrom'] = () => null): EventFacts {
  return {
    keptFrom,
    completeUpTo: () => null,
    takenUpTo: () => null,
    mark: () => null,
    drained: async () => {},
    storedAmong: async () => new Set(),
    tail: async () => {},
  };
}

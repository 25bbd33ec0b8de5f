/** Facts of the stored events as a whole, for readers of usage. */
import type { Instant } from '../../core/time.ts';
import type { Ingest } from './ingest-operations.ts';

export interface EventFacts {
  /** From when on events are kept; null: from the first one. */
  keptFrom(): Instant | null;
  /**
   * The ingestion up to which reads see every event, and before which none is added: epoch microseconds. Null where it
   * is not known, as with a server, to which other processes write.
   */
  completeUpTo(): string | null;
  /** Those of these transaction ids whose events reads see from now on, as far as this process knows. */
  storedAmong(transactionIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Learns which events other processes have stored up to now. Nothing is read where there is no other process. */
  tail(): Promise<void>;
}

interface FactParts {
  readonly ingest: Pick<Ingest, 'completeUpTo' | 'storedAmong' | 'tail'>;
  readonly keptFrom: EventFacts['keptFrom'];
  /** Whether other processes may store events as well. */
  readonly isShared: boolean;
}

/** The facts of the events that ingest stores, or reads in its tail. */
export function createEventFacts({ ingest, keptFrom, isShared }: FactParts): EventFacts {
  return {
    keptFrom,
    completeUpTo: () => ingest.completeUpTo(),
    storedAmong: (transactionIds) => ingest.storedAmong(transactionIds),
    async tail() {
      if (isShared) await ingest.tail();
    },
  };
}

/** The facts of events that another program stores: only the start of their retention is known. */
export function factsWithoutIngest(keptFrom: EventFacts['keptFrom'] = () => null): EventFacts {
  return {
    keptFrom,
    completeUpTo: () => null,
    storedAmong: async () => new Set(),
    tail: async () => {},
  };
}

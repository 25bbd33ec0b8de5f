/**
 * Which corrections of events are applied, as the readers of events know it (docs/explanation/corrections.md).
 *
 * PostgreSQL has the truth. A process that is the only reader and writer of its events keeps it in memory and changes it
 * with the transactions that it commits. Any other reads it before each statement over events, many statements at a
 * time, so that all processes change over with one commit.
 */
import { createBatcher } from '../../runtime/batcher.ts';

/** A set that was applied. Ticks are ingestion times in epoch microseconds. */
export interface AppliedCorrection {
  /** The application, which its rows in `corrected_events` name. */
  readonly attempt: string;
  readonly appliedTick: number;
  /** Null: it stands. */
  readonly revertedTick: number | null;
}

type CorrectionOutcome = 'committed' | 'rolled back' | 'unknown';

export interface Corrections {
  /** Resolves when `known` has everything that was committed before the call. */
  refresh(): Promise<void>;
  /** In the order of their application. */
  known(): readonly AppliedCorrection[];
  /** The last instant at which a set was applied or reverted; 0 if none was. */
  lastTick(): number;
  /** Readers count up to before `tick` until the change at this instant is decided. */
  hold(tick: number): void;
  /** The transaction of the change has ended. `after`: the sets, if it was committed. */
  decided(tick: number, outcome: CorrectionOutcome, after: readonly AppliedCorrection[]): void;
  /** `upTo`, in epoch microseconds, or an earlier instant, so that no undecided change is before it. */
  below(upTo: string | null): string | null;
  /** Calls `listener` after the sets have changed in this process. */
  onChange(listener: () => void): void;
  close(): Promise<void>;
}

interface Options {
  /** Reads the sets that were ever applied, in the order of their application. */
  read(): Promise<readonly AppliedCorrection[]>;
  /** Whether no other process reads or writes these events. */
  readonly isOnlyReader: boolean;
}

const STATEMENTS_MAX = 10_000;

export function createCorrections({ read, isOnlyReader }: Options): Corrections {
  let sets: readonly AppliedCorrection[] = [];
  let isCurrent = false;
  const held = new Set<number>();
  const listeners: (() => void)[] = [];
  const reads = createBatcher<null, null>({
    name: 'applied corrections',
    sizeMax: STATEMENTS_MAX,
    async work(items) {
      const found = await read();
      // A change of this process that was decided meanwhile is newer.
      if (!isCurrent) {
        held.clear();
        take(found);
      }
      return items.map(() => null);
    },
  });

  function take(found: readonly AppliedCorrection[]): void {
    const isChanged = lastTickOf(found) !== lastTickOf(sets);
    sets = found;
    isCurrent = isOnlyReader;
    if (isChanged) for (const listener of listeners) listener();
  }

  return {
    async refresh() {
      if (!isCurrent) await reads.ask(null);
    },
    known: () => sets,
    lastTick: () => lastTickOf(sets),
    hold: (tick) => held.add(tick),
    decided(tick, outcome, after) {
      if (outcome === 'unknown' || !isOnlyReader) isCurrent = false;
      else if (outcome === 'committed') take(after);
      if (outcome !== 'unknown') held.delete(tick);
    },
    below(upTo) {
      if (upTo === null || held.size === 0) return upTo;
      return String(Math.min(Number(upTo), Math.min(...held) - 1));
    },
    onChange: (listener) => listeners.push(listener),
    close: () => reads.close(),
  };
}

function lastTickOf(sets: readonly AppliedCorrection[]): number {
  return sets.reduce((last, set) => Math.max(last, set.appliedTick, set.revertedTick ?? 0), 0);
}

/** The attempts of the sets that count for a reader of ingestion up to `upTo`; null: of everything. */
export function standingAt(sets: readonly AppliedCorrection[], upTo: number | null): string[] {
  return sets
    .filter(({ appliedTick, revertedTick }) =>
      upTo === null
        ? revertedTick === null
        : appliedTick <= upTo && (revertedTick === null || revertedTick > upTo),
    )
    .map(({ attempt }) => attempt);
}

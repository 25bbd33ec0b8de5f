/** The interface of a kind of job (docs/explanation/jobs.md). */
import type { InTurn } from '../runtime/turns.ts';
import type { SystemChange } from '../store/access/system-changes.ts';
import type { Transaction } from '../store/base/database.ts';
import type { Job } from '../store/jobs/jobs.ts';

export interface JobKind {
  readonly kind: string;
  /** Maximum jobs that are prepared and written together. */
  readonly batchMax: number;
  /**
   * Batches of a step that a runner works on at a time, default: 1. With more, jobs of different subjects may swap places
   * within the step.
   */
  readonly batchesAtOnce?: number;
  /**
   * Reads and computes the input of the jobs, without an open transaction, so it may take long. If it throws, the jobs
   * are prepared one by one. Work that takes much memory, or both cores, is done `inTurn`: one batch at a time, while
   * the input of the next is prepared.
   */
  prepare(batch: readonly Job[], inTurn: InTurn): Promise<PreparedJobs>;
}

/** Both functions receive jobs of the prepared batch, locked and in order. Together they must be short. */
export interface PreparedJobs {
  /** The jobs whose preparation is still valid: everything it was computed from is unchanged. */
  stillValid(tx: Transaction, jobs: readonly Job[]): Promise<readonly Job[]>;
  /**
   * Does the work of jobs that are still valid, at least one, in order, and writes everything through `tx`. If it throws, the
   * transaction is rolled back and the jobs are done one by one.
   */
  write(tx: Transaction, jobs: readonly Job[]): Promise<void>;
  /** The changes of `write`, for the audit log; its rows are written in the same transaction. */
  changes?(): readonly SystemChange[];
  /** Called when the transaction of `write` is committed, to report its changes. It must not fail. */
  committed?(): void;
}

/** A kind whose work needs nothing from outside its transaction, and takes milliseconds. */
export function shortJobKind<Done>({
  run,
  changes,
  committed,
  ...kind
}: Pick<JobKind, 'kind' | 'batchMax'> & {
  run(tx: Transaction, jobs: readonly Job[]): Promise<Done>;
  /** The changes of `run`, given its result, for the audit log. */
  changes?(done: Done): readonly SystemChange[];
  /** Called with the result of `run` when its transaction is committed. It must not fail. */
  committed?(done: Done): void;
}): JobKind {
  return {
    ...kind,
    async prepare() {
      let done: { readonly result: Done } | null = null;
      return {
        stillValid: async (_tx, jobs) => jobs,
        async write(tx, jobs) {
          done = { result: await run(tx, jobs) };
        },
        changes: () => (done === null ? [] : (changes?.(done.result) ?? [])),
        committed() {
          if (done !== null) committed?.(done.result);
        },
      };
    },
  };
}

/**
 * Answers that are written while they are sent: CSV, Parquet, rows of SQL. Each has a page of its rows in memory, which
 * is its share of the budget of all answers; further ones wait for room, and are refused where that takes too long.
 */
import { memoryOfProcess } from '../../core/process-memory.ts';
import { MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import { type BudgetLimits, createMemoryBudget, type MemoryBudget } from './memory-budget.ts';
import { type Pieces, startedStream } from './started-stream.ts';

export interface AnswerLimits extends BudgetLimits {
  /** The share of one answer that is written while it is sent. */
  readonly streamBytes: number;
  /** The share of an answer that is taken more slowly is given to others; it is sent on. */
  readonly answerMs: number;
}

/** Memory of the invoices or hours of a page: as rows, as text, and their input. */
const ANSWER_BYTES = 400 * 1024 * 1024;
/** The memory of the process and its embedded stores without any answer. */
const IDLE_BYTES = 600 * 1024 * 1024;
const OPEN_MAX = 8;

/** By the memory that the process may have, of the machine or its container. */
export function answerLimits(memoryBytes: number = memoryOfProcess()): AnswerLimits {
  const open = Math.max(1, Math.min(OPEN_MAX, Math.floor((memoryBytes - IDLE_BYTES) / ANSWER_BYTES)));
  return {
    bytes: open * ANSWER_BYTES,
    streamBytes: ANSWER_BYTES,
    waiting: 100,
    waitMs: 30 * SECOND_MS,
    answerMs: 10 * MINUTE_MS,
  };
}

export interface AnswerStreams {
  /**
   * Returns the same pieces, once there is room and the first is ready. Refuses (`overloaded`) if there is no room in
   * time, and throws the errors of the first piece. `signal`: the client has disconnected.
   */
  begin<Piece>(pieces: Pieces<Piece>, signal: AbortSignal): Promise<Pieces<Piece>>;
}

export function createAnswerStreams(
  limits: AnswerLimits,
  budget: MemoryBudget = createMemoryBudget(limits),
): AnswerStreams {
  return {
    async begin(pieces, signal) {
      const share = await budget.enter(limits.streamBytes, signal);
      const timeout = setTimeout(() => end(), limits.answerMs).unref();
      const end = () => {
        clearTimeout(timeout);
        signal.removeEventListener('abort', end);
        share.release();
      };
      signal.addEventListener('abort', end);
      try {
        return await startedStream(pieces, end);
      } catch (error) {
        end();
        throw error;
      }
    },
  };
}

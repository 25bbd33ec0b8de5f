/**
 * Answers that are made while they are sent: CSV, Parquet, rows of SQL. Each has a page of its rows in memory, so all of
 * them share a budget of places; further ones wait for one, and are refused where that takes too long.
 */
import { totalmem } from 'node:os';
import { Refusal } from '../../core/errors.ts';
import { MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import { type Pieces, startedStream } from './started-stream.ts';

export interface AnswerLimits {
  readonly open: number;
  readonly waiting: number;
  readonly waitMs: number;
  /** The place of an answer that is taken more slowly is given to others; it is sent on. */
  readonly answerMs: number;
}

/** The invoices or hours of a page, as rows, as text, and what was read for them. */
const ANSWER_BYTES = 400 * 1024 * 1024;
const OPEN_MAX = 8;

/** By the memory that the process may have, of the machine or its container. */
export function answerLimits(memoryBytes: number = memoryOfProcess()): AnswerLimits {
  const open = Math.max(1, Math.min(OPEN_MAX, Math.floor(memoryBytes / ANSWER_BYTES)));
  return { open, waiting: 100, waitMs: 30 * SECOND_MS, answerMs: 10 * MINUTE_MS };
}

function memoryOfProcess(): number {
  const constrained = process.constrainedMemory();
  // Without a constraint it is 0, or more than any machine has.
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

export interface AnswerStreams {
  /**
   * The same pieces, once there is a place and the first is made. Refuses (`overloaded`) where there is none in time,
   * and throws what making the first piece throws. `signal`: the client has gone.
   */
  begin<Piece>(pieces: Pieces<Piece>, signal: AbortSignal): Promise<Pieces<Piece>>;
}

export function createAnswerStreams(limits: AnswerLimits = answerLimits()): AnswerStreams {
  let open = 0;
  const queue: Array<() => void> = [];

  /** Resolves with what gives the place back, once. */
  async function enter(signal: AbortSignal): Promise<() => void> {
    if (open < limits.open) open += 1;
    else await turn(signal);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const next = queue.shift();
      // The place goes on to who waits longest.
      if (next === undefined) open -= 1;
      else next();
    };
  }

  function turn(signal: AbortSignal): Promise<void> {
    if (queue.length >= limits.waiting) throw tooMany();
    return new Promise((resolve, reject) => {
      const settle = (end: () => void) => {
        clearTimeout(timeout);
        signal.removeEventListener('abort', leave);
        end();
      };
      const take = () => settle(resolve);
      const leave = () => {
        queue.splice(queue.indexOf(take), 1);
        settle(() => reject(tooMany()));
      };
      const timeout = setTimeout(leave, limits.waitMs);
      signal.addEventListener('abort', leave);
      queue.push(take);
    });
  }

  return {
    async begin(pieces, signal) {
      const free = await enter(signal);
      const timeout = setTimeout(() => end(), limits.answerMs).unref();
      const end = () => {
        clearTimeout(timeout);
        signal.removeEventListener('abort', end);
        free();
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

function tooMany(): Refusal {
  return new Refusal('overloaded', 'too many long answers are being made, try again later');
}

/**
 * Answers that are built as a whole, JSON and PDF, under the budget of all answers. The size of an answer is known only
 * while it is built. A small one takes nothing and waits for nothing. A growing one takes its share as it grows; if
 * there is no room, its work ends, so that it holds neither memory nor connections while it waits, and starts again
 * from the beginning with a larger share. An answer that has all of the budget is alone; one that needs far more is
 * refused.
 */

import { Refusal } from '../../core/errors.ts';
import { MINUTE_MS } from '../../core/time.ts';
import { countedBy, type MemoryCounter } from '../../runtime/answer-memory.ts';
import type { Answer } from './exchange.ts';
import { type MemoryBudget, type MemoryShare, tooMany } from './memory-budget.ts';
import { startedStream } from './started-stream.ts';

/** The memory that an answer may take beside the budget. */
const SMALL_BYTES = 8 * 1024 * 1024;
/** Shares grow in steps. */
const STEP_BYTES = 16 * 1024 * 1024;
/** Share of an answer that starts again, relative to the memory that it had reached. */
const NEXT_SHARE = 4;
/** Counted bytes exceed the bytes in memory at one time: one answer may be counted up to this many times the budget. */
const BUDGETS_MAX = 2;
/** Handed to the connection at a time. */
const PIECE_BYTES = 256 * 1024;
/** The share of an answer that is taken more slowly is given to others; it is sent on. */
const SENDING_MS_MAX = 10 * MINUTE_MS;

export interface CountedAnswer {
  readonly answer: Answer;
  /** Null for a small one, whatever memory it used. It holds the share of the answer until it is released. */
  readonly share: MemoryShare | null;
}

/** Builds the answer, again from the beginning if it did not find room: only for operations that read. */
export async function countedAnswer(
  budget: MemoryBudget,
  signal: AbortSignal,
  make: () => Promise<Answer>,
): Promise<CountedAnswer> {
  let bytes = 0;
  for (;;) {
    const share = bytes === 0 ? budget.empty() : await budget.enter(bytes, signal);
    const counter = new Counter(budget, share);
    const answer = await madeWithin(counter, make).catch((error: unknown) => {
      share.release();
      throw error;
    });
    if (answer !== null) return withItsShare(answer, share);
    share.release();
    bytes = Math.max(bytes + STEP_BYTES, counter.bytes * NEXT_SHARE);
  }
}

/** Null: there was no room. A failure for lack of room may look like another failure, so the counter decides. */
async function madeWithin(counter: Counter, make: () => Promise<Answer>): Promise<Answer | null> {
  try {
    const answer = await countedBy(counter, make);
    if (counter.isTooLarge) throw tooLarge();
    return counter.isExceeded ? null : answer;
  } catch (error) {
    if (counter.isTooLarge) throw tooLarge();
    if (counter.isExceeded) return null;
    throw error;
  } finally {
    counter.close();
  }
}

function withItsShare(answer: Answer, share: MemoryShare): CountedAnswer {
  const { body } = answer;
  const isWhole = typeof body === 'string' || body instanceof Uint8Array;
  if (share.bytes() === 0 || !isWhole || body.length <= SMALL_BYTES) {
    share.release();
    return { answer, share: null };
  }
  // The memory that it used is garbage now.
  share.shrink(body.length);
  return { answer, share };
}

class Counter implements MemoryCounter {
  readonly #budget: MemoryBudget;
  readonly #share: MemoryShare;
  bytes = 0;
  isExceeded = false;
  /** Not even all of the budget is enough. */
  isTooLarge = false;
  #isClosed = false;

  constructor(budget: MemoryBudget, share: MemoryShare) {
    this.#budget = budget;
    this.#share = share;
  }

  /** Timers that the work has started, such as that of a look at damaged parts, continue in its name. */
  close(): void {
    this.#isClosed = true;
  }

  add(bytes: number): void {
    if (this.#isClosed) return;
    this.bytes += bytes;
    const held = this.#share.bytes();
    if (this.isExceeded) throw tooMany(this.#budget);
    this.isTooLarge ||= this.bytes > Math.max(SMALL_BYTES, this.#budget.bytes * BUDGETS_MAX);
    if (this.isTooLarge) throw tooLarge();
    if (this.bytes <= Math.max(held, SMALL_BYTES) || held >= this.#budget.bytes) return;
    const more = Math.ceil((this.bytes - held) / STEP_BYTES) * STEP_BYTES;
    if (this.#share.grow(Math.min(more, this.#budget.bytes - held))) return;
    this.isExceeded = true;
    throw tooMany(this.#budget);
  }
}

function tooLarge(): Refusal {
  return new Refusal(
    'invalid',
    'this answer is larger than the memory of the service allows: ask for fewer items (limit), for less time, or, where the operation has it, for Accept: text/csv',
  );
}

/** Returns the answer in pieces. Its share is released as soon as it has been sent or the client has disconnected. */
export async function sentInPieces(
  { answer, share }: CountedAnswer,
  signal: AbortSignal,
  isSent: boolean,
): Promise<Answer> {
  const { body } = answer;
  if (share === null || body === null || !(typeof body === 'string' || body instanceof Uint8Array))
    return answer;
  if (!isSent || signal.aborted) {
    share.release();
    return answer;
  }
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const release = () => {
    clearTimeout(timeout);
    signal.removeEventListener('abort', release);
    share.release();
  };
  const timeout = setTimeout(release, SENDING_MS_MAX).unref();
  signal.addEventListener('abort', release);
  const headers = { ...answer.headers, 'content-length': String(bytes.length) };
  return { ...answer, body: await startedStream(piecesOf(bytes), release), headers };
}

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

/**
 * Streams answers to queries. Memory holds a few pieces of each, however long it is: the query proceeds as fast as its
 * answer is read. An answer that is not read is cancelled.
 */
import { PassThrough, type Writable } from 'node:stream';
import { Refusal } from '../../core/errors.ts';
import { shuttingDown } from './connection-pool.ts';

/** A reader that takes no piece for this time is treated as gone. */
const IDLE_MS_MAX = 60_000;
/** The maximum duration for a slow reader. */
const ANSWER_MS_MAX = 600_000;
/** Buffered pieces of an answer: up to a megabyte each. */
const PIECES_WAITING_MAX = 4;
/** Each may be a file of some hundred megabytes. */
const OPEN_MAX = 8;

interface StreamLimits {
  readonly idleMs: number;
  readonly answerMs: number;
  readonly open: number;
}

const LIMITS: StreamLimits = { idleMs: IDLE_MS_MAX, answerMs: ANSWER_MS_MAX, open: OPEN_MAX };

export interface StreamedAnswers {
  /**
   * The bytes that `write` writes. It is called on the first read, and its stream is destroyed if the reader stops
   * before the end, so that it cancels the query. Throws the error of `write`; refuses if too many answers are open.
   * `signal`: aborted when the reader has gone.
   */
  read(
    write: (to: Writable) => Promise<void>,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Buffer, void, undefined>;
  /** Cancels all open answers. Their readers get an error. */
  end(): void;
}

export function createStreamedAnswers({ idleMs, answerMs, open: openMax } = LIMITS): StreamedAnswers {
  const open = new Set<PassThrough>();
  return {
    async *read(write, signal) {
      if (open.size >= openMax)
        throw new Refusal('overloaded', 'too many answers are being sent, try again later');
      // Pieces are kept separate: joining them would copy each once more.
      const pipe = new PassThrough({ readableObjectMode: true, readableHighWaterMark: PIECES_WAITING_MAX });
      open.add(pipe);
      const endAfter = (ms: number, problem: string) =>
        setTimeout(() => pipe.destroy(new Error(problem)), ms);
      const whole = endAfter(answerMs, `an answer was not taken within ${answerMs / 1_000} s`);
      const leave = () => pipe.destroy(new Refusal('invalid', 'the connection was closed'));
      signal?.addEventListener('abort', leave);
      if (signal?.aborted === true) leave();
      // Its failure reaches the reader through the stream, after pieces that were written before.
      const written = write(pipe).catch((error: unknown) => {
        pipe.destroy(error instanceof Error ? error : new Error(String(error)));
      });
      try {
        for await (const piece of pipe) {
          const idle = endAfter(idleMs, `nothing of an answer was taken for ${idleMs / 1_000} s`);
          try {
            yield piece;
          } finally {
            clearTimeout(idle);
          }
        }
      } finally {
        clearTimeout(whole);
        signal?.removeEventListener('abort', leave);
        pipe.destroy();
        await written;
        open.delete(pipe);
      }
    },
    end() {
      for (const pipe of open) pipe.destroy(shuttingDown());
    },
  };
}

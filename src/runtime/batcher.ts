/**
 * Batches work for many callers: requests during a batch wait for the next one, so that each answer reflects everything
 * that was answered before its question.
 */
import { AsyncResource } from 'node:async_hooks';

export interface BatcherOptions<Item, Answer> {
  /** Answers the items of a batch, in their order. If it rejects, all items of the batch reject. */
  work(items: readonly Item[]): Promise<readonly Answer[]>;
  /** The maximum batch, in the unit of `sizeOf`. An item that exceeds it is a batch by itself. */
  readonly sizeMax: number;
  /** 1 unless given. */
  readonly sizeOf?: (item: Item) => number;
}

export interface Batcher<Item, Answer> {
  /** Never throws; rejects with the error of `work`. */
  ask(item: Item): Promise<Answer>;
  figures(): BatcherFigures;
  /** Resolves when everything asked so far is answered. */
  close(): Promise<void>;
}

interface BatcherFigures {
  /** The size of all items that wait for a batch. */
  readonly waiting: number;
  readonly batches: number;
}

interface Waiting<Item, Answer> {
  readonly item: Item;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

export function createBatcher<Item, Answer>({
  work,
  sizeMax,
  sizeOf = () => 1,
}: BatcherOptions<Item, Answer>): Batcher<Item, Answer> {
  let queue: Waiting<Item, Answer>[] = [];
  let waiting = 0;
  let batches = 0;
  let running: Promise<void> | null = null;
  // A batch belongs to no single request.
  const own = new AsyncResource('batcher');

  function takeBatch(): readonly Waiting<Item, Answer>[] {
    let size = 0;
    let count = 0;
    for (const { item } of queue) {
      if (count > 0 && size + sizeOf(item) > sizeMax) break;
      size += sizeOf(item);
      count += 1;
    }
    const batch = queue.slice(0, count);
    queue = queue.slice(count);
    waiting -= size;
    return batch;
  }

  async function answer(batch: readonly Waiting<Item, Answer>[]): Promise<void> {
    batches += 1;
    try {
      const answers = await work(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(answers[index] as Answer);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  async function answerAll(): Promise<void> {
    // Requests that are being read at this moment join the batch.
    await new Promise((resolve) => setImmediate(resolve));
    while (queue.length > 0) await answer(takeBatch());
    running = null;
  }

  return {
    ask: (item) =>
      new Promise((resolve, reject) => {
        queue.push({ item, resolve, reject });
        waiting += sizeOf(item);
        running ??= own.runInAsyncScope(answerAll);
      }),
    figures: () => ({ waiting, batches }),
    async close() {
      await running;
    },
  };
}

/**
 * Batches work for many callers: requests during a batch wait for the next one, so that each answer reflects everything
 * that was answered before its question.
 */
import { AsyncResource } from 'node:async_hooks';
import { createFigures } from './figures.ts';

export interface BatcherOptions<Item, Answer> {
  /** In the list of mechanisms. */
  readonly name: string;
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
  /** `runs`: batches. `waiting`: the size of all items that wait for one. */
  figures(): Readonly<Record<'runs' | 'failures' | 'waiting', number>>;
  /** Resolves when everything asked so far is answered. */
  close(): Promise<void>;
}

interface Waiting<Item, Answer> {
  readonly item: Item;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

export function createBatcher<Item, Answer>({
  name,
  work,
  sizeMax,
  sizeOf = () => 1,
}: BatcherOptions<Item, Answer>): Batcher<Item, Answer> {
  let queue: Waiting<Item, Answer>[] = [];
  const figures = createFigures('batcher', name, ['runs', 'failures', 'waiting']);
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
    figures.add('waiting', -size);
    return batch;
  }

  async function answer(batch: readonly Waiting<Item, Answer>[]): Promise<void> {
    figures.add('runs');
    try {
      const answers = await work(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(answers[index] as Answer);
    } catch (error) {
      figures.add('failures');
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
        figures.add('waiting', sizeOf(item));
        running ??= own.runInAsyncScope(answerAll);
      }),
    figures: figures.read,
    async close() {
      await running;
    },
  };
}

/**
 * Reads for many requests together: those that come while a statement is on its way share the next one, so that each sees
 * all changes that were answered before it.
 */
import { AsyncResource } from 'node:async_hooks';

const GROUP_MAX = 500;

interface Waiting<Key, Answer> {
  readonly key: Key;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

/** `readGroup` answers for each of its keys. */
export function createGroupedReads<Key, Answer>(
  readGroup: (keys: readonly Key[]) => Promise<(key: Key) => Answer>,
): (key: Key) => Promise<Answer> {
  const waiting: Waiting<Key, Answer>[] = [];
  let isReading = false;
  // A group of reads belongs to no single request.
  const own = new AsyncResource('grouped reads');

  async function readAll(): Promise<void> {
    if (isReading) return;
    isReading = true;
    while (waiting.length > 0) await answerGroup(waiting.splice(0, GROUP_MAX));
    isReading = false;
  }

  async function answerGroup(group: readonly Waiting<Key, Answer>[]): Promise<void> {
    try {
      const answerTo = await readGroup(group.map(({ key }) => key));
      for (const { key, resolve } of group) resolve(answerTo(key));
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }

  return (key) =>
    new Promise((resolve, reject) => {
      waiting.push({ key, resolve, reject });
      own.runInAsyncScope(() => setImmediate(() => void readAll()));
    });
}

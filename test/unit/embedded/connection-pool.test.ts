import { describe, expect, test } from 'vitest';
import { createConnectionPool } from '../../../src/embedded/connection-pool.ts';

/** A piece of work that ends when told to. */
function work() {
  let finish = () => {};
  const done = new Promise<void>((resolve) => {
    finish = resolve;
  });
  return { done, finish };
}

describe('a connection pool', () => {
  test('never lends a connection to two users at once and serves them in order', async () => {
    const pool = createConnectionPool(['a', 'b']);
    const users: string[] = [];
    const works = [work(), work(), work(), work()];
    const all = works.map((each, index) =>
      pool.withConnection(async (connection) => {
        users.push(`${index}${connection}`);
        await each.done;
      }),
    );
    const started = async (count: number) => await expect.poll(() => users.length).toBe(count);
    await started(2);
    expect(users.map((user) => user[0])).toEqual(['0', '1']);
    expect(new Set(users.map((user) => user[1])).size).toBe(2);
    works[1]?.finish();
    await started(3);
    expect(users[2]).toBe(`2${users[1]?.[1]}`);
    works[0]?.finish();
    await started(4);
    expect(users[3]).toBe(`3${users[0]?.[1]}`);
    for (const each of works) each.finish();
    await Promise.all(all);
  });

  test('gets a connection back from a user who fails', async () => {
    const pool = createConnectionPool(['only']);
    await expect(pool.withConnection(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await expect(pool.withConnection(async (connection) => connection)).resolves.toBe('only');
  });

  test('finishes running and waiting work before it is drained, and takes no more', async () => {
    const pool = createConnectionPool(['only']);
    const first = work();
    const finished: string[] = [];
    const running = pool.withConnection(() => first.done.then(() => finished.push('running')));
    const waiting = pool.withConnection(async () => finished.push('waiting'));
    const drained = pool.drain().then(() => finished.push('drained'));
    await expect(pool.withConnection(async () => {})).rejects.toMatchObject({ kind: 'unavailable' });
    first.finish();
    await Promise.all([running, waiting, drained]);
    expect(finished).toEqual(['running', 'waiting', 'drained']);
  });

  test('refuses as overloaded instead of queueing without limit', async () => {
    const pool = createConnectionPool(['only']);
    const blocker = work();
    const accepted = Array.from({ length: 1_001 }, () => pool.withConnection(() => blocker.done));
    await expect(pool.withConnection(async () => {})).rejects.toMatchObject({ kind: 'overloaded' });
    blocker.finish();
    await Promise.all(accepted);
  });
});

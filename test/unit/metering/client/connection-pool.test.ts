import { describe, expect, test } from 'vitest';
import { createConnectionPool } from '../../../../src/metering/client/connection-pool.ts';

/** A piece of work that ends when asked to. */
function work() {
  let finish = () => {};
  const done = new Promise<void>((resolve) => {
    finish = resolve;
  });
  return { done, finish };
}

describe('a connection pool', () => {
  test('a connection pool never lends a connection to two users at once and serves them in order', async () => {
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

  test('a connection pool gets a connection back from a user who fails', async () => {
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

  test('a connection pool refuses as overloaded instead of queueing without limit', async () => {
    const pool = createConnectionPool(['only']);
    const blocker = work();
    const accepted = Array.from({ length: 1_001 }, () => pool.withConnection(() => blocker.done));
    await expect(pool.withConnection(async () => {})).rejects.toMatchObject({ kind: 'overloaded' });
    blocker.finish();
    await Promise.all(accepted);
  });

  test('a connection pool lets the work of one customer wait for itself, while others take the free connections', async () => {
    const pool = createConnectionPool(['a', 'b', 'c'], { customerMax: 1 });
    const blocker = work();
    const slow = Array.from({ length: 3 }, () => pool.withConnection(() => blocker.done, 'slow'));
    await pool.withConnection(async () => {}, 'quick');
    await pool.withConnection(async () => {});
    expect(pool.figures()).toEqual({ running: 1, waiting: 2 });
    blocker.finish();
    await Promise.all(slow);
    expect(pool.figures()).toEqual({ running: 0, waiting: 0 });
  });

  test('lends one customer more than its share only while enough connections are free for others', async () => {
    const pool = createConnectionPool(['a', 'b', 'c', 'd'], { customerMax: 1, freeBeyondShare: 2 });
    const blocker = work();
    const busy = Array.from({ length: 4 }, () => pool.withConnection(() => blocker.done, 'busy'));
    expect(pool.figures()).toEqual({ running: 2, waiting: 2 });
    const other = work();
    const others = ['one', 'two'].map((customer) => pool.withConnection(() => other.done, customer));
    expect(pool.figures()).toEqual({ running: 4, waiting: 2 });
    other.finish();
    await Promise.all(others);
    expect(pool.figures()).toEqual({ running: 2, waiting: 2 });
    blocker.finish();
    await Promise.all(busy);
    expect(pool.figures()).toEqual({ running: 0, waiting: 0 });
  });

  test('serves everyone who has room when a connection is returned, in the order of their arrival', async () => {
    const pool = createConnectionPool(['a', 'b', 'c', 'd'], { customerMax: 1, freeBeyondShare: 2 });
    const works = new Map<string, ReturnType<typeof work>>();
    const running: string[] = [];
    const start = (name: string, customer: string) => {
      const own = work();
      works.set(name, own);
      return pool.withConnection(async () => {
        running.push(name);
        await own.done;
      }, customer);
    };
    const all = [
      ...['x1', 'x2'].map((name) => start(name, 'x')),
      ...['y1', 'y2'].map((name) => start(name, 'y')),
      start('x3', 'x'),
    ];
    await expect.poll(() => running).toEqual(['x1', 'x2', 'y1']);
    // Two are free, which are kept for others.
    works.get('x1')?.finish();
    await expect.poll(() => pool.figures()).toEqual({ running: 2, waiting: 2 });
    // A third one is free: y takes it beyond its share, and x has none of its share left.
    works.get('x2')?.finish();
    await expect.poll(() => running).toEqual(['x1', 'x2', 'y1', 'y2', 'x3']);
    for (const each of works.values()) each.finish();
    await Promise.all(all);
    expect(pool.figures()).toEqual({ running: 0, waiting: 0 });
  });

  test('a connection pool leaves room to wait for others when one customer has many queries waiting', async () => {
    const pool = createConnectionPool(['only'], { waitingMax: 4 });
    const blocker = work();
    const use = () => blocker.done;
    const slow = Array.from({ length: 3 }, () => pool.withConnection(use, 'slow'));
    await expect(pool.withConnection(use, 'slow')).rejects.toMatchObject({ kind: 'overloaded' });
    const others = ['one', 'two'].map((customer) => pool.withConnection(use, customer));
    await expect(pool.withConnection(use, 'three')).rejects.toMatchObject({ kind: 'overloaded' });
    blocker.finish();
    await Promise.all([...slow, ...others]);
  });

  test('a connection pool refuses all who wait when it is asked to, and finishes what runs', async () => {
    const pool = createConnectionPool(['only']);
    const blocker = work();
    const running = pool.withConnection(() => blocker.done.then(() => 'done'));
    const waiting = pool.withConnection(async () => {});
    pool.refuse();
    await expect(waiting).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(pool.withConnection(async () => {})).rejects.toMatchObject({ kind: 'unavailable' });
    const drained = Promise.all([pool.drain(), pool.drain()]);
    blocker.finish();
    expect(await running).toBe('done');
    expect(await drained).toEqual([undefined, undefined]);
  });
});

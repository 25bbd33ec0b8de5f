import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Refusal } from '../../../../src/core/errors.ts';
import {
  createBatchWriter,
  PACE_OF_INSERTS,
  type RowsToWrite,
} from '../../../../src/metering/ingest/batch-writer.ts';

/** A store whose inserts end when the test says so. */
function createStore() {
  const inserts: { text: string; succeed: () => void; fail: (reason: Error) => void }[] = [];
  const insert = (rows: Buffer) =>
    new Promise<void>((resolve, reject) => {
      inserts.push({ text: rows.toString(), succeed: resolve, fail: reject });
    });
  return { inserts, insert };
}

function rows(text: string, count = 1): RowsToWrite {
  return {
    count,
    bytesMax: text.length * 3,
    write: (buffer, offset) => offset + buffer.write(text, offset),
  };
}

const nothing = () => {};

function createWriter() {
  const store = createStore();
  const failures: unknown[] = [];
  const writer = createBatchWriter({
    pace: PACE_OF_INSERTS,
    insert: store.insert,
    onFailure: (error) => failures.push(error),
  });
  return { ...store, failures, writer };
}

function stateOf(promise: Promise<void>): { value: string } {
  const state = { value: 'waiting' };
  promise.then(
    () => {
      state.value = 'durable';
    },
    (error: unknown) => {
      state.value = error instanceof Refusal ? error.kind : 'broken';
    },
  );
  return state;
}

describe('group commit', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  const settle = () => vi.advanceTimersByTimeAsync(100);

  it('group commit writes the rows of several requests with one insert, in order, and answers them together', async () => {
    const { writer, inserts } = createWriter();
    const first = stateOf(writer.append(rows('a\n'), nothing));
    const second = stateOf(writer.append(rows('b\nc\n', 2), nothing));
    await settle();
    expect(inserts.map(({ text }) => text)).toEqual(['a\nb\nc\n']);
    expect([first.value, second.value]).toEqual(['waiting', 'waiting']);
    inserts[0]?.succeed();
    await settle();
    expect([first.value, second.value]).toEqual(['durable', 'durable']);
  });

  it('group commit fills the next batch while one is being written, and starts it only after that', async () => {
    const { writer, inserts } = createWriter();
    const first = stateOf(writer.append(rows('a\n'), nothing));
    await settle();
    const second = stateOf(writer.append(rows('b\n'), nothing));
    await settle();
    expect(inserts).toHaveLength(1);
    inserts[0]?.succeed();
    await settle();
    expect([first.value, second.value, inserts[1]?.text]).toEqual(['durable', 'waiting', 'b\n']);
    inserts[1]?.succeed();
    await settle();
    expect(second.value).toBe('durable');
  });

  it('group commit does not touch the bytes of a batch while it is being written', async () => {
    const written: Buffer[] = [];
    const ends: (() => void)[] = [];
    const writer = createBatchWriter({
      pace: PACE_OF_INSERTS,
      insert: (buffer) => {
        written.push(buffer);
        return new Promise((resolve) => {
          ends.push(resolve);
        });
      },
      onFailure: nothing,
    });
    for (const [i, text] of ['first\n', 'second\n', 'third\n'].entries()) {
      void writer.append(rows(text), nothing);
      await settle();
      void writer.append(rows(`${i}\n`), nothing);
      expect(written.at(-1)?.toString()).toContain(text);
      ends.at(-1)?.();
      await settle();
      ends.at(-1)?.();
      await settle();
    }
  });

  it('group commit fails every request of a failed batch after releasing its rows, and continues with the next batch', async () => {
    const { writer, inserts, failures } = createWriter();
    const order: string[] = [];
    const first = stateOf(writer.append(rows('a\n'), () => order.push('released a')));
    const second = stateOf(writer.append(rows('b\n'), () => order.push('released b')));
    await settle();
    const third = stateOf(writer.append(rows('c\n'), () => order.push('released c')));
    const reason = new Error('the disk is full');
    inserts[0]?.fail(reason);
    await settle();
    expect([first.value, second.value, third.value]).toEqual(['unavailable', 'unavailable', 'waiting']);
    expect(order).toEqual(['released a', 'released b']);
    expect(failures).toEqual([reason]);
    inserts[1]?.succeed();
    await settle();
    expect(third.value).toBe('durable');
    expect(writer.stats()).toEqual({ waitingRows: 0, waitingBytes: 0, batches: 2, failedBatches: 1 });
  });

  it('group commit is settled at once when nothing waits', async () => {
    const { writer, inserts } = createWriter();
    const settled = stateOf(writer.drained());
    await settle();
    expect(settled.value).toBe('durable');
    expect(inserts).toEqual([]);
  });

  it('settles when everything appended before is on disk, the batch being written and the open one', async () => {
    const { writer, inserts } = createWriter();
    void writer.append(rows('a\n'), nothing);
    await settle();
    void writer.append(rows('b\n'), nothing);
    const settled = stateOf(writer.drained());
    inserts[0]?.succeed();
    await settle();
    expect(settled.value).toBe('waiting');
    inserts[1]?.succeed();
    await settle();
    expect(settled.value).toBe('durable');
  });

  it('group commit does not settle as durable when the batch being written fails', async () => {
    const { writer, inserts } = createWriter();
    void writer.append(rows('a\n'), nothing);
    await settle();
    const settled = stateOf(writer.drained());
    inserts[0]?.fail(new Error('no'));
    await settle();
    expect(settled.value).toBe('unavailable');
  });

  it('group commit refuses as overloaded when a full batch waits for a slow insert, and accepts again afterwards', async () => {
    const { writer, inserts } = createWriter();
    void writer.append(rows('a\n'), nothing);
    await settle();
    void writer.append(rows('many\n', 100_000), nothing);
    expect(() => writer.checkRoom()).toThrow(expect.objectContaining({ kind: 'overloaded' }));
    inserts[0]?.succeed();
    await settle();
    expect(() => writer.checkRoom()).not.toThrow();
  });

  it('group commit refuses as overloaded when 32 MB wait', async () => {
    const { writer } = createWriter();
    void writer.append(rows('a\n'), nothing);
    await settle();
    const megabyte = 'x'.repeat(1024 * 1024);
    for (let i = 0; i < 31; i += 1) void writer.append(rows(megabyte), nothing);
    expect(() => writer.checkRoom()).not.toThrow();
    void writer.append(rows(megabyte), nothing);
    expect(() => writer.checkRoom()).toThrow(expect.objectContaining({ kind: 'overloaded' }));
  });

  it('group commit writes a large batch at once and lets a small one wait for company for milliseconds only', async () => {
    const { writer, inserts } = createWriter();
    void writer.append(rows('small\n'), nothing);
    expect(inserts).toHaveLength(0);
    void writer.append(rows('large\n', 10_000), nothing);
    expect(inserts).toHaveLength(1);
    inserts[0]?.succeed();
    await settle();
    void writer.append(rows('small\n'), nothing);
    await vi.advanceTimersByTimeAsync(2);
    expect(inserts).toHaveLength(2);
  });

  it('group commit writes and answers the rest when it is closed, and refuses later rows', async () => {
    const { writer, inserts } = createWriter();
    const first = stateOf(writer.append(rows('a\n'), nothing));
    await settle();
    const second = stateOf(writer.append(rows('b\n'), nothing));
    const closed = stateOf(writer.close());
    expect(() => writer.checkRoom()).toThrow(expect.objectContaining({ kind: 'unavailable' }));
    inserts[0]?.succeed();
    await settle();
    expect([first.value, second.value, closed.value]).toEqual(['durable', 'waiting', 'waiting']);
    inserts[1]?.succeed();
    await settle();
    expect([second.value, closed.value]).toEqual(['durable', 'durable']);
  });
});

import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { writeFileAtOnce, writeWhole } from '../../../src/embedded/write-whole.ts';
import { createTestDirectory } from '../../support/stores.ts';

const BYTES = Buffer.from(Array.from({ length: 10_000 }, (_, i) => (i * 7919) % 251));

/** A real file of which a call writes so many bytes at most, as on a disk that is nearly full; in all `room`. */
async function takesAtMost(path: string, most: number, room = Number.POSITIVE_INFINITY) {
  const file = await open(path, 'w');
  const calls: number[] = [];
  let left = room;
  const { writev } = file;
  const limited = (bytes: Buffer) => bytes.subarray(0, Math.min(most, left));
  const done = <Written extends { bytesWritten: number }>(written: Written) => {
    calls.push(written.bytesWritten);
    left -= written.bytesWritten;
    return written;
  };
  Object.assign(file, {
    writev: async (parts: readonly Buffer[], offset: number) =>
      done(await writev.call(file, [limited(Buffer.concat(parts))], offset)),
    write: async (bytes: Buffer, from: number, length: number, at: number) => {
      const part = limited(bytes.subarray(from, from + length));
      return part.length === 0
        ? { bytesWritten: 0, buffer: bytes }
        : done(await writev.call(file, [part], at));
    },
  });
  return { file, calls };
}

describe('bytes that are written as a whole', () => {
  test('a file that is written at once has exactly its bytes, whatever was there', async () => {
    const path = join(await createTestDirectory(), 'rows');
    await writeFileAtOnce(path, Buffer.concat([BYTES, BYTES]));
    await writeFileAtOnce(path, BYTES);
    expect(await readFile(path)).toEqual(BYTES);
    await writeFileAtOnce(path, Buffer.alloc(0));
    expect(await readFile(path)).toEqual(Buffer.alloc(0));
  });

  test('bytes of which the disk takes a part at a time are all written, in their places', async () => {
    const path = join(await createTestDirectory(), 'rows');
    const { file, calls } = await takesAtMost(path, 3_000);
    await writeWhole(file, [BYTES.subarray(0, 2_500), BYTES.subarray(2_500)], 0);
    await file.close();
    expect(calls).toEqual([3_000, 3_000, 3_000, 1_000]);
    expect(await readFile(path)).toEqual(BYTES);
  });

  test('bytes for which the disk has no room are a failure, not a shorter file', async () => {
    const { file } = await takesAtMost(join(await createTestDirectory(), 'rows'), 3_000, 7_000);
    await expect(writeWhole(file, [BYTES], 0)).rejects.toThrow('takes no more bytes');
    await file.close();
  });
});

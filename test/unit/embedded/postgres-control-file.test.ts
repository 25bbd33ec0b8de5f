import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isWholeControlFile } from '../../../src/embedded/postgres-control-file.ts';
import { createTestDirectory } from '../../support/stores.ts';

describe('the control file of PostgreSQL', () => {
  it('the control file of PostgreSQL is whole with the checksum of its data, and with no bit changed in what counts', async () => {
    const path = join(await createTestDirectory(), 'pg_control');
    const whole = controlFile();
    await writeFile(path, whole);
    expect(await isWholeControlFile(path)).toBe(true);
    const bits = fc.integer({ min: 0, max: (DATA_BYTES + 4) * 8 - 1 });
    await fc.assert(
      fc.asyncProperty(bits, async (bit) => {
        const changed = Buffer.from(whole);
        changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
        await writeFile(path, changed);
        expect(await isWholeControlFile(path)).toBe(false);
      }),
    );
  });

  it.each([
    ['emptied', Buffer.alloc(0)],
    ['of zeros', Buffer.alloc(8_192)],
    ['cut', controlFile().subarray(0, 4_096)],
    ['with something behind its data', Buffer.concat([controlFile().subarray(0, 8_191), Buffer.from([1])])],
  ])('the control file of PostgreSQL is not whole where it is %s', async (_, content) => {
    const path = join(await createTestDirectory(), 'pg_control');
    await writeFile(path, content);
    expect(await isWholeControlFile(path)).toBe(false);
  });
});

const DATA_BYTES = 288;

/** The check value of CRC-32C for the text 123456789 is 0xE3069283; the rest is shifted in byte by byte. */
function controlFile(): Buffer {
  const file = Buffer.alloc(8_192);
  for (let at = 0; at < DATA_BYTES; at += 1) file.writeUInt8((at * 37 + 11) % 256, at);
  file.writeUInt32LE(crc32c(file.subarray(0, DATA_BYTES)), DATA_BYTES);
  return file;
}

function crc32c(data: Uint8Array): number {
  let rest = 0xffff_ffffn;
  for (const byte of data) {
    rest ^= BigInt(byte);
    for (let bit = 0; bit < 8; bit += 1) rest = (rest >> 1n) ^ ((rest & 1n) * 0x82f6_3b78n);
  }
  return Number(rest ^ 0xffff_ffffn);
}

it('the checksum of these tests is CRC-32C', () => {
  expect(crc32c(Buffer.from('123456789'))).toBe(0xe306_9283);
});

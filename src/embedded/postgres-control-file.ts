/** Distinguishes a valid control file of PostgreSQL from a damaged one. */
import { readFile } from 'node:fs/promises';

/**
 * PostgreSQL writes the file with a fixed size, with zeros after the data; the data end with their checksum (CRC-32C).
 */
const FILE_BYTES = 8_192;
/** The data of all versions are between these sizes, so the position of the checksum need not be known. */
const DATA_BYTES_MIN = 128;
const DATA_BYTES_MAX = 512;

/** The polynomial of Castagnoli, with its bits in reverse. */
const POLYNOMIAL = 0x82f63b78;

/** Whether the file is as written by a server: with its size, the right checksum, and zeros after it. */
export async function isWholeControlFile(path: string): Promise<boolean> {
  const file = await readFile(path).catch(() => null);
  if (file === null || file.length !== FILE_BYTES) return false;
  let crc = 0xffff_ffff;
  for (let at = 0; at < DATA_BYTES_MAX; at += 1) {
    const isPlace = at >= DATA_BYTES_MIN && at % 4 === 0;
    if (isPlace && file.readUInt32LE(at) === ~crc >>> 0 && isEmpty(file.subarray(at + 8))) return true;
    crc = withByte(crc, file.readUInt8(at));
  }
  return false;
}

function withByte(crc: number, byte: number): number {
  let next = crc ^ byte;
  for (let bit = 0; bit < 8; bit += 1) next = (next & 1) === 1 ? (next >>> 1) ^ POLYNOMIAL : next >>> 1;
  return next >>> 0;
}

/** After the checksum the compiler may have left some bytes of padding, which are ignored. */
function isEmpty(rest: Uint8Array): boolean {
  return rest.every((byte) => byte === 0);
}

/**
 * The positions up to which the log is acknowledged, and up to which ClickHouse has it: a small file beside the
 * directory of the log, so that a log which was removed, emptied, cut or replaced is detected.
 *
 * It is written before each acknowledgement, and synced with each block stored in ClickHouse. So after `kill -9` it is
 * exact, and after a power cut at most about a second old, which only means that less is detected. Two slots are
 * written alternately: if one is damaged, the other is valid.
 */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { codeOf } from '../../core/failures.ts';

/** Numbers of records, and the number of rows up to each. */
export interface LogPosition {
  /** The last record that was acknowledged. */
  readonly acknowledged: number;
  readonly acknowledgedRows: number;
  /** ClickHouse has every record up to this one. */
  readonly stored: number;
  readonly storedRows: number;
}

export const START: LogPosition = { acknowledged: 0, acknowledgedRows: 0, stored: 0, storedRows: 0 };

const MAGIC = 0x31_50_4c_54;
const PLACE_BYTES = 512;
const PLACES = 2;
const CHECKSUM_AT = 48;

interface Place {
  /** Counts the writes. */
  readonly turn: number;
  readonly position: LogPosition;
}

/** Null if there is no such file, `damaged` if neither slot can be read. */
export async function readPosition(path: string): Promise<LogPosition | null | 'damaged'> {
  const place = await readPlace(path);
  return place === null || place === 'damaged' ? place : place.position;
}

async function readPlace(path: string): Promise<Place | null | 'damaged'> {
  const bytes = Buffer.alloc(PLACES * PLACE_BYTES);
  try {
    const file = await open(path, 'r');
    await file.read(bytes, 0, bytes.length, 0).finally(() => file.close());
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    if (codeOf(error) === 'EIO' || codeOf(error) === 'EISDIR') return 'damaged';
    throw error;
  }
  const places = [decode(bytes.subarray(0, PLACE_BYTES)), decode(bytes.subarray(PLACE_BYTES))];
  const whole = places.filter((place) => place !== null).sort((a, b) => b.turn - a.turn);
  return whole[0] ?? 'damaged';
}

export class PositionFile {
  readonly #file: FileHandle;
  #turn: number;

  private constructor(file: FileHandle, turn: number) {
    this.#file = file;
    this.#turn = turn;
  }

  /** Opens or creates the file, with this position on disk. */
  static async open(path: string, position: LogPosition): Promise<PositionFile> {
    const before = await readPlace(path);
    const file = await open(path, constants.O_RDWR | constants.O_CREAT, 0o600);
    const opened = new PositionFile(file, before === null || before === 'damaged' ? 0 : before.turn);
    try {
      await opened.write(position);
      await opened.sync();
      return opened;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Survives the end of the process. One call at a time. */
  async write(position: LogPosition): Promise<void> {
    this.#turn += 1;
    const bytes = encode({ turn: this.#turn, position });
    await this.#file.write(bytes, 0, bytes.length, (this.#turn % PLACES) * PLACE_BYTES);
  }

  /** Written positions survive a power cut as well. */
  async sync(): Promise<void> {
    await this.#file.datasync();
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}

function encode({ turn, position }: Place): Buffer {
  const bytes = Buffer.alloc(PLACE_BYTES);
  bytes.writeUInt32LE(MAGIC, 0);
  const { acknowledged, acknowledgedRows, stored, storedRows } = position;
  for (const [index, value] of [turn, acknowledged, acknowledgedRows, stored, storedRows].entries())
    bytes.writeBigUInt64LE(BigInt(value), 8 + 8 * index);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, CHECKSUM_AT)), CHECKSUM_AT);
  return bytes;
}

function decode(bytes: Buffer): Place | null {
  const isWhole = bytes.readUInt32LE(CHECKSUM_AT) === crc32(bytes.subarray(0, CHECKSUM_AT));
  if (bytes.readUInt32LE(0) !== MAGIC || !isWhole) return null;
  const value = (index: number) => Number(bytes.readBigUInt64LE(8 + 8 * index));
  return {
    turn: value(0),
    position: {
      acknowledged: value(1),
      acknowledgedRows: value(2),
      stored: value(3),
      storedRows: value(4),
    },
  };
}

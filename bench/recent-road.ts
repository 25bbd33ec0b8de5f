/**
 * The cost of the tiers of known ids where memory holds every id: the index alone and the index with tiers take the
 * same ids, in turns, so that other work of the machine slows both.
 */
import { join } from 'node:path';
import { createEmbeddedClickHouse } from '../src/app/stores/stores.ts';
import {
  createDeduplicationIndex,
  type DeduplicationIndex,
} from '../src/metering/ingest/deduplication-index.ts';
import { createKnownIds, type KnownIds } from '../src/metering/ingest/known-ids/known-ids.ts';
import { NO_RECORD } from '../src/metering/ingest/known-ids/run-record.ts';
import { HASH_WORDS } from '../src/metering/ingest/transaction-hash.ts';
import { withTemporaryDirectory } from './temporary-service.ts';

const WINDOW_DAYS = 34;
const IDS_PER_REQUEST = 100;
const REQUESTS_PER_TURN = 2_000;
const TURNS = 40;
/** Until both are compiled and larger than the caches. */
const TURNS_BEFORE = 10;

/** CPU time with tiers ÷ CPU time without. */
export async function recentRoad(): Promise<number> {
  return await withTemporaryDirectory(async (directory) => {
    const clickhouse = await createEmbeddedClickHouse({ directory: join(directory, 'clickhouse') });
    const tiers = createKnownIds({
      ...{
        clickhouse,
        windowDays: WINDOW_DAYS,
        stored: async () => {},
        startAfter() {},
        log: { error() {} },
      },
      older: {
        ...{ directory: join(directory, 'known-ids'), recentMax: 1_000_000_000, recentSeconds: 0 },
        ...{ record: NO_RECORD, storeState: async () => 'whole' },
      },
    });
    try {
      return inTurns(createDeduplicationIndex(WINDOW_DAYS * 86_400), tiers);
    } finally {
      await tiers.close();
      await clickhouse.close();
    }
  });
}

function inTurns(index: DeduplicationIndex, tiers: KnownIds): number {
  const spent = { index: 0, tiers: 0 };
  for (let turn = 0; turn < TURNS_BEFORE + TURNS; turn += 1) {
    const requests = Array.from({ length: REQUESTS_PER_TURN }, randomHashes);
    const before = turn < TURNS_BEFORE;
    const without = cpuOf(() => {
      for (const words of requests) takeByIndex(index, words, turn);
    });
    const withTiers = cpuOf(() => {
      for (const words of requests) takeByTiers(tiers, words, turn);
    });
    if (!before) spent.index += without;
    if (!before) spent.tiers += withTiers;
  }
  return spent.tiers / spent.index;
}

const NOW = 1_800_000_000;
const TIMESTAMPS = new Float64Array(IDS_PER_REQUEST).fill(NOW * 1000);

function takeByIndex(index: DeduplicationIndex, words: Uint32Array, turn: number): void {
  index.approach(words, IDS_PER_REQUEST);
  for (let i = 0; i < IDS_PER_REQUEST; i += 1) index.reserve(words, i * HASH_WORDS, NOW + turn, NOW);
}

function takeByTiers(tiers: KnownIds, words: Uint32Array, turn: number): void {
  const times = { nowSeconds: NOW + turn, timestamps: TIMESTAMPS };
  if (tiers.unsure(words, IDS_PER_REQUEST, times, null) !== null) throw new Error('nothing is in files');
  for (let i = 0; i < IDS_PER_REQUEST; i += 1) tiers.reserve(words, i * HASH_WORDS, NOW + turn, NOW, null);
}

function randomHashes(): Uint32Array {
  return Uint32Array.from({ length: IDS_PER_REQUEST * HASH_WORDS }, () => Math.random() * 0x1_0000_0000);
}

function cpuOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

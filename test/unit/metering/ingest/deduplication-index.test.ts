import { describe, expect, it } from 'vitest';
import {
  createDeduplicationIndex,
  type DeduplicationIndex,
} from '../../../../src/metering/ingest/deduplication-index.ts';
import { storedIds } from '../../../support/stored-ids.ts';

const WINDOW = 1_000;
const T0 = 1_800_000_000;

function words(...values: number[]): Uint32Array {
  return Uint32Array.from(values);
}

/** Hashes that all want the same place in the same shard, so that they form one probe chain. */
function colliding(third: number): Uint32Array {
  return words(5, 7, third);
}

function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (Math.imul(state ^ (state >>> 15), 2_246_822_519) >>> 0) ^ (state >>> 13);
  };
}

function load(index: DeduplicationIndex, slots: readonly number[], now: number): void {
  const loading = index.load(slots.length / 4, now);
  loading.add(storedIds(slots));
  loading.end();
}

describe('the deduplication index', () => {
  it('reserves a hash once within the window and again when exactly the window has passed', () => {
    const index = createDeduplicationIndex(WINDOW);
    expect(index.reserve(words(1, 2, 3), 0, T0, T0)).toBe(true);
    expect(index.reserve(words(1, 2, 3), 0, T0, T0)).toBe(false);
    expect(index.reserve(words(1, 2, 3), 0, T0 + WINDOW - 1, T0 + WINDOW - 1)).toBe(false);
    expect(index.reserve(words(1, 2, 3), 0, T0 + WINDOW, T0 + WINDOW)).toBe(true);
    expect(index.reserve(words(1, 2, 3), 0, T0 + 2 * WINDOW - 1, T0 + 2 * WINDOW - 1)).toBe(false);
  });

  it('the deduplication index tells hashes apart by each of their words', () => {
    const index = createDeduplicationIndex(WINDOW);
    const hashes = [words(1, 2, 3), words(0, 2, 3), words(1, 0, 3), words(1, 2, 0), words(0, 0, 0)];
    expect(hashes.map((hash) => index.reserve(hash, 0, T0, T0))).toEqual([true, true, true, true, true]);
    expect(hashes.map((hash) => index.reserve(hash, 0, T0, T0))).toEqual([false, false, false, false, false]);
  });

  it('the deduplication index takes the words at the given offset', () => {
    const index = createDeduplicationIndex(WINDOW);
    expect(index.reserve(words(9, 9, 1, 2, 3), 2, T0, T0)).toBe(true);
    expect(index.reserve(words(1, 2, 3), 0, T0, T0)).toBe(false);
  });

  it('the deduplication index makes a released hash new again', () => {
    const index = createDeduplicationIndex(WINDOW);
    index.reserve(words(1, 2, 3), 0, T0, T0);
    index.release(words(1, 2, 3), 0);
    expect(index.size).toBe(0);
    expect(index.reserve(words(1, 2, 3), 0, T0, T0)).toBe(true);
    expect(index.size).toBe(1);
  });

  it('the deduplication index ignores the release of a hash that it does not hold', () => {
    const index = createDeduplicationIndex(WINDOW);
    index.release(words(1, 2, 3), 0);
    index.reserve(words(1, 2, 3), 0, T0, T0);
    index.release(words(1, 2, 3), 0);
    index.release(words(1, 2, 3), 0);
    expect(index.size).toBe(0);
  });

  it('the deduplication index finds a hash after released and expired ones in its chain', () => {
    const index = createDeduplicationIndex(WINDOW);
    index.reserve(colliding(1), 0, T0, T0);
    index.reserve(colliding(2), 0, T0 + 500, T0 + 500);
    index.reserve(colliding(3), 0, T0 + 500, T0 + 500);
    index.reserve(colliding(4), 0, T0 + 500, T0 + 500);
    index.release(colliding(2), 0);
    const later = T0 + WINDOW;
    expect(index.reserve(colliding(4), 0, later, later)).toBe(false);
    expect(index.reserve(colliding(3), 0, later, later)).toBe(false);
    expect(index.reserve(colliding(2), 0, later, later)).toBe(true);
    expect(index.reserve(colliding(1), 0, later, later)).toBe(true);
    expect([1, 2, 3, 4].map((third) => index.reserve(colliding(third), 0, later, later))).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });

  it('renews an expired hash in its own place even when a place before it is free', () => {
    const index = createDeduplicationIndex(WINDOW);
    index.reserve(colliding(1), 0, T0, T0);
    index.reserve(colliding(2), 0, T0, T0);
    expect(index.reserve(colliding(2), 0, T0 + WINDOW, T0 + WINDOW)).toBe(true);
    index.release(colliding(2), 0);
    expect(index.reserve(colliding(2), 0, T0 + WINDOW, T0 + WINDOW)).toBe(true);
  });

  it('the deduplication index keeps the earliest time of a hash that is loaded twice and leaves expired ones out', () => {
    const index = createDeduplicationIndex(WINDOW);
    const slots = [1, 2, 3, T0 + 10, 4, 5, 6, T0 - WINDOW + 10, 1, 2, 3, T0 + 5];
    load(index, slots, T0 + 20);
    expect(index.size).toBe(1);
    expect(index.reserve(words(1, 2, 3), 0, T0 + WINDOW + 4, T0 + WINDOW + 4)).toBe(false);
    expect(index.reserve(words(1, 2, 3), 0, T0 + WINDOW + 5, T0 + WINDOW + 5)).toBe(true);
    expect(index.reserve(words(4, 5, 6), 0, T0 + 20, T0 + 20)).toBe(true);
  });

  it('the deduplication index knows an event that was dated ahead until its timestamp is past the window, and its id no longer', () => {
    const index = createDeduplicationIndex(WINDOW);
    const dated = T0 + 180;
    expect(index.reserve(words(1, 2, 3), 0, T0, dated)).toBe(true);
    expect(index.reserve(words(1, 2, 3), 0, T0 + WINDOW - 1, T0 + WINDOW - 1)).toBe(false);
    expect(index.reserve(words(1, 2, 3), 0, T0 + WINDOW, dated)).toBe(false);
    expect(index.reserve(words(1, 2, 3), 0, dated + WINDOW, dated)).toBe(false);
    expect(index.reserve(words(1, 2, 3), 0, T0 + WINDOW, dated + 1)).toBe(true);
    expect(index.size).toBe(2);
  });

  it('the deduplication index knows the first event again where the id was taken again past the window and that failed', () => {
    const index = createDeduplicationIndex(WINDOW);
    index.reserve(words(1, 2, 3), 0, T0, T0 + 180);
    expect(index.reserve(words(1, 2, 3), 0, T0 + WINDOW, T0 + WINDOW)).toBe(true);
    index.release(words(1, 2, 3), 0);
    expect(index.reserve(words(1, 2, 3), 0, T0 + WINDOW + 1, T0 + 180)).toBe(false);
    expect(index.reserve(words(1, 2, 3), 0, T0 + WINDOW + 1, T0 + WINDOW)).toBe(true);
  });

  it('the deduplication index knows an event of exactly the age of the window whose timestamp was the time of its acceptance', () => {
    const index = createDeduplicationIndex(WINDOW);
    index.reserve(words(1, 2, 3), 0, T0, T0);
    expect(index.reserve(words(1, 2, 3), 0, T0 + WINDOW, T0)).toBe(false);
    expect(index.reserve(words(1, 2, 3), 0, T0 + WINDOW, T0 + 1)).toBe(true);
  });

  it('the deduplication index tells hashes of one shard apart, however far ahead their events are dated', () => {
    const index = createDeduplicationIndex(WINDOW);
    const shard = [0, 1024, 2048, 1024 * 1023].map((first) => words(first + 5, 7, 7));
    for (const [i, hash] of shard.entries()) expect(index.reserve(hash, 0, T0, T0 + i * 28_800)).toBe(true);
    for (const hash of shard) expect(index.reserve(hash, 0, T0, T0)).toBe(false);
    expect(() => index.reserve(words(1, 2, 3), 0, T0, T0 + 100_000)).toThrow('dated at most a day ahead');
  });

  it('the deduplication index takes stored events that are dated ahead for as long as they could be sent again', () => {
    const dated = T0 + 180;
    const loaded = (now: number) => {
      const index = createDeduplicationIndex(WINDOW);
      load(index, [1, 2, 3, T0], now);
      index.add(words(1, 2, 3), 0, { acceptedSeconds: T0, aheadSeconds: 180 }, now);
      return index;
    };
    expect(loaded(T0 + 10).reserve(words(1, 2, 3), 0, T0 + WINDOW, dated)).toBe(false);
    expect(loaded(T0 + WINDOW).reserve(words(1, 2, 3), 0, T0 + WINDOW, dated)).toBe(false);
    expect(loaded(T0 + WINDOW).reserve(words(1, 2, 3), 0, T0 + WINDOW, dated + 1)).toBe(true);
    expect(loaded(dated + WINDOW).reserve(words(1, 2, 3), 0, dated + WINDOW, dated)).toBe(false);
    expect(loaded(dated + WINDOW + 1).size).toBe(0);
  });

  it('the deduplication index needs at most 24 bytes for an id at every size above 50,000, whether reserved or loaded', () => {
    const next = random(1);
    const reserved = createDeduplicationIndex(WINDOW);
    const loaded = createDeduplicationIndex(WINDOW);
    const ids = 400_000;
    const loading = loaded.load(ids, T0);
    const slots = new Uint32Array(40_000);
    for (let i = 0; i < ids; i += 1) {
      const at = (i * 4) % slots.length;
      slots.set([next(), next(), next(), T0], at);
      reserved.reserve(slots, at, T0, T0);
      if (at === slots.length - 4) loading.add(storedIds(slots));
      if (i > 50_000 && i % 1_000 === 0) expect(reserved.bytes / reserved.size).toBeLessThan(24);
    }
    loading.end();
    expect([reserved.size, loaded.size]).toEqual([ids, ids]);
    expect(loaded.bytes / loaded.size).toBeLessThan(24);
  });

  it('the deduplication index loads more ids than it was asked to make room for', () => {
    const index = createDeduplicationIndex(WINDOW);
    const slots = Uint32Array.from({ length: 4 * 50_000 }, (_, i) =>
      i % 4 === 3 ? T0 : Math.imul(i + 1, 2_654_435_761),
    );
    const loading = index.load(10, T0);
    loading.add(storedIds(slots));
    loading.end();
    expect(index.size).toBe(50_000);
  });

  it('the deduplication index makes its first room in memory that the garbage collector does not count, and counts what replaces it', () => {
    const index = createDeduplicationIndex(WINDOW);
    const counted = () => process.memoryUsage().external;
    const before = counted();
    index.load(200_000, T0);
    expect(index.bytes).toBeGreaterThan(200_000 * 16);
    expect(counted() - before).toBeLessThan(index.bytes / 10);
    const next = random(4);
    let grown = 0;
    let last = counted();
    for (let id = 0; id < 260_000; id += 1) {
      index.reserve(words(next(), next(), next()), 0, T0, T0);
      if (id % 1_000 > 0) continue;
      // A collection may come at any moment, and take what other tests have left.
      grown += Math.max(0, counted() - last);
      last = counted();
    }
    expect(grown).toBeGreaterThan(index.bytes / 10);
  });

  it('the deduplication index gives the memory of expired ids back while new ones come in', () => {
    const next = random(2);
    const index = createDeduplicationIndex(WINDOW);
    const hash = new Uint32Array(3);
    const reserveMany = (ids: number, seconds: number) => {
      for (let i = 0; i < ids; i += 1) {
        hash.set([next(), next(), next()]);
        index.reserve(hash, 0, seconds, seconds);
      }
    };
    reserveMany(200_000, T0);
    const peak = index.bytes;
    reserveMany(200_000, T0 + WINDOW + 1);
    reserveMany(20_000, T0 + 2 * WINDOW + 2);
    expect(index.bytes).toBeLessThan(peak * 1.3);
  });

  it.each([0, 1, 0x1_0000_0000])(
    'the deduplication index refuses to work when the clock stands at second %d',
    (seconds) => {
      const index = createDeduplicationIndex(WINDOW);
      expect(() => index.reserve(words(1, 2, 3), 0, seconds, seconds)).toThrow(
        'the clock stands between 1970 and 2106',
      );
    },
  );
});

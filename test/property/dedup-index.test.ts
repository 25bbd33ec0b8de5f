import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createDeduplicationIndex,
  type DeduplicationIndex,
} from '../../src/metering/ingest/deduplication-index.ts';
import { storedIds } from '../support/stored-ids.ts';

const WINDOW = 400;
/** How far ahead an event is dated is rounded up to this. */
const AHEAD_UNIT = 90;
const T0 = 1_800_000_000;

interface Accepted {
  readonly at: number;
  /** The last second of a timestamp that the accepted event can have. */
  readonly reach: number;
}

/** The guarantee of the index, written as simply as possible. */
class Model {
  readonly accepted = new Map<string, Accepted[]>();

  reserve(key: string, now: number, timestamp: number): boolean {
    const known = this.accepted.get(key) ?? [];
    if (known.some(({ at, reach }) => now - at < WINDOW || timestamp <= reach)) return false;
    const reach = now + Math.ceil(Math.max(0, timestamp - now) / AHEAD_UNIT) * AHEAD_UNIT;
    this.accepted.set(key, [...known, { at: now, reach }]);
    return true;
  }

  release(key: string): void {
    this.accepted.get(key)?.pop();
  }
}

// Few distinct words, all of one or two shards, so that chains are long and wrap around.
const hash = fc.tuple(
  fc.constantFrom(3, 3 + 1024, 4),
  fc.constantFrom(0, 1, 0x8000_0000, 0xffff_fffe, 0xffff_ffff),
  fc.integer({ min: 0, max: 40 }),
);

const command = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('reserve' as const),
      hash,
      // From as old as ingest takes it to less far ahead than the window is long.
      dated: fc.oneof(fc.constantFrom(-WINDOW, -1, 0, 1), fc.integer({ min: -WINDOW, max: 300 })),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('release' as const), hash }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), seconds: fc.integer({ min: 0, max: 240 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
);

/** A new index filled from what the model holds, as after a restart. */
function restarted(model: Model, now: number): DeduplicationIndex {
  const index = createDeduplicationIndex(WINDOW);
  const slots = [...model.accepted].flatMap(([key, all]) =>
    all.flatMap(({ at }) => [...key.split(',').map(Number), at]),
  );
  // In blocks, as they come.
  const half = Math.floor(slots.length / 8) * 4;
  const loading = index.load(slots.length / 4, now);
  for (const block of [slots.slice(0, half), slots.slice(half)]) loading.add(storedIds(block));
  loading.end();
  for (const [key, all] of model.accepted) {
    const hash = Uint32Array.from(key.split(',').map(Number));
    for (const { at, reach } of all) {
      index.add(hash, 0, { acceptedSeconds: at, aheadSeconds: reach - at }, now);
    }
  }
  return index;
}

describe('the deduplication index', () => {
  it('the deduplication index answers like a map for every sequence of reservations, releases, passing time and restarts', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 400 }), (commands) => {
        const model = new Model();
        let index = createDeduplicationIndex(WINDOW);
        let now = T0;
        for (const step of commands) {
          if (step.kind === 'wait') now += step.seconds;
          else if (step.kind === 'restart') index = restarted(model, now);
          else if (step.kind === 'release') {
            index.release(Uint32Array.from(step.hash), 0);
            model.release(step.hash.join());
          } else {
            const timestamp = now + step.dated;
            index.approach(Uint32Array.from(step.hash), 1);
            expect(index.reserve(Uint32Array.from(step.hash), 0, now, timestamp)).toBe(
              model.reserve(step.hash.join(), now, timestamp),
            );
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});

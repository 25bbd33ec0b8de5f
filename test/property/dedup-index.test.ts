import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createDeduplicationIndex,
  type DeduplicationIndex,
} from '../../src/metering/ingest/deduplication-index.ts';

const WINDOW = 100;
const T0 = 1_800_000_000;

/** What the index promises, written down as simply as possible. */
class Model {
  readonly accepted = new Map<string, number>();

  reserve(key: string, now: number): boolean {
    const at = this.accepted.get(key);
    if (at !== undefined && now - at < WINDOW) return false;
    this.accepted.set(key, now);
    return true;
  }

  release(key: string): void {
    this.accepted.delete(key);
  }
}

// Few distinct words, all of one or two shards, so that chains are long and wrap around.
const hash = fc.tuple(
  fc.constantFrom(3, 3 + 1024, 4),
  fc.constantFrom(0, 1, 0x8000_0000, 0xffff_fffe, 0xffff_ffff),
  fc.integer({ min: 0, max: 40 }),
);

const command = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('reserve' as const), hash }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('release' as const), hash }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), seconds: fc.integer({ min: 0, max: 60 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
);

/** A new index filled from what the model holds, as after a restart. */
function restarted(model: Model, now: number): DeduplicationIndex {
  const index = createDeduplicationIndex(WINDOW);
  const slots = [...model.accepted].flatMap(([key, at]) => [...key.split(',').map(Number), at]);
  index.load(Uint32Array.from(slots), now);
  return index;
}

describe('the deduplication index', () => {
  it('answers like a map for every sequence of reservations, releases, passing time and restarts', () => {
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
            expect(index.reserve(Uint32Array.from(step.hash), 0, now)).toBe(
              model.reserve(step.hash.join(), now),
            );
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});

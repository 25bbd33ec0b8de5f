/** When a process is killed: at an answer, or in the middle of a request that it sends or answers. */
import fc from 'fast-check';

/** Each is counted; a process is killed at the first, the second … of its kind. */
export type Moment =
  | 'events answered'
  | 'hold answered'
  | 'request to Stripe'
  | 'webhook sent'
  | 'clock moves';

export interface Kill {
  readonly at: Moment;
  readonly count: number;
  /** Whether the last request to Stripe was carried out (`lost`: its answer is not read) or not (`cut`). */
  readonly fault: 'lost' | 'cut';
  /** Between the request to move the clock and the kill. */
  readonly afterMs: number;
}

/** The highest count of each kind that comes before the load of one life ends. */
const COUNT_MAX: Readonly<Record<Moment, number>> = {
  'events answered': 40,
  'hold answered': 60,
  'request to Stripe': 12,
  'webhook sent': 6,
  'clock moves': 1,
};

/** In which the clock moves and the invoices of the month before are issued. */
const MOVE_MS = 1_000;

export const MOMENTS = Object.keys(COUNT_MAX) as Moment[];

/** Drawn kills. The first five are one of each kind. */
export function drawnKills(count: number): Kill[] {
  const drawn = fc.sample(
    fc.record({
      afterMs: fc.integer({ min: 0, max: MOVE_MS }),
      at: fc.constantFrom(...MOMENTS),
      part: fc.double({ min: 0, max: 1, noNaN: true }),
      isLost: fc.boolean(),
    }),
    count,
  );
  return drawn.map(({ at: other, part, isLost, afterMs }, index) => {
    const at = MOMENTS[index] ?? other;
    return { at, count: 1 + Math.floor(part * (COUNT_MAX[at] - 1)), fault: isLost ? 'lost' : 'cut', afterMs };
  });
}

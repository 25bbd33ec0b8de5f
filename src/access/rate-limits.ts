/**
 * Rate limits of requests: each token has a token bucket per family of operations, in the memory of the process. A
 * request takes one unit; the bucket is refilled evenly, and its size limits bursts.
 */
import { Refusal } from '../core/errors.ts';
import { SECOND_MS } from '../core/time.ts';

type RequestFamily = 'ingest' | 'read' | 'write';

/** Requests per second, by one token in one process; 0: no limit. */
export type RequestRates = Readonly<Record<RequestFamily, number>>;

/** An idle caller may use this many seconds of its rate at once. */
const BURST_SECONDS = 10;
/**
 * More than a busy service has callers. When it is full, the oldest bucket is evicted: its caller starts with a full
 * one.
 */
const BUCKETS_MAX = 3_000;

interface Bucket {
  left: number;
  filledAtMs: number;
}

/** Refuses (`overloaded`) a request above the rate of its token. */
export type TakeRequest = (tokenId: string, family: RequestFamily) => void;

export function createRateLimits(rates: RequestRates, monotonicMs: () => number): TakeRequest {
  const buckets = new Map<string, Bucket>();

  function bucketOf(name: string, most: number): Bucket {
    const known = buckets.get(name);
    if (known !== undefined) return known;
    const [oldest] = buckets.keys();
    if (buckets.size >= BUCKETS_MAX && oldest !== undefined) buckets.delete(oldest);
    const bucket = { left: most, filledAtMs: monotonicMs() };
    buckets.set(name, bucket);
    return bucket;
  }

  return (tokenId, family) => {
    const rate = rates[family];
    if (rate === 0) return;
    const most = rate * BURST_SECONDS;
    const bucket = bucketOf(`${family} ${tokenId}`, most);
    const nowMs = monotonicMs();
    bucket.left = Math.min(most, bucket.left + ((nowMs - bucket.filledAtMs) / SECOND_MS) * rate);
    bucket.filledAtMs = nowMs;
    if (bucket.left < 1) {
      throw new Refusal('overloaded', `More than ${rate} ${family} requests a second: try again later`);
    }
    bucket.left -= 1;
  };
}

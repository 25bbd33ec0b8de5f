/** How much of what is costly is tried where. */
import { inject } from 'vitest';

/** Every change tries other values (`property-seed.ts`), so few of them in each run add up. */
const SHARE = 3;
/** A guarantee that depends on HTTP or on shards is the same for all values of one shape. */
const SHARE_OVER_HTTP = 6;

/** `count` times by `npm run test:long`; a share of that in every other run, and less over HTTP. */
export function runs(count: number): number {
  if (inject('isThorough')) return count;
  return Math.ceil(count / (inject('clickhouse') === undefined ? SHARE : SHARE_OVER_HTTP));
}

/** The first `count` of cases that start processes; all of them by `npm run test:long`. */
export function mainCases<Case>(cases: readonly Case[], count: number): readonly Case[] {
  return inject('isThorough') ? cases : cases.slice(0, count);
}

/** Every sixth keeps one of each group of similar cases. */
const SAMPLE_STEP = 6;

/** All cases on the embedded engine; a sample of them over HTTP, for cases that ClickHouse decides alike. */
export function sample<Case>(cases: readonly Case[]): readonly Case[] {
  return inject('clickhouse') === undefined ? cases : cases.filter((_, index) => index % SAMPLE_STEP === 0);
}

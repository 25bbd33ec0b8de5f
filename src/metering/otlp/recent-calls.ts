/**
 * The recent calls of this process, including those being written: a trace is often split into several requests within
 * seconds, and ClickHouse has their events slightly later.
 */
import type { Instant } from '../../core/time.ts';
import { answerOf, type CountedCall } from './counted-call.ts';

/** About 400 bytes each. */
const CALLS_MAX = 50_000;

export interface RecentCalls {
  /** The calls of one trace. */
  ofTrace(traceId: string): readonly CountedCall[];
  /** The call counted under this answer id. */
  ofAnswer(transactionId: string): CountedCall | undefined;
  add(call: CountedCall): void;
  /** Removes a call whose event could not be stored. */
  remove(call: CountedCall): void;
  /** Declares that other calls, such as those of an earlier process, ended at `last` at the latest. */
  othersEndedBy(last: Instant): void;
  /** Whether every stored call that ended at `at` or later is included; false until the end of others is known. */
  hasAllSince(at: Instant): boolean;
}

export function createRecentCalls(callsMax = CALLS_MAX): RecentCalls {
  const calls = new Set<CountedCall>();
  const byTrace = new Map<string, Set<CountedCall>>();
  const byAnswer = new Map<string, CountedCall>();
  /** The latest end of other calls. */
  let others = Number.POSITIVE_INFINITY;
  let evicted = Number.NEGATIVE_INFINITY;

  function remove(call: CountedCall): void {
    calls.delete(call);
    const ofTrace = byTrace.get(call.traceId);
    ofTrace?.delete(call);
    if (ofTrace?.size === 0) byTrace.delete(call.traceId);
    if (byAnswer.get(call.transactionId) === call) byAnswer.delete(call.transactionId);
  }

  return {
    ofTrace: (traceId) => [...(byTrace.get(traceId) ?? [])],
    ofAnswer: (transactionId) => byAnswer.get(transactionId),
    add(call) {
      calls.add(call);
      const ofTrace = byTrace.get(call.traceId) ?? new Set();
      byTrace.set(call.traceId, ofTrace.add(call));
      if (answerOf(call) !== null && !byAnswer.has(call.transactionId))
        byAnswer.set(call.transactionId, call);
      for (const oldest of calls) {
        if (calls.size <= callsMax) break;
        evicted = Math.max(evicted, oldest.endedAt);
        remove(oldest);
      }
    },
    remove,
    othersEndedBy(last) {
      others = last;
    },
    hasAllSince: (at) => at > others && at > evicted,
  };
}

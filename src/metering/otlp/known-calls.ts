/** The calls that the spans of a request may restate: recent calls of this process, and stored ones. */
import type { Instant } from '../../core/time.ts';
import { type CountedCall, spanKey } from './counted-call.ts';
import { createRecentCalls, type RecentCalls } from './recent-calls.ts';
import type { Span } from './span.ts';
import { type StoredCalls, soughtTime } from './stored-calls.ts';

interface FoundCalls {
  /** Calls in the traces of the request. */
  inTraces(): readonly CountedCall[];
  /** The call counted under this id. */
  byId(transactionId: string): CountedCall | undefined;
  /** False if stored calls could not be read. */
  readonly isComplete: boolean;
}

export interface KnownCalls {
  readonly recent: RecentCalls;
  /** `ids`: those that may belong to another call. Calls added later, as long as nothing is awaited, are found too. */
  find(calls: readonly CountedCall[], spans: readonly Span[], ids: readonly string[]): Promise<FoundCalls>;
}

/** Without `stored`, calls are compared with recent calls of this process only. */
export function createKnownCalls(
  stored: StoredCalls | undefined,
  onFailure: (error: unknown) => void,
  recent: RecentCalls = createRecentCalls(),
): KnownCalls {
  let isLastOfOthersKnown = false;

  /** A query for hundreds of customers is expensive, so it is skipped if all calls are among the recent ones. */
  async function storedInTraces(
    from: StoredCalls,
    calls: readonly CountedCall[],
    spans: readonly Span[],
  ): Promise<readonly CountedCall[]> {
    if (!isLastOfOthersKnown) {
      const last = await from.lastOfOthers();
      if (last !== null && !isLastOfOthersKnown) recent.othersEndedBy(last);
      isLastOfOthersKnown = true;
    }
    const time = soughtTime(startOf(spans), lastEnd(calls));
    const traceIds = [...new Set(calls.map(({ traceId }) => traceId))];
    // Read synchronously: calls that are evicted from now on are included.
    if (recent.hasAllSince(time.from)) return traceIds.flatMap(recent.ofTrace);
    const customers = [...new Set(calls.map(({ customer }) => customer))];
    return await from.inTraces({ traceIds, customers, ...time });
  }

  async function read(calls: readonly CountedCall[], spans: readonly Span[], ids: readonly string[]) {
    if (stored === undefined || calls.length === 0) return { inTraces: [], byId: [], isComplete: true };
    try {
      const [inTraces, byId] = await Promise.all([storedInTraces(stored, calls, spans), stored.byId(ids)]);
      return { inTraces, byId, isComplete: true };
    } catch (error) {
      onFailure(error);
      return { inTraces: [], byId: [], isComplete: false };
    }
  }

  return {
    recent,
    async find(calls, spans, ids) {
      const { inTraces, byId, isComplete } = await read(calls, spans, ids);
      const storedById = new Map(byId.map((call) => [call.transactionId, call]));
      return {
        inTraces() {
          const all = new Map(inTraces.map((call) => [spanKey(call), call]));
          for (const traceId of new Set(calls.map((call) => call.traceId)))
            for (const call of recent.ofTrace(traceId)) all.set(spanKey(call), call);
          return [...all.values()];
        },
        byId: (id) => recent.ofAnswer(id) ?? storedById.get(id),
        isComplete,
      };
    },
  };
}

const NANOSECONDS_PER_MILLISECOND = 1_000_000n;

/** The earliest start of these spans. */
function startOf(spans: readonly Span[]): Instant {
  return spans.reduce(
    (first, { startTimeUnixNano }) =>
      Math.min(first, Number(startTimeUnixNano / NANOSECONDS_PER_MILLISECOND)),
    Number.MAX_SAFE_INTEGER,
  );
}

function lastEnd(calls: readonly CountedCall[]): Instant {
  return calls.reduce((last, { endedAt }) => Math.max(last, endedAt), 0);
}

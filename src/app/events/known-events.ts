/** Facts that ingest knows of the events in ClickHouse, for those who read them. */
import type { ClickHouse } from '../../metering/client/clickhouse.ts';
import type { Ingest } from '../../metering/ingest/ingest-operations.ts';

/** `ingest` is created later. `isShared`: other processes may store events as well. */
export function withKnownEvents(
  clickhouse: ClickHouse,
  ingest: () => Pick<Ingest, 'completeUpTo' | 'storedAmong' | 'tail'>,
  { isShared }: { readonly isShared: boolean },
): ClickHouse {
  return {
    ...clickhouse,
    completeUpTo: () => ingest().completeUpTo(),
    async storedAmong(transactionIds) {
      if (isShared && transactionIds.length > 0) await ingest().tail();
      return await ingest().storedAmong(transactionIds);
    },
  };
}

import type { Logger } from '../../log.ts';
import type { Ingest } from '../../metering/ingest/ingest-operations.ts';
import type { PartsWatch } from '../readiness/parts-watch.ts';

/**
 * Builds the index of known events once. If stored events cannot be read, it is built when they are restored or their
 * loss is accepted; until then no event is accepted.
 */
export function createIndexBuilder({
  ingest,
  watch,
  log,
}: {
  ingest: Ingest;
  watch: PartsWatch;
  log: Logger;
}) {
  let isBuilt = false;
  let building: Promise<void> | null = null;

  async function build(): Promise<void> {
    // It would lack events of the log that are not in ClickHouse yet.
    if (isBuilt || watch.isLogDamaged()) return;
    try {
      const { ids } = await ingest.rebuild();
      isBuilt = true;
      log.info({ ids }, 'the index of known events is built');
    } catch (error) {
      await watch.check();
      if (watch.problems().length === 0) throw error;
    }
  }

  return {
    isBuilt: () => isBuilt,
    build: async () => {
      building ??= build().finally(() => {
        building = null;
      });
      await building;
    },
  };
}

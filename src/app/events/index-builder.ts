import type { Logger } from '../../log.ts';
import type { Ingest } from '../../metering/ingest/ingest-operations.ts';
import type { PartsWatch } from '../readiness/parts-watch.ts';

/**
 * Builds the index of known events once. Where stored events cannot be read, it is built when they are restored or
 * their loss is accepted; until then no event is taken.
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
    // Events of the log that are not in ClickHouse yet would be missing from it.
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

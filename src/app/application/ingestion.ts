/** The ways in which events reach the service: its own form, CloudEvents and spans. */
import type { Clock } from '../../core/clock.ts';
import type { JobsContext } from '../../jobs/jobs-context.ts';
import { inLane } from '../../metering/client/clickhouse-client.ts';
import type { RepeatLog } from '../../metering/events/repeat-log.ts';
import { createIngest } from '../../metering/ingest/ingest.ts';
import type { Ingest } from '../../metering/ingest/ingest-operations.ts';
import { createOlderCloudEventIds } from '../../metering/ingest/older-cloud-event-ids.ts';
import { createCloudEventReader, type EventReader } from '../../metering/ingest/validate-events.ts';
import { requireNoLoss } from '../../metering/stored-parts/guard-parts.ts';
import { findSlashesApartFrom } from '../../store/events/identities.ts';
import { createOlderIds } from '../events/older-ids.ts';
import { createServiceSpans } from '../events/span-ingest.ts';
import { UNLIMITED_ROOM, watchDiskRoom } from '../readiness/disk-room.ts';
import type { ApplicationParts } from './application-parts.ts';
import type { RunningList } from './running-list.ts';
import type { StoredData } from './stored-data.ts';

interface IngestionParts {
  readonly given: ApplicationParts;
  readonly data: StoredData;
  readonly context: JobsContext;
  readonly ingest: Ingest;
  readonly running: RunningList;
}

interface IngestParts {
  readonly given: ApplicationParts;
  readonly data: StoredData;
  readonly clock: Clock;
  readonly repeats: RepeatLog;
}

export type Ingestion = Awaited<ReturnType<typeof createIngestion>>;

/** How often to read events stored by other processes: the time in which a repeat may be missed. */
const TAIL_INTERVAL_MS = 1_000;

/** Events are refused until the index of known events is built. */
export async function createIngestion(parts: IngestionParts) {
  const { ingest } = parts;
  const { config, log } = parts.given;
  const { db, clickhouse } = parts.context;
  const directory = embeddedDirectory(config);
  const room = directory === undefined ? UNLIMITED_ROOM : watchDiskRoom(directory);
  parts.running.add('jobs', room);
  const admitEvents = () => {
    requireNoLoss(parts.data.guard);
    room.require();
    ingest.admit();
  };
  const ingestEvents = async (body: Buffer, reader?: EventReader) => {
    admitEvents();
    return await ingest.ingest(body, reader);
  };
  const ingestCloudEvents = await createCloudEventIngest(parts, ingestEvents);
  const spans = await createServiceSpans({ config, db, clickhouse, log, ingest, ingestEvents });
  return { ingest, spans, room, admitEvents, ingestEvents, ingestCloudEvents };
}

/** Created before the readers of events, which watch it afterwards. */
export function createEventIngest({ given, data, clock, repeats }: IngestParts): Ingest {
  const { config, log, tracer } = given;
  const { stores, isShared } = data;
  return createIngest({
    ...{ clock, log, windowDays: config.ingestWindowDays, cluster: config.clickhouseCluster },
    ...(tracer === undefined ? {} : { tracer }),
    clickhouse: inLane(data.clickhouse, 'ingest'),
    blocks: stores.blocks,
    olderIds: createOlderIds({
      db: stores.db,
      clickhouse: stores.clickhouse,
      dataDir: config.dataDir,
      recentMax: config.knownIdsRecent,
      isEmbedded: !isShared,
    }),
    // An embedded ClickHouse belongs to this process; a server may be shared with others.
    tailIntervalMs: isShared ? TAIL_INTERVAL_MS : undefined,
    onRepeat: (read, now) => repeats.note(read, now),
  });
}

async function createCloudEventIngest(
  { given, context, ingest }: IngestionParts,
  ingestEvents: (body: Buffer, reader: EventReader) => ReturnType<Ingest['ingest']>,
) {
  const identity = given.config.cloudEventsIdentity ?? 'source-and-id';
  const { clock, windowDays } = context;
  const reader = createCloudEventReader(identity);
  const olderIds = createOlderCloudEventIds({
    ...{ identity, clock, windowDays, clickhouse: inLane(context.clickhouse, 'ingest') },
    apartFrom: await findSlashesApartFrom(context.db),
    storedAmong: (ids) => ingest.storedAmong(ids),
  });
  return async (body: Buffer) => {
    const older = await olderIds(body);
    return await ingestEvents(body, older.size === 0 ? reader : createCloudEventReader(identity, older));
  };
}

/** The data directory of the embedded stores; undefined if both stores are servers. */
function embeddedDirectory({ dataDir, databaseUrl, clickhouseUrl }: ApplicationParts['config']) {
  return databaseUrl !== undefined && clickhouseUrl !== undefined ? undefined : dataDir;
}

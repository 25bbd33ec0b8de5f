/**
 * Generates events and ingests them until it is killed: the embedded ClickHouse with its log, nothing else. Prints the
 * numbers of acknowledged events, a line for each request, and when it inserts. With `check`, it prints the stored
 * events and ends.
 *
 * Arguments: data directory, number of the first event, `ingest` or `check`.
 */
import { join } from 'node:path';
import { z } from 'zod';
import { withEventLog } from '../../../src/app/stores/logged-clickhouse.ts';
import { createEmbeddedClickHouse } from '../../../src/app/stores/stores.ts';
import { formatInstant } from '../../../src/core/time.ts';
import { createIngest } from '../../../src/metering/ingest/ingest.ts';
import { createRunRecord } from '../../../src/metering/ingest/known-ids/run-record.ts';
import { applySchema } from '../../../src/metering/schema/schema.ts';

const [, , dataDir = '', first = '0', mode = 'ingest'] = process.argv;
const SENDERS = 4;
const NEW_PER_REQUEST = 8;
const REPEATS_PER_REQUEST = 3;
const MONTH_MS = 30 * 86_400_000;
/** So few that most ids are in files, and repeats are looked up. */
const RECENT_IDS = 64;
/** How far apart the first numbers of two processes are. */
const EVENTS_PER_LIFE_MAX = 1_000_000;

/** To a pipe, this writes at once. */
const say = (line: string) => process.stdout.write(`${line}\n`);
const below = (limit: number) => Math.floor(Math.random() * limit);

const engine = await createEmbeddedClickHouse({ directory: join(dataDir, 'clickhouse'), workerThreads: 4 });
await applySchema(engine, undefined);
const told: typeof engine = {
  ...engine,
  insertRows: async (insert) => {
    say('inserting ');
    await engine.insertRows(insert);
    say('inserted ');
  },
};
const { clickhouse, blocks, close } = await withEventLog(told, dataDir);
const ingest = createIngest({
  clickhouse,
  blocks,
  clock: { now: () => Date.now() },
  windowDays: 34,
  olderIds: {
    directory: join(dataDir, 'known-ids'),
    recentMax: RECENT_IDS,
    recentSeconds: 0,
    record: createRunRecord(clickhouse),
    storeState: async () => 'whole',
  },
  log: { error: (fields) => say(`error ${String(fields.err)}`) },
});
say('opened');
await ingest.rebuild();
say('ready');

/** Repeats say something else than the first event did. */
function event(n: number, content: string) {
  return {
    transaction_id: `crash-${n}`,
    customer_id: content,
    event_type: 'crash',
    // Two months, so that an insert writes two parts.
    timestamp: formatInstant(Date.now() - (n % 2) * MONTH_MS),
    properties: { n },
  };
}

let next = Number(first);

async function send(): Promise<void> {
  for (;;) {
    const numbers = Array.from({ length: NEW_PER_REQUEST }, (_, i) => next + i);
    next += NEW_PER_REQUEST;
    const repeats = Array.from({ length: REPEATS_PER_REQUEST }, () => Math.max(0, next - 1 - below(200)));
    // An id of the process before this one.
    if (Number(first) > 0) repeats.push(Number(first) - EVENTS_PER_LIFE_MAX + below(500));
    const events = [
      ...numbers.map((n) => event(n, 'first')),
      ...repeats.map((n) => event(n, `again-${next}`)),
    ];
    await ingest.ingest(Buffer.from(JSON.stringify(events)));
    say(`ack ${[...numbers, ...repeats].join(' ')}`);
    const { runs, lookups } = ingest.stats().knownIds;
    if (lookups.known > 0 && runs > 0) say('looked up ');
    // A read sends the open block to ClickHouse at once.
    if (below(20) === 0) await blocks.visible(null);
  }
}

async function check(): Promise<void> {
  const rows = await clickhouse.query({
    sql: 'SELECT toUInt32(substring(transaction_id, 7)) AS n, count() AS copies FROM usage_events FINAL GROUP BY n',
    schema: z.object({ n: z.number(), copies: z.string() }),
  });
  for (const { n, copies } of rows) say(`stored ${n} ${copies}`);
}

if (mode === 'check') {
  await check();
  await ingest.close();
  await close();
  await engine.close();
} else {
  await Promise.all(Array.from({ length: SENDERS }, send));
}

/**
 * The obvious design: `POST /v1/ingest` inserts the events of each request into the embedded ClickHouse and answers
 * when they are on disk. The same table, engine and durability as the service, and no deduplication.
 *
 * A separate program, with DATA_DIR, HOST and PORT like the service; the table is there already.
 */
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { openEngine } from '../src/embedded/chdb-engine.ts';
import { createConnectionPool } from '../src/metering/client/connection-pool.ts';

/** A connection runs one insert at a time. More than these take no more events a second. */
const CONNECTIONS = 8;

interface SentEvent {
  readonly transaction_id: string;
  readonly customer_id: string;
  readonly event_type: string;
  readonly timestamp: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

const { DATA_DIR = '', HOST = '127.0.0.1', PORT = '0' } = process.env;
const engine = await openEngine(join(DATA_DIR, 'clickhouse'));
const connections = Array.from({ length: CONNECTIONS }, () => engine.connect());
const pool = createConnectionPool(connections, { waitingMax: 10_000 });

async function store(body: Buffer): Promise<number> {
  const events = JSON.parse(body.toString()) as readonly SentEvent[];
  const rows = events.map((event) =>
    JSON.stringify([
      event.transaction_id,
      event.customer_id,
      event.event_type,
      event.timestamp.slice(0, -1),
      Object.fromEntries(Object.entries(event.properties).map(([name, value]) => [name, String(value)])),
      new Date().toISOString().slice(0, -1),
    ]),
  );
  await pool.withConnection((connection) =>
    connection.raw.chdb.rawInsert({
      table: 'tallyhouse.usage_events',
      columns: ['transaction_id', 'customer_ref', 'event_type', 'timestamp', 'properties', 'ingested_at'],
      values: Buffer.from(rows.join('\n')),
      format: 'JSONCompactEachRow',
      settings: { optimize_on_insert: 0 },
    }),
  );
  return events.length;
}

async function answer(request: IncomingMessage): Promise<{ status: number; text: string }> {
  if (request.method === 'GET') return { status: 200, text: '{}' };
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  try {
    return { status: 200, text: JSON.stringify({ accepted: await store(Buffer.concat(chunks)) }) };
  } catch (error) {
    return { status: 503, text: JSON.stringify({ message: String(error) }) };
  }
}

const server = createServer((request, response) => {
  void answer(request).then(({ status, text }) => {
    response.writeHead(status, { 'content-length': Buffer.byteLength(text) }).end(text);
  });
});
server.listen(Number(PORT), HOST);
process.once('SIGTERM', () => {
  server.closeAllConnections();
  server.close(() => {
    void pool
      .drain()
      .then(() => Promise.all(connections.map(({ client }) => client.close())))
      .then(() => engine.close())
      .then(() => process.exit(0));
  });
});

/**
 * Passes on the answer of a query while it is written. The engine's own streams plan a query, and compute its
 * subqueries, on the event loop; so the engine writes the answer to a file in the background, which is read as it
 * grows.
 */
import { type FileHandle, open, rm } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import type { BackendSelect, BackendStream } from '../metering/client/clickhouse-client.ts';
import { stringLiteral } from '../metering/client/clickhouse-parameters.ts';

export interface AnswerFile {
  /** A new file, which is removed afterwards. */
  readonly path: string;
  readonly query: BackendStream;
  /** Runs a query with a connection of its lane. */
  run(query: BackendSelect): Promise<unknown>;
  /** Cancels running queries that match the condition on `system.processes`. */
  endQueries(condition: string): Promise<void>;
}

/** A query that is about to start cannot be cancelled yet. */
const END_AGAIN_MS = 100;

/**
 * Resolves when `to` has received the whole answer. If `to` is closed earlier, the query is cancelled, and this
 * rejects.
 */
export async function writeAnswer({ path, query, run, endQueries }: AnswerFile, to: Writable): Promise<void> {
  const file = await open(path, 'w+', 0o600);
  // With TRUNCATE the engine would write another file and rename it at the end. The path identifies this query.
  const name = stringLiteral(path);
  const sql = `${query.sql}\nINTO OUTFILE ${name} APPEND\n${query.ending}, log_comment = ${name}`;
  const written = run({ ...query, sql });
  let isRunning = true;
  const done = () => {
    isRunning = false;
  };
  const ended = written.then(done, done);
  const endQuery = async () => {
    while (isRunning) {
      // If this fails, the query ends by its own timeout.
      await endQueries(`Settings['log_comment'] = ${name}`).catch(() => {});
      await Promise.race([ended, setTimeout(END_AGAIN_MS)]);
    }
  };
  to.once('close', () => void endQuery());
  try {
    await pipeline(growingFile(file, written), to);
  } finally {
    await ended;
    await file.close();
    await rm(path, { force: true });
  }
}

const PIECE_BYTES = 64 * 1024;
/** The maximum delay before written bytes are read. */
const LOOK_AGAIN_MS = 10;

/** The bytes of `file`, until `written` resolves and all of them are read. Throws what `written` rejects with. */
async function* growingFile(
  file: FileHandle,
  written: Promise<unknown>,
): AsyncGenerator<Buffer, void, undefined> {
  let isWritten = false;
  const end = written.then(() => {
    isWritten = true;
  });
  // A reader that stops early is not notified of a failure.
  end.catch(() => {});
  for (let position = 0; ; ) {
    // Checked before reading: bytes written in between are found by the next read.
    const isWhole = isWritten;
    const buffer = Buffer.allocUnsafe(PIECE_BYTES);
    const { bytesRead } = await file.read(buffer, 0, PIECE_BYTES, position);
    position += bytesRead;
    if (bytesRead > 0) yield buffer.subarray(0, bytesRead);
    else if (isWhole) return;
    else await Promise.race([end, setTimeout(LOOK_AGAIN_MS)]);
  }
}

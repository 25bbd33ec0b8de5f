/**
 * The record of a move of the embedded stores in a DATA_DIR to servers (docs/how-to/move-to-servers.md): the target,
 * and whether it has ended. From then on the embedded stores are no longer opened: events there would be lost.
 */
import { open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { DataDirectoryError } from './data-directory.ts';

const recordSchema = z.object({
  /** The id of the move: the servers have it too, so that an interrupted move is continued and no other can begin. */
  id: z.uuid(),
  /** Without users and passwords. */
  to: z.object({ postgres: z.string(), clickhouse: z.string() }),
  startedAt: z.string(),
  /** Null: the stores here are still in use. */
  movedAt: z.string().nullable(),
});
export type MoveRecord = z.infer<typeof recordSchema>;

function moveFileOf(dataDir: string): string {
  return join(dataDir, 'move.json');
}

/** Null if no move was begun. Throws a `DataDirectoryError` if the file cannot be parsed. */
export async function readMove(dataDir: string): Promise<MoveRecord | null> {
  const path = moveFileOf(dataDir);
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw new DataDirectoryError(`${path} cannot be read: ${error.message}`);
  });
  if (text === null) return null;
  try {
    return recordSchema.parse(JSON.parse(text));
  } catch {
    throw new DataDirectoryError(
      `${path} is damaged: it says whether the stores here were moved to servers, and nothing is opened until that is known`,
    );
  }
}

/** On disk when this resolves, whole or not at all. */
export async function writeMove(dataDir: string, record: MoveRecord): Promise<void> {
  const path = moveFileOf(dataDir);
  const file = await open(`${path}.new`, 'w', 0o600);
  try {
    await file.writeFile(`${JSON.stringify(record, null, 2)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
  const directory = await open(dataDir, 'r');
  await directory.sync().finally(() => directory.close());
}

export async function forgetMove(dataDir: string): Promise<void> {
  await rm(moveFileOf(dataDir), { force: true });
}

/** A message for callers that still use the embedded stores. */
export function movedText({ to, movedAt }: Pick<MoveRecord, 'to' | 'movedAt'>): string {
  return `the stores here were moved on ${movedAt} to ${to.postgres} and ${to.clickhouse}`;
}

/** Throws a `DataDirectoryError` that states where the stores are now. */
export async function requireNotMoved(dataDir: string): Promise<void> {
  const record = await readMove(dataDir);
  if (record === null || record.movedAt === null) return;
  throw new DataDirectoryError(
    `${movedText(record)}: set DATABASE_URL and CLICKHOUSE_URL. DATA_DIR ${dataDir} takes no events any more`,
  );
}

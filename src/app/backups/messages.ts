/**
 * The messages between a backup and the running service, a JSON document per line, over a socket in DATA_DIR: anyone
 * with access to that directory could copy it anyway.
 */

import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { z } from 'zod';

/** The socket. */
export const BACKUP_SOCKET = 'backup.socket';

export const frozenTables = z.object({
  /** The directory of the parts, with paths such as `store/abc/abc…/all_1_1_0` below it. */
  directory: z.string(),
  tables: z.array(z.object({ name: z.string(), id: z.uuid() })),
});
export type FrozenTables = z.infer<typeof frozenTables>;

/** Sent to the service. */
export const request = z.union([
  /** Freeze the parts of all tables until the end of the connection. */
  z.object({ ask: z.literal('freeze') }),
  /** The backup is complete. If the connection ends without it, the backup has failed. */
  z.object({ ask: z.literal('note'), moment: z.int(), bytes: z.int() }),
]);
export type BackupRequest = z.infer<typeof request>;

/** Sent by the service, one for each request. */
export const reply = z.union([
  z.object({ frozen: frozenTables }),
  z.object({ done: z.literal(true) }),
  z.object({ refused: z.string() }),
]);
export type BackupReply = z.infer<typeof reply>;

export function send(socket: Socket, message: object): void {
  socket.write(`${JSON.stringify(message)}\n`);
}

/** Ends with the connection. Throws for an invalid message. */
export async function* messages<Message>(
  socket: Socket,
  schema: z.ZodType<Message>,
): AsyncGenerator<Message, void, undefined> {
  for await (const line of createInterface({ input: socket, crlfDelay: Number.POSITIVE_INFINITY })) {
    yield schema.parse(JSON.parse(line));
  }
}

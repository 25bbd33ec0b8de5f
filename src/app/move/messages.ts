/** The messages between `tallyhouse move` and the running service whose stores it moves, over a socket in DATA_DIR. */
import { z } from 'zod';
import { frozenTables } from '../backups/messages.ts';

export const MOVE_SOCKET = 'move.socket';

/** Sent to the service. The end of the connection reverts the request, unless the stores have moved. */
export const moveRequest = z.union([
  /** Freeze the parts of all tables, replacing earlier ones. */
  z.object({ ask: z.literal('freeze') }),
  /** Accept no changes and no events. */
  z.object({ ask: z.literal('hold') }),
  /** The servers have everything: record in DATA_DIR that the stores have moved, and close them permanently. */
  z.object({ ask: z.literal('leave'), id: z.uuid() }),
]);
export type MoveRequest = z.infer<typeof moveRequest>;

/** Sent by the service, one for each request. */
export const moveReply = z.union([
  z.object({ frozen: frozenTables }),
  z.object({ done: z.literal(true) }),
  z.object({ refused: z.string() }),
]);
export type MoveReply = z.infer<typeof moveReply>;

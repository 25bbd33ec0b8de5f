/** The messages between `tallyhouse move` and the running service whose stores it moves, over a socket in DATA_DIR. */
import { z } from 'zod';
import { frozenTables } from '../backups/messages.ts';

export const MOVE_SOCKET = 'move.socket';

/** To the service. The end of the connection ends what was asked for, unless the stores have moved. */
export const moveRequest = z.union([
  /** Keep the parts of all tables as they are now, instead of those before. */
  z.object({ ask: z.literal('freeze') }),
  /** Take no changes and no events. */
  z.object({ ask: z.literal('hold') }),
  /** The servers have everything: write into DATA_DIR that the stores have moved, and close them for good. */
  z.object({ ask: z.literal('leave'), id: z.uuid() }),
]);
export type MoveRequest = z.infer<typeof moveRequest>;

/** From the service, one for each request. */
export const moveReply = z.union([
  z.object({ frozen: frozenTables }),
  z.object({ done: z.literal(true) }),
  z.object({ refused: z.string() }),
]);
export type MoveReply = z.infer<typeof moveReply>;

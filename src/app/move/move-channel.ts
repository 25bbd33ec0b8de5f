/**
 * The running service's side of a move of its stores to servers: it freezes the parts of ClickHouse of a moment,
 * accepts no changes on request, and finally closes the stores permanently. The copying is done by another process,
 * `tallyhouse move`. If that is interrupted, the service continues as before.
 */

import type { Socket } from 'node:net';
import { Refusal } from '../../core/errors.ts';
import { messageOf } from '../../core/failures.ts';
import { formatInstant } from '../../core/time.ts';
import { connectLocally, listenLocally } from '../../embedded/local-socket.ts';
import { readMove, writeMove } from '../../embedded/move-record.ts';
import type { Logger } from '../../log.ts';
import type { ClickHouse } from '../../metering/client/clickhouse.ts';
import { freezeWhole, thawTables } from '../backups/frozen-tables.ts';
import { type FrozenTables, messages, send } from '../backups/messages.ts';
import { removeLinkedTables } from './linked-tables.ts';
import { MOVE_SOCKET, type MoveReply, type MoveRequest, moveReply, moveRequest } from './messages.ts';
import type { WriteGate } from './write-gate.ts';

export interface MoveChannelParts {
  readonly dataDir: string;
  /** An embedded one. Its statements wait for acknowledged events. */
  readonly clickhouse: ClickHouse;
  readonly log: Logger;
  readonly gate: WriteGate;
  /** Why the stored data are incomplete, or null. */
  problem(): string | null;
  /** Called when the stores have been abandoned. */
  onMoved(): void;
}

export interface MoveChannel {
  close(): Promise<void>;
}

export async function openMoveChannel(parts: MoveChannelParts): Promise<MoveChannel> {
  await removeLinkedTables(parts.dataDir);
  let open: Socket | null = null;
  let turn: Promise<void> = Promise.resolve();
  const server = await listenLocally(parts.dataDir, MOVE_SOCKET, (socket) => {
    if (open !== null) {
      send(socket, { refused: 'another move of these stores is running' } satisfies MoveReply);
      socket.end();
      return;
    }
    open = socket;
    turn = serve(parts, socket).finally(() => {
      open = null;
    });
  });
  return {
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      open?.destroy();
      await Promise.all([closed, turn]);
    },
  };
}

/** One move, from its first request to the end of its connection. */
async function serve(parts: MoveChannelParts, socket: Socket): Promise<void> {
  const { gate, log } = parts;
  let frozen: FrozenTables | null = null;
  let isMoved = false;
  socket.on('error', () => socket.destroy());
  const answer = async (asked: MoveRequest): Promise<MoveReply> => {
    if (asked.ask === 'freeze') {
      if (frozen !== null) await thawTables(frozen);
      frozen = await freezeWhole(parts);
      return { frozen };
    }
    if (asked.ask === 'hold') {
      await gate.close();
      log.warn('the stores are being moved: changes and events are refused meanwhile');
      return { done: true };
    }
    await leave(parts, asked.id);
    isMoved = true;
    return { done: true };
  };
  try {
    for await (const asked of messages(socket, moveRequest)) {
      const said = await answer(asked).catch((error: unknown): MoveReply => {
        log.warn({ err: error }, 'a move was refused');
        return { refused: messageOf(error) };
      });
      send(socket, said);
    }
  } catch (err) {
    log.warn({ err }, 'the connection of a move was lost');
  } finally {
    if (frozen !== null) await thawTables(frozen);
    await removeLinkedTables(parts.dataDir);
    // Even if writing it failed, it may have been written.
    if (isMoved || (await isMarked(parts.dataDir))) parts.onMoved();
    else gate.open();
    socket.destroy();
  }
}

/**
 * Only a process that has accepted nothing since the copy may write it, so the command does not: the service could have
 * been restarted in between.
 */
async function leave({ dataDir, gate }: MoveChannelParts, id: string): Promise<void> {
  const record = await readMove(dataDir);
  if (!gate.isClosed() || record?.id !== id)
    throw new Refusal('conflict', 'these stores are not being moved');
  await writeMove(dataDir, { ...record, movedAt: formatInstant(Date.now()) });
}

/** An unreadable mark counts as one. */
async function isMarked(dataDir: string): Promise<boolean> {
  return await readMove(dataDir).then(
    (record) => record !== null && record.movedAt !== null,
    () => true,
  );
}

/** The client side of the channel. */
export interface MovedService {
  /** Throws if the service has ended. */
  ask(asked: MoveRequest): Promise<MoveReply>;
  close(): void;
}

/** Rejects if no service listens in this directory. */
export async function askMovedService(dataDir: string): Promise<MovedService> {
  const socket = await connectLocally(dataDir, MOVE_SOCKET);
  socket.on('error', () => socket.destroy());
  const replies = messages(socket, moveReply);
  return {
    async ask(asked) {
      if (!socket.destroyed) send(socket, asked);
      const { value } = await replies.next();
      if (value === undefined) throw new Error('the service has ended');
      return value;
    },
    close: () => socket.end(),
  };
}

/**
 * The running service's side of a backup: it waits until ClickHouse has every acknowledged event, freezes the parts of
 * that moment, and records the outcome. The copying is done by another process, `tallyhouse backup`, so that requests
 * do not wait for it.
 */
import type { Socket } from 'node:net';
import { messageOf } from '../../core/failures.ts';
import { connectLocally, listenLocally } from '../../embedded/local-socket.ts';
import type { Logger } from '../../log.ts';
import type { ClickHouse } from '../../metering/client/clickhouse.ts';
import { freezeWhole, removeLinks, thawTables } from './frozen-tables.ts';
import {
  BACKUP_SOCKET,
  type BackupReply,
  type BackupRequest,
  type FrozenTables,
  messages,
  reply,
  request,
  send,
} from './messages.ts';

export interface BackupChannelParts {
  readonly dataDir: string;
  /** An embedded one. Its statements wait for acknowledged events. */
  readonly clickhouse: ClickHouse;
  readonly log: Logger;
  /** Why the stored data are incomplete, or null. */
  problem(): string | null;
  onDone(backup: { readonly moment: number; readonly bytes: number }): void;
  onFailed(): void;
}

export interface BackupChannel {
  close(): Promise<void>;
}

/** The lock of the backup itself ensures that there is only one at a time. */
export async function openBackupChannel(parts: BackupChannelParts): Promise<BackupChannel> {
  await removeLinks(parts.dataDir);
  const open = new Set<Socket>();
  const turns = new Set<Promise<void>>();
  const server = await listenLocally(parts.dataDir, BACKUP_SOCKET, (socket) => {
    open.add(socket);
    const turn = serve(parts, socket).finally(() => {
      open.delete(socket);
      turns.delete(turn);
    });
    turns.add(turn);
  });
  return {
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of open) socket.destroy();
      await Promise.all([closed, ...turns]);
    },
  };
}

/** One backup, from its first request to the end of its connection. */
async function serve(parts: BackupChannelParts, socket: Socket): Promise<void> {
  let frozen: FrozenTables | null = null;
  let [isBegun, isDone] = [false, false];
  socket.on('error', () => socket.destroy());
  const answer = async (asked: BackupRequest): Promise<BackupReply> => {
    if (asked.ask === 'freeze') {
      isBegun = true;
      frozen ??= await freezeWhole(parts);
      return { frozen };
    }
    isDone = true;
    parts.onDone(asked);
    return { done: true };
  };
  try {
    for await (const asked of messages(socket, request)) {
      const said = await answer(asked).catch((error: unknown): BackupReply => {
        parts.log.warn({ err: error }, 'a backup was refused');
        return { refused: messageOf(error) };
      });
      send(socket, said);
    }
  } catch (err) {
    parts.log.warn({ err }, 'the connection of a backup was lost');
  } finally {
    if (isBegun && !isDone) parts.onFailed();
    if (frozen !== null) await thawTables(frozen);
    socket.destroy();
  }
}

/** The client side of the channel. */
export interface AskedService {
  ask(asked: BackupRequest): Promise<BackupReply>;
  close(): void;
}

/** Rejects if no service listens in this directory. */
export async function askService(dataDir: string): Promise<AskedService> {
  const socket = await connectLocally(dataDir, BACKUP_SOCKET);
  socket.on('error', () => socket.destroy());
  const replies = messages(socket, reply);
  return {
    async ask(asked) {
      send(socket, asked);
      const { value } = await replies.next();
      if (value === undefined) throw new Error('the service has ended');
      return value;
    },
    close: () => socket.end(),
  };
}

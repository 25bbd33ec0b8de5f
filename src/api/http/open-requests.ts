/**
 * The state of each connection, so that a request is either executed or refused, and never both: a connection that
 * received the answer that its request did not arrive has no other one, and later bytes are dropped.
 *
 * Node continues to read and to parse the bytes that a connection sends after such an answer.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { perObject } from '../../core/per-object.ts';

interface Connection {
  /** The request that began last. */
  last: IncomingMessage | null;
  /** Requests that began and have no whole answer yet. */
  readonly open: Map<IncomingMessage, ServerResponse>;
  isRefused: boolean;
}

const connectionOf = perObject(
  (_socket: Duplex): Connection => ({ last: null, open: new Map(), isRefused: false }),
);

/** The listener of a server for its requests. */
export function withOpenRequests(listener: RequestListener): RequestListener {
  return (incoming, response) => {
    const connection = connectionOf(incoming.socket);
    // Its answer could not be distinguished from the refusal.
    if (connection.isRefused) return;
    connection.last = incoming;
    connection.open.set(incoming, response);
    response.once('close', () => connection.open.delete(incoming));
    listener(incoming, response);
  };
}

/** Whether the request was refused, although all of it has arrived in the end. */
export function isGivenUp(incoming: IncomingMessage): boolean {
  return connectionOf(incoming.socket).isRefused;
}

/**
 * Gives up the request that is arriving on a connection, and all later ones. Calls `refuse` unless the client could take
 * the refusal for the answer to another request, which has arrived: then the connection is closed after that answer.
 */
export function giveUp(socket: Duplex, refuse: () => void): void {
  const connection = connectionOf(socket);
  connection.isRefused = true;
  const { last, open } = connection;
  const carriedOut = [...open].filter(([incoming, { headersSent }]) => incoming.complete || headersSent);
  const [, answer] = carriedOut.at(-1) ?? [];
  const isAnswered = last !== null && !last.complete && !open.has(last);
  if (answer !== undefined) answer.once('close', () => socket.destroy());
  else if (isAnswered || !socket.writable) socket.destroy();
  else refuse();
}

/** Resolves with true when the request that is arriving is complete, with false when nothing more arrives. */
export async function arrives(socket: Duplex, { waitMs, waitsMax }: Patience): Promise<boolean> {
  const connection = connectionOf(socket);
  const before = connection.last;
  const wasArriving = before !== null && !before.complete;
  const isThere = () =>
    connection.last !== null && (wasArriving || connection.last !== before) && connection.last.complete;
  let read = bytesRead(socket);
  // Bytes that the system holds are read in the next turn: where the process is late, the client need not be.
  await new Promise((resolve) => setImmediate(resolve));
  for (let waits = 0; waits < waitsMax && !isThere(); waits += 1) {
    if (socket.destroyed || bytesRead(socket) === read) return false;
    read = bytesRead(socket);
    await new Promise((resolve) => {
      setTimeout(resolve, waitMs).unref();
    });
  }
  return isThere();
}

/** How long a connection may be without a byte, and how often. */
export interface Patience {
  readonly waitMs: number;
  readonly waitsMax: number;
}

function bytesRead(socket: Duplex): number {
  return 'bytesRead' in socket && typeof socket.bytesRead === 'number' ? socket.bytesRead : 0;
}

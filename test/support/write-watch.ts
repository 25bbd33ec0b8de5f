/** The messages of the protocol that a process sends to PostgreSQL, counted where its sockets write. */
import { Socket } from 'node:net';

export interface SentToPostgres {
  /** Calls of the socket. */
  readonly writes: number;
  readonly statements: number;
}

/** Counts until the process ends. Call it before connections are opened; the answer is what was sent up to now. */
export function watchWrites(): () => SentToPostgres {
  let [writes, statements] = [0, 0];
  const write = Socket.prototype.write;
  Socket.prototype.write = function watched(this: Socket, ...call: unknown[]) {
    const [chunk] = call;
    if (isOfDriver(this) && Buffer.isBuffer(chunk)) {
      writes += 1;
      statements += statementsIn(chunk);
    }
    return Reflect.apply(write, this, call);
  };
  return () => ({ writes, statements });
}

/** The sockets of `store/postgres-driver`. */
function isOfDriver(socket: Socket): boolean {
  return socket.constructor.name === 'TelltaleSocket';
}

/** Messages `Execute` and `Query`. */
function statementsIn(chunk: Buffer): number {
  let statements = 0;
  let place = 0;
  while (place + 5 <= chunk.length) {
    const kind = String.fromCharCode(chunk.readUInt8(place));
    if (kind === 'E' || kind === 'Q') statements += 1;
    place += 1 + chunk.readUInt32BE(place + 1);
  }
  return statements;
}

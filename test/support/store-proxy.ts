/**
 * A proxy between the service and one of its stores, for tests of what happens when the connection is lost or an
 * answer is late.
 */
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from 'node:net';

/** Data from the service to the store is a question, data from the store an answer. */
export type Direction = 'question' | 'answer';

/** How a connection ends: as by a server that stops, or as by a machine that is gone. */
export type Ending = 'closed' | 'reset';

/** The piece of data at which connections are cut; it is not passed on. */
interface Cut {
  readonly direction: Direction;
  /** Pieces of this direction that still pass. */
  readonly after: number;
  readonly ending: Ending;
}

export interface StoreProxy {
  readonly port: number;
  /** Ends the connection that transports the piece, once. Resolves when that has happened. */
  cutAt(cut: Cut): Promise<void>;
  /** Ends all connections and refuses new ones until `goOn`. */
  goDown(ending: Ending): void;
  /** Holds back all answers until `goOn`. */
  holdAnswers(): void;
  goOn(): void;
  /** Pieces of data that have passed in this direction. */
  passed(direction: Direction): number;
  close(): Promise<void>;
}

export async function startStoreProxy(store: NetConnectOpts): Promise<StoreProxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  const counts: Record<Direction, number> = { question: 0, answer: 0 };
  let pending: (Cut & { readonly done: () => void }) | null = null;
  let isDown = false;
  let held: (() => void)[] | null = null;

  const end = (pair: readonly [Socket, Socket], ending: Ending) => {
    const [client, server] = pair;
    pairs.delete(pair);
    if (ending === 'reset') client.resetAndDestroy();
    else client.destroy();
    server.destroy();
  };

  const pass = (direction: Direction, pair: readonly [Socket, Socket], piece: Buffer) => {
    const [client, server] = pair;
    if (!pairs.has(pair)) return;
    if (pending?.direction === direction && counts[direction] >= pending.after) {
      const { ending, done } = pending;
      pending = null;
      end(pair, ending);
      done();
      return;
    }
    counts[direction] += 1;
    (direction === 'question' ? server : client).write(piece);
  };

  const proxy = createServer((client) => {
    if (isDown) {
      client.resetAndDestroy();
      return;
    }
    const server = connect(store);
    const pair = [client, server] as const;
    pairs.add(pair);
    client.on('data', (piece) => pass('question', pair, piece));
    server.on('data', (piece) => {
      if (held === null) pass('answer', pair, piece);
      else held.push(() => pass('answer', pair, piece));
    });
    for (const socket of pair) {
      socket.on('error', () => end(pair, 'closed'));
      socket.on('close', () => end(pair, 'closed'));
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));

  return {
    port: (proxy.address() as AddressInfo).port,
    cutAt: ({ after, ...cut }) =>
      new Promise((done) => {
        pending = { ...cut, after: counts[cut.direction] + after, done };
      }),
    goDown(ending) {
      isDown = true;
      for (const pair of pairs) end(pair, ending);
    },
    holdAnswers() {
      held ??= [];
    },
    goOn() {
      isDown = false;
      const late = held ?? [];
      held = null;
      for (const answer of late) answer();
    },
    passed: (direction) => counts[direction],
    close: async () => {
      for (const pair of pairs) end(pair, 'closed');
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}

/** Unix sockets in a directory of the service, for programs on this machine with access to it. */
import { chmod, mkdtemp, rm, symlink } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Longest path that fits into a socket address everywhere (macOS: 104 bytes with the final zero). */
export const SOCKET_PATH_BYTES_MAX = 100;

/** Runs `use` with a path to `directory` that is short enough for a socket in it: itself or a temporary symlink. */
export async function withShortPath<T>(
  directory: string,
  nameBytesMax: number,
  use: (shortPath: string) => Promise<T>,
): Promise<T> {
  if (Buffer.byteLength(directory) + nameBytesMax + 1 <= SOCKET_PATH_BYTES_MAX) return await use(directory);
  const temporary = await mkdtemp(join(tmpdir(), 'th-'));
  try {
    await symlink(directory, join(temporary, 'l'));
    return await use(join(temporary, 'l'));
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/**
 * Listens for the owner of this process and root, in a directory that one process at a time uses: a socket left by a
 * killed one is replaced.
 */
export async function listenLocally(
  directory: string,
  name: string,
  onConnection: (socket: Socket) => void,
): Promise<Server> {
  const server = createServer(onConnection);
  server.unref();
  await rm(join(directory, name), { force: true });
  await withShortPath(directory, Buffer.byteLength(name), async (shortPath) => {
    await new Promise<void>((done, fail) => {
      server.once('error', fail);
      server.listen(join(shortPath, name), done);
    });
  });
  await chmod(join(directory, name), 0o600);
  return server;
}

/** Rejects if nothing listens. */
export async function connectLocally(directory: string, name: string): Promise<Socket> {
  return await withShortPath(directory, Buffer.byteLength(name), async (shortPath) => {
    const socket = connect(join(shortPath, name));
    await new Promise<void>((done, fail) => {
      socket.once('connect', done);
      socket.once('error', fail);
    });
    socket.removeAllListeners('error');
    return socket;
  });
}

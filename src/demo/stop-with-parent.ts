/**
 * Loaded into the demo's own server before anything else (`node --import`): when the demo ends, for any reason, the
 * pipe to its standard input closes and the server shuts down normally.
 */
import type { Socket } from 'node:net';

const stdin: NodeJS.ReadStream & Partial<Pick<Socket, 'unref'>> = process.stdin;

stdin.on('close', () => {
  process.kill(process.pid, 'SIGTERM');
});
stdin.resume();
// The pipe alone must not keep a drained server alive.
stdin.unref?.();

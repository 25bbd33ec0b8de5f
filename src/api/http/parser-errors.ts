/** Answers to requests that Node's HTTP parser cannot read. They reach no route. */
import type { Duplex } from 'node:stream';
import { stringifyJson } from '../base/json.ts';
import type { HttpMetrics } from './metrics.ts';
import { arrives, giveUp, type Patience } from './open-requests.ts';

const TIMED_OUT = 'ERR_HTTP_REQUEST_TIMEOUT';

const ANSWERS: Readonly<Record<string, readonly [status: number, reason: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large', 'The headers of the request are too large'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'Content Too Large', 'The chunk extensions of the body are too large'],
  [TIMED_OUT]: [408, 'Request Timeout', 'The request took too long to arrive'],
};
const UNREADABLE = [400, 'Bad Request', 'The request is not valid HTTP'] as const;

/** Patience with a request that timed out before the service had read all received bytes. */
const PATIENCE: Patience = { waitMs: 1_000, waitsMax: 60 };
/** A client that still sends, and reads only then, loses the answer with the connection. */
const LINGER_MS = 1_000;

/**
 * A listener for the event `clientError` of a server: answers in JSON and closes the connection. A refused request is
 * not executed, even if it arrives later.
 */
export function unreadableRequests(
  metrics: Pick<HttpMetrics, 'observe'>,
): (error: Error, socket: Duplex) => Promise<void> {
  return async (error, socket) => {
    const code = 'code' in error ? String(error.code) : '';
    if (code === TIMED_OUT && (await arrives(socket, PATIENCE))) return;
    if (code === 'ECONNRESET') socket.destroy();
    else giveUp(socket, () => refuse(socket, code));
  };

  function refuse(socket: Duplex, code: string): void {
    const [status, reason, message] = ANSWERS[code] ?? UNREADABLE;
    metrics.observe('none', 'none', status, 0);
    const body = stringifyJson({ message });
    const head = [
      `HTTP/1.1 ${status} ${reason}`,
      'Connection: close',
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  }
}

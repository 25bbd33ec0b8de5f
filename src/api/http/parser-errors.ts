/** Answers to requests that Node's HTTP parser cannot read. They reach no route. */
import type { Duplex } from 'node:stream';
import { stringifyJson } from '../base/json.ts';
import type { HttpMetrics } from './metrics.ts';

const ANSWERS: Readonly<Record<string, readonly [status: number, reason: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large', 'The headers of the request are too large'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'Content Too Large', 'The chunk extensions of the body are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout', 'The request took too long to arrive'],
};
const UNREADABLE = [400, 'Bad Request', 'The request is not valid HTTP'] as const;

/** A listener for the event `clientError` of a server: answers in JSON and closes the connection. */
export function unreadableRequests(
  metrics: Pick<HttpMetrics, 'observe'>,
): (error: Error, socket: Duplex) => void {
  return (error, socket) => {
    const code = 'code' in error ? String(error.code) : '';
    if (code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
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
  };
}

/**
 * The HTTP server. Timeouts and connection limits protect it from slow or dead clients (docs/reference/limits.md).
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Server as NetServer } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { withOpenRequests } from '../../api/http/open-requests.ts';
import { type Config, ConfigError } from '../../config.ts';
import { MINUTE_MS, SECOND_MS } from '../../core/time.ts';

export interface HttpLimits {
  /** From the first byte of a request to the end of its headers. */
  readonly headersMs: number;
  /** To the end of its body: 2 MB at 35 KB a second. */
  readonly requestMs: number;
  /** A connection without traffic, such as a client that does not read its answer. Longer than any answer takes. */
  readonly silenceMs: number;
  /** Longer than load balancers keep an idle connection (60 s), so that they never send on one that was just closed. */
  readonly keepAliveMs: number;
  readonly connectionsMax: number;
  /** How often the first two are checked. */
  readonly checkMs: number;
}

export const HTTP_LIMITS: HttpLimits = {
  headersMs: 10 * SECOND_MS,
  requestMs: MINUTE_MS,
  silenceMs: 10 * MINUTE_MS,
  keepAliveMs: 75 * SECOND_MS,
  connectionsMax: 4_000,
  checkMs: 2 * SECOND_MS,
};

/** Peers that vanished silently are detected by TCP keep-alive probes after this time. */
const PROBE_AFTER_MS = MINUTE_MS;

type Fetch = (request: Request, bindings?: object) => Response | Promise<Response>;

export function createHttpServer(fetch: Fetch, limits: HttpLimits = HTTP_LIMITS): Server {
  // The adaptor would give a client half a second to finish sending.
  const listener = getRequestListener(fetch, { autoCleanupIncoming: false });
  const options = {
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: limits.checkMs,
    keepAlive: true,
    keepAliveInitialDelay: PROBE_AFTER_MS,
  };
  const server = createServer(options, withOpenRequests(listener));
  server.maxConnections = limits.connectionsMax;
  server.setTimeout(limits.silenceMs);
  server.on('request', dropRest);
  return server;
}

/**
 * Reads and discards what a client still sends after its answer: many clients read the answer only then, and would lose
 * it if the connection was closed earlier. The time limit of the request still applies.
 */
function dropRest(request: IncomingMessage, response: ServerResponse): void {
  response.once('finish', () => {
    if (!request.readableEnded) request.resume();
  });
}

const LISTEN_REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use',
  EADDRNOTAVAIL: 'this machine does not have the address',
  EACCES: 'it is not permitted',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name of the host cannot be looked up',
};

/** Connections that arrive while the main thread is busy wait in the kernel; beyond the queue they would be dropped. */
const ACCEPT_QUEUE = HTTP_LIMITS.connectionsMax;

/** Throws a `ConfigError` if the service cannot listen there. */
export async function listen(
  server: NetServer,
  { host, port }: Pick<Config, 'host' | 'port'>,
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException) => {
      const reason = LISTEN_REASONS[error.code ?? ''] ?? error.message;
      reject(new ConfigError(`cannot listen on PORT ${port} of HOST ${host}: ${reason}`, { cause: error }));
    };
    server.once('error', refuse);
    server.listen({ port, host, backlog: ACCEPT_QUEUE }, () => {
      server.removeListener('error', refuse);
      resolve();
    });
  });
}

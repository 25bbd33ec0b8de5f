/** A receiver of webhooks: a real HTTP server that keeps what it gets. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';

const message = z.looseObject({ id: z.string(), type: z.string() });

interface Received {
  readonly headers: IncomingHttpHeaders;
  /** As it was sent. */
  readonly body: string;
  readonly message: z.infer<typeof message>;
}

export interface WebhookReceiver {
  readonly url: string;
  /** In the order in which the requests ended. */
  readonly received: readonly Received[];
  /** From now on. Answers 200 unless given. */
  answerWith(answer: (response: ServerResponse) => void): void;
  close(): Promise<void>;
}

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const received: Received[] = [];
  let answer = (response: ServerResponse): void => {
    response.end();
  };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    received.push({ headers: request.headers, body, message: message.parse(JSON.parse(body)) });
    answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    received,
    answerWith(other) {
      answer = other;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * A spend alert, from the alert to the message at a receiver of the demo's own, which verifies the signature as any
 * receiver would.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { parse, stringify } from 'lossless-json';
import { z } from 'zod';
import type { Terminal } from '../app/commands/terminal/terminal.ts';
import { type Decimal, roundDecimal } from '../core/decimal.ts';
import { DemoFailure } from './failure.ts';
import type { HttpApi } from './http-api.ts';
import { formatDollarsExact } from './money-format.ts';

const TYPE = 'spend_threshold_reached';
const WAIT_MS = 60_000;
/** The threshold as a share of the customer's spend. */
const SHARE = '0.8';

const createdWebhook = z.object({ data: z.object({ id: z.string(), secret: z.string() }) });
const createdAlert = z.object({ data: z.object({ id: z.string() }) });

export interface AlertStory {
  readonly customerId: string;
  readonly customerName: string;
  /** In US cents. */
  readonly spent: Decimal;
}

/** Prints the verified message. The server must be allowed to send to this machine. */
export async function showSpendAlert(
  api: HttpApi,
  terminal: Terminal,
  { customerId, customerName, spent }: AlertStory,
): Promise<void> {
  const receiver = await startReceiver();
  try {
    const webhook = { name: 'demo', url: receiver.url, event_types: [`alerts.${TYPE}`] };
    const { data } = await api.call('POST', '/v1/webhooks/create', createdWebhook, webhook);
    const threshold = roundDecimal(spent.times(SHARE), 'ROUND_DOWN', 0);
    const begun = performance.now();
    const alert = { alert_type: TYPE, name: `${customerName} spends`, customer_id: customerId };
    await api.call('POST', '/v1/alerts/create', createdAlert, { ...alert, threshold });
    const { headers, body } = await receiver.message();
    requireSignature(headers, body, data.secret);
    await api.call('POST', '/v1/webhooks/archive', z.object({}), { id: data.id });
    terminal.heading(`Spend alert: ${customerName} at ${formatDollarsExact(threshold)}`);
    terminal.line(`  ${Math.round(performance.now() - begun)} ms later, signature verified:`);
    // Keeps all digits of its numbers.
    const lines = stringify(parse(body), null, 2) ?? '';
    for (const line of lines.split('\n')) terminal.line(`  ${line}`);
  } finally {
    await receiver.close();
  }
}

/** Verifies the received bytes, before anything is parsed. */
function requireSignature(headers: IncomingHttpHeaders, body: string, secret: string): void {
  const signed = `${headers['x-metronome-date']}\n${body}`;
  const expected = createHmac('sha256', secret).update(signed).digest('hex');
  const given = String(headers['metronome-webhook-signature']);
  if (given.length !== expected.length || !timingSafeEqual(Buffer.from(given), Buffer.from(expected))) {
    throw new DemoFailure('the signature of a message is wrong');
  }
}

interface ReceivedMessage {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

async function startReceiver() {
  const received: ReceivedMessage[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    received.push({ headers: request.headers, body });
    response.writeHead(204).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    async message(): Promise<ReceivedMessage> {
      const deadline = performance.now() + WAIT_MS;
      while (performance.now() < deadline) {
        const [first] = received;
        if (first !== undefined) return first;
        await delay(10);
      }
      throw new DemoFailure('no message of the alert came');
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

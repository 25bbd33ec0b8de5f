/** An answer of Stripe, or the lack of one, says whether the request was executed. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import { ProviderProblem } from '../../../src/payments/provider.ts';
import { createStripeAccess } from '../../../src/payments/stripe/access.ts';

let answer: (response: ServerResponse) => void = () => {};
let arrived = 0;
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    arrived += 1;
    answer(response);
  });
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const { port } = server.address() as AddressInfo;
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const text = (status: number, body: string) => (response: ServerResponse) => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(body);
};

/** The kind of problem that a request meets, and how many requests have arrived at the server. */
async function outcome(description: string, to = `http://127.0.0.1:${port}`) {
  const before = arrived;
  const access = createStripeAccess({
    apiKey: 'sk_test_key',
    baseUrl: to,
    rates: { account: 1_000, endpoint: 1_000 },
    timeoutMs: 300,
  });
  const ended = await access
    .request('POST /v1/invoices', (client, options) =>
      client.invoices.create({ customer: 'cus_1', description }, options),
    )
    .then(
      () => 'answered',
      (error: unknown) => (error instanceof ProviderProblem ? error.kind : String(error)),
    );
  return { ended, arrived: arrived - before };
}

describe('the outcome of a request to Stripe', () => {
  test.each(['a\ud800', '\udc00'])(
    'a request that cannot be encoded (%j) is refused, and nothing of it is sent',
    async (description) => {
      answer = text(200, '{"id":"in_1","object":"invoice"}');
      expect(await outcome(description)).toEqual({ ended: 'refused', arrived: 0 });
      expect(await outcome('whole')).toEqual({ ended: 'answered', arrived: 1 });
    },
  );

  test.each<[string, (response: ServerResponse) => void, string]>([
    ['an answer that is no JSON', text(200, '<html>'), 'unclear'],
    ['an answer without an object', text(200, 'null'), 'unclear'],
    [
      'an answer that is cut',
      (response) => response.writeHead(200, { 'content-length': 50 }).write('{"id":'),
      'unclear',
    ],
    ['a connection that ends', (response) => response.destroy(), 'unclear'],
    ['no answer in time', () => {}, 'unclear'],
    ['an error of the server', text(500, '{"error":{"message":"no"}}'), 'unclear'],
    ['a refusal', text(400, '{"error":{"message":"no"}}'), 'refused'],
  ])(
    'a request is in doubt exactly when it was sent and Stripe has not said what it did: %s',
    async (_, to, kind) => {
      answer = to;
      const { ended, arrived: sent } = await outcome('text');
      expect(ended).toBe(kind);
      expect(sent).toBeGreaterThan(0);
    },
  );

  test('a request that finds nobody is in doubt, for the network may lose answers too', async () => {
    expect(await outcome('text', 'http://127.0.0.1:1')).toEqual({ ended: 'unclear', arrived: 0 });
  });
});

import { describe, expect, it } from 'vitest';
import { Refusal } from '../../../../../src/core/errors.ts';
import { testApp } from '../../fixtures.ts';

describe('POST /v1/ingest', () => {
  it('hands the bytes on as they came, whatever they are', async () => {
    const bodies: string[] = [];
    const { client } = testApp([], {
      ingest: async (body) => {
        bodies.push(body.toString('utf8'));
        return { accepted: 2, duplicates: 1 };
      },
    });
    const answer = await client.post('/v1/ingest', undefined, { rawBody: '[ {"n": 1.10} ] not JSON é' });
    expect(answer.body).toEqual({ accepted: 2, duplicates: 1 });
    expect(bodies).toEqual(['[ {"n": 1.10} ] not JSON é']);
  });

  it.each([
    ['sender', 200],
    ['writer', 200],
    ['reader', 403],
    ['stranger', 401],
    [null, 401],
  ])('POST /v1/ingest with token %s answers %i', async (token, status) => {
    expect((await testApp([]).client.send('POST', '/v1/ingest', [], { token })).status).toBe(status);
  });

  it('POST /v1/ingest passes the list of bad events on', async () => {
    const errors = [{ index: 3, transaction_id: null, message: 'timestamp: is required' }];
    const { client } = testApp([], {
      ingest: async () => {
        throw new Refusal('invalid', '1 of 4 events is not valid', { details: { errors } });
      },
    });
    const answer = await client.send('POST', '/v1/ingest', []);
    expect([answer.status, answer.body]).toEqual([400, { message: '1 of 4 events is not valid', errors }]);
  });

  it('POST /v1/ingest tells a client to slow down in the way the official one understands', async () => {
    const { client } = testApp([], {
      ingest: async () => {
        throw new Refusal('overloaded', 'Too many events in flight');
      },
    });
    const answer = await client.send('POST', '/v1/ingest', []);
    expect(answer.status).toBe(429);
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(answer.headers.get('x-metronome-rate-limit-type')).toBe('client');
  });

  it.each([
    '/v1/ingest',
    '/v1/ingest/otlp',
    '/v1/ingest/otlp/v1/traces',
    '/v1/ingest/cloudevents',
    '/api/v1/events',
  ])(
    'POST /v1/ingest refuses a body for %s before it is read, where there is no room for events',
    async (path) => {
      const { hono } = testApp([], {
        admitEvents: () => {
          throw new Refusal('overloaded', 'too many events are waiting');
        },
      });
      let isRead = false;
      const body = new ReadableStream(
        {
          pull(controller) {
            isRead = true;
            controller.enqueue(new Uint8Array(10));
          },
        },
        { highWaterMark: 0 },
      );
      const headers = { authorization: 'Bearer sender', 'content-type': 'application/json' };
      const answer = await hono.request(path, {
        method: 'POST',
        headers,
        body,
        duplex: 'half',
      } as RequestInit);
      expect(answer.status).toBe(429);
      expect(isRead).toBe(false);
    },
  );
});

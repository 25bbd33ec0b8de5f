import { describe, expect, it } from 'vitest';
import { testApp } from './fixtures.ts';

const PATHS = ['/healthz', '/readyz', '/metrics', '/openapi.json', '/docs'];

describe('the service routes', () => {
  it.each(PATHS)('%s needs no token and does not mind one, not even a wrong one', async (path) => {
    const { client } = testApp([]);
    for (const token of [null, 'writer', 'stranger']) {
      expect((await client.get(path, { token })).status).toBe(200);
    }
  });

  it('answers HEAD as GET without a body', async () => {
    const response = await testApp([]).hono.request('/healthz', { method: 'HEAD' });
    expect([response.status, await response.text()]).toEqual([200, '']);
  });

  it('is not ready with 503 while a part is missing, naming it', async () => {
    const { client } = testApp([], {
      readiness: async () => ({ ready: false, checks: { postgres: true, clickhouse: false } }),
    });
    const answer = await client.send('GET', '/readyz');
    expect(answer.status).toBe(503);
    expect(answer.body).toEqual({
      message: 'Not ready: clickhouse',
      checks: { postgres: true, clickhouse: false },
    });
  });

  it('counts requests by route, not by path, and shows what the service measures', async () => {
    const { client } = testApp([], {
      measures: () => [
        { name: 'tallyhouse_ingest_events_total', help: 'Events stored.', type: 'counter', value: 12 },
      ],
    });
    await client.send('POST', '/v1/ingest', []);
    await client.send('GET', '/v1/some/strange/path');
    const text = (await client.get('/metrics')).body;
    expect(text).toContain(
      '# TYPE tallyhouse_ingest_events_total counter\ntallyhouse_ingest_events_total 12\n',
    );
    expect(text).toMatch(/duration_seconds_count\{method="POST",route="\/v1\/ingest",status="200"\} 1/);
    expect(text).toMatch(/duration_seconds_count\{method="GET",route="none",status="404"\} 1/);
    expect(text).not.toContain('strange');
  });

  it('keeps the figures of two apps in one process apart', async () => {
    const [one, two] = [testApp([]), testApp([])];
    await one.client.get('/healthz');
    expect((await two.client.get('/metrics')).body).not.toContain('route="/healthz"');
  });
});

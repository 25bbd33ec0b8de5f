import { describe, expect, it } from 'vitest';
import { registerCounter, registerGauge } from '../../../src/api/http/metrics.ts';
import { testApp } from './fixtures.ts';

const PATHS = ['/healthz', '/readyz', '/metrics', '/openapi.json', '/docs', '/llms.txt'];

describe('the service routes', () => {
  it.each(PATHS)('%s needs no token and does not mind one, not even a wrong one', async (path) => {
    const { client } = testApp([]);
    for (const token of [null, 'writer', 'stranger']) {
      expect((await client.get(path, { token })).status).toBe(200);
    }
  });

  it('a browser that opens the service is led to the reference', async () => {
    const response = await testApp([]).hono.request('/');
    expect([response.status, response.headers.get('location')]).toEqual([302, '/console']);
  });

  it('the service answers HEAD as GET without a body', async () => {
    const response = await testApp([]).hono.request('/healthz', { method: 'HEAD' });
    expect([response.status, await response.text()]).toEqual([200, '']);
  });

  it('the service is not ready with 503 while a part is missing, naming it', async () => {
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

  it('the service counts requests by route, not by path', async () => {
    const { client } = testApp([]);
    await client.send('POST', '/v1/ingest', []);
    await client.send('GET', '/v1/some/strange/path');
    const text = (await client.get('/metrics')).body;
    expect(text).toMatch(/duration_seconds_count\{method="POST",route="\/v1\/ingest",status="200"\} 1/);
    expect(text).toMatch(/duration_seconds_count\{method="GET",route="none",status="404"\} 1/);
    expect(text).not.toContain('strange');
  });

  it('the service shows what the service counts as it is at each scrape', async () => {
    let stored = 0;
    let waiting = 0;
    const { client } = testApp([], {
      measures: (registry) => {
        registerCounter(registry, { name: 'stored_total', help: 'Events stored.', value: () => stored });
        registerGauge(registry, { name: 'waiting_bytes', help: 'Bytes waiting.', value: () => waiting });
      },
    });
    const scrapes = [];
    for ([stored, waiting] of [
      [0, 0],
      [12, 700],
      [15, 0.5],
    ] as const) {
      scrapes.push((await client.get('/metrics')).text('').split('\n'));
    }
    const shown = (count: number, bytes: number) =>
      expect.arrayContaining([
        '# HELP stored_total Events stored.',
        '# TYPE stored_total counter',
        `stored_total ${count}`,
        '# HELP waiting_bytes Bytes waiting.',
        '# TYPE waiting_bytes gauge',
        `waiting_bytes ${bytes}`,
      ]);
    expect(scrapes).toEqual([shown(0, 0), shown(12, 700), shown(15, 0.5)]);
  });

  it('the service keeps the figures of two apps in one process apart', async () => {
    const [one, two] = [testApp([]), testApp([])];
    await one.client.get('/healthz');
    expect((await two.client.get('/metrics')).body).not.toContain('route="/healthz"');
  });
});

import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';

const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');

it.each(['deploy/prometheus-rules.yaml', 'deploy/grafana-dashboard.json'])(
  '%s uses only figures that the service has',
  async (path) => {
    const files = ['service-measures', 'metrics', 'webhook-measures'];
    const sources = (await Promise.all(files.map((file) => read(`src/api/http/${file}.ts`)))).join('');
    const used = [...(await read(path)).matchAll(/tallyhouse_[a-z_]+/g)].map(([name]) => name);
    expect(used.length).toBeGreaterThan(8);
    for (const name of used) expect(sources).toContain(`'${name.replace(/_(?:bucket|count|sum)$/, '')}'`);
  },
);

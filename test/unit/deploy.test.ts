import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';

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

it('Docker is given every file of the checkout that the image is made of', async () => {
  const given = (await read('.dockerignore')).split('\n');
  const copies = [...(await read('Dockerfile')).matchAll(/^COPY (?!--from)(.+) \S+$/gm)];
  const copied = copies.flatMap(([, names = '']) => names.split(' '));
  expect(copied.length).toBeGreaterThan(5);
  for (const name of copied) expect(given).toContain(`!${name.split('/')[0]}`);
});

/** Its structure. Where helm is installed, CI lints and renders the chart as well. */
describe('the Helm chart', async () => {
  const chart = 'deploy/helm/tallyhouse';
  const files = await readdir(new URL(`../../${chart}/templates`, import.meta.url));
  const templates = await Promise.all(files.map((file) => read(`${chart}/templates/${file}`)));
  const values: unknown = parse(await read(`${chart}/values.yaml`));
  const ACTION = /\{\{-? ?(.*?) ?-?\}\}/g;
  const CONTROL = /^\s*\{\{-? ?(?:with|range|if|end|else)\b.*\}\}\n/gm;

  const resource = z.object({
    apiVersion: z.string(),
    kind: z.string(),
    spec: z.record(z.string(), z.unknown()),
  });
  const resources = templates.map((text) =>
    resource.parse(parse(text.replaceAll(CONTROL, '').replaceAll(ACTION, 'x'))),
  );

  it('has templates that are YAML around their actions, with nothing half opened', () => {
    expect(resources.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`).sort()).toEqual([
      'apps/v1 Deployment',
      'v1 Service',
    ]);
    for (const text of templates) {
      expect(text.replaceAll(ACTION, '')).not.toMatch(/\{ ?\{|\} ?\}/);
      const opened = [...text.matchAll(/\{\{-? ?(?:with|range|if)\b/g)].length;
      expect([...text.matchAll(/\{\{-? ?end\b/g)]).toHaveLength(opened);
    }
  });

  it('uses values that it has, and all of them', () => {
    const used = templates.flatMap((text) => [...text.matchAll(/[.]Values((?:[.]\w+)+)/g)]);
    const paths = new Set(used.map(([, path = '']) => path.slice(1)));
    const at = (path: string) =>
      path.split('.').reduce<unknown>((value, name) => Object(value)[name], values);
    expect([...paths].filter((path) => at(path) === undefined)).toEqual([]);
    expect(new Set([...paths].map((path) => path.split('.')[0]))).toEqual(
      new Set(Object.keys(Object(values))),
    );
  });

  it('sends requests to the port of the container, and waits as long as a stop takes', () => {
    const [deployment, service] = ['Deployment', 'Service'].map((kind) =>
      JSON.stringify(resources.find((one) => one.kind === kind)?.spec),
    );
    expect(service).toContain('"targetPort":"http"');
    expect(deployment).toContain('{"name":"http","containerPort":3000}');
    expect(deployment).toContain('"terminationGracePeriodSeconds":45');
    for (const path of ['/readyz', '/healthz']) {
      expect(deployment).toContain(`"httpGet":{"path":"${path}","port":"http"}`);
    }
  });
});

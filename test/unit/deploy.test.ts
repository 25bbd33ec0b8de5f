import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { SETTINGS } from '../../src/config.ts';

const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');

it.each(['deploy/prometheus-rules.yaml', 'deploy/grafana-dashboard.json'])(
  '%s uses only figures that the service has',
  async (path) => {
    const files = ['service-measures', 'metrics', 'webhook-measures', 'delivery-measures'];
    const sources = (await Promise.all(files.map((file) => read(`src/api/http/${file}.ts`)))).join('');
    const used = [...(await read(path)).matchAll(/tallyhouse_[a-z_]+/g)].map(([name]) => name);
    expect(used.length).toBeGreaterThan(8);
    for (const name of used) expect(sources).toContain(`'${name.replace(/_(?:bucket|count|sum)$/, '')}'`);
  },
);

it('Docker is given every file of the checkout that the image is built from', async () => {
  const given = (await read('.dockerignore')).split('\n');
  const copies = [...(await read('Dockerfile')).matchAll(/^COPY (?!--from)(.+) \S+$/gm)];
  const copied = copies.flatMap(([, names = '']) => names.split(' '));
  expect(copied.length).toBeGreaterThan(5);
  for (const name of copied) expect(given).toContain(`!${name.split('/')[0]}`);
});

/** A new setting is added to docker-compose.yml, and by `npm run cluster:files` to the other one. */
describe('every setting of the service', () => {
  const names = SETTINGS.map(({ name }) => name);
  /** The container listens where its image says, on a separate volume. */
  const OF_IMAGE = ['PORT', 'HOST', 'DATA_DIR'];
  const composition = z.object({
    services: z.object({
      tallyhouse: z.object({ environment: z.record(z.string(), z.string().nullable()) }),
    }),
  });

  it.each(['docker-compose.yml', 'docker-compose.cluster.yml'])(
    'every setting of the service is passed by %s',
    async (file) => {
      const { environment } = composition.parse(parse(await read(file))).services.tallyhouse;
      const passed = Object.keys(environment);
      expect(names.filter((name) => !passed.includes(name))).toEqual(OF_IMAGE);
      // Null: the value of the shell or of .env. One that is passed empty would not be unset for libuv.
      for (const [name, value] of Object.entries(environment)) {
        if (value !== null && value !== 'tallyhouse')
          expect(value).toMatch(new RegExp(`^\\$\\{${name}:-.+\\}$`));
      }
      expect(environment.CLICKHOUSE_CLUSTER).toBe(file === 'docker-compose.yml' ? null : 'tallyhouse');
      // The others are those of the libraries for traces, which docs/how-to/operations.md names.
      const others = passed.filter((name) => !names.includes(name));
      const traces = await read('docs/how-to/operations.md');
      for (const name of others) expect(traces).toContain(name);
    },
  );

  it('every setting of the service is passed by the Helm chart, from its values or its secret', async () => {
    const template = await read('deploy/helm/tallyhouse/templates/deployment.yaml');
    expect(template).toMatch(
      /range \$name, \$value := [.]\s*\}\}\s*- name: \{\{ \$name \}\}\s*value: \{\{ \$value \| quote \}\}/,
    );
    expect(template).toMatch(/envFrom:\s*- secretRef:/);
    for (const name of OF_IMAGE) expect(await read('deploy/helm/tallyhouse/values.yaml')).toContain(name);
  });

  it('every setting of the service is in the reference of the configuration', async () => {
    const table = await read('docs/reference/configuration.md');
    const rows = [...table.matchAll(/^\| (`[^|]*`) \|/gm)].map(([, cell = '']) => cell);
    const documented = rows.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name));
    expect(documented.sort()).toEqual([...names].sort());
  });
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

  it('the Helm chart has templates that are YAML around their actions, with nothing half opened', () => {
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

  it('the Helm chart sends requests to the port of the container, and waits as long as a stop takes', () => {
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

/** `tallyhouse plan`, `apply` and `schema` as an operator runs them beside the running service. */
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { ACTIONS } from '../../src/app/cli/actions.ts';
import { runProgram } from '../../src/app/cli/program.ts';
import { runProgram as startProgram } from '../support/child-process.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

const { api, url, token } = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
const folder = await mkdtemp(join(tmpdir(), 'price-commands-'));

/** In this process: one more for each call would be most of the time of this file. */
async function run(...args: string[]) {
  let [out, err] = ['', ''];
  const add = (text: unknown) => {
    out += String(text);
    return true;
  };
  const stdout = vi.spyOn(process.stdout, 'write').mockImplementation(add);
  const call = args[0] === 'schema' ? args : [...args, '--url', url, '--token', token];
  const code = await runProgram(call, ACTIONS, { out: add, err: (text) => (err += text) });
  stdout.mockRestore();
  return { code, out, err };
}

async function runAsProcess(...args: string[]) {
  const program = startProgram('src/app/cli/main.ts', args, { DATA_DIR: '/nowhere', API_TOKEN: token });
  const code = await program.ended;
  return { code, out: program.stdout(), err: program.stderr() };
}

/** The files of the how-to, one for each block of YAML. */
async function documentedFiles(): Promise<string[]> {
  const page = await readFile('docs/how-to/prices-as-code.md', 'utf8');
  const blocks = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = '']) => text);
  return blocks.filter((text) => /^(metrics|rate_cards|pricing_units):/m.test(text));
}

async function written(name: string, text: string): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, text);
  return file;
}

const planned = z.object({
  effective_at: z.string(),
  steps: z.array(
    z.looseObject({ action: z.string(), kind: z.string(), key: z.string(), from: z.string().nullable() }),
  ),
});

test('tallyhouse plan shows what the file of the guide changes and apply does it, once; an edited price begins next month', async () => {
  const [text = ''] = await documentedFiles();
  const file = await written('prices.yaml', text);
  const plan = await runAsProcess('plan', file, '--url', url);
  expect([plan.code, plan.err]).toEqual([2, '']);
  expect(plan.out).toContain('+ metric tokens\n+ product input-tokens\n+ rate card standard\n');
  expect(plan.out).toContain(
    '+ rate input-tokens on standard from 2026-01-01: 3 for 1000, then 2 (volume)\n',
  );
  expect((await run('export')).out).toContain('rate_cards: []');

  const apply = await run('apply', file);
  expect([apply.code, apply.err]).toEqual([0, '']);
  expect(await run('plan', file)).toMatchObject({
    code: 0,
    out: 'Nothing to do: the service has what the files say.\n',
  });

  const edited = await written('edited.yaml', text.replace('- price: 2\n', '- price: 1.5\n'));
  const change = await run('plan', edited, '--json');
  expect([change.code, change.err]).toEqual([2, '']);
  const { effective_at, steps } = planned.parse(JSON.parse(change.out));
  expect(effective_at).toBe('2026-12-01T00:00:00.000Z');
  expect(steps).toMatchObject([
    { action: 'change', kind: 'rate', key: 'standard', from: '2026-12-01T00:00:00.000Z', to: null },
  ]);
  expect((await run('apply', edited)).code).toBe(0);
  expect((await run('plan', edited)).code).toBe(0);
  const exported = await written('exported.yaml', (await run('export')).out);
  expect((await run('plan', exported)).code).toBe(0);
});

test('tallyhouse apply --plan does what was planned, and refuses it once the service has changed', async () => {
  const text = 'metrics:\n  - {key: calls, name: Calls, aggregation_type: COUNT}\n';
  const file = await written('calls.yaml', text);
  const out = join(folder, 'prices.plan');
  expect((await run('plan', file, '--out', out)).code).toBe(2);
  expect((await run('apply', '--plan', out)).code).toBe(0);
  expect(await run('apply', '--plan', out)).toMatchObject({ code: 0, err: '' });
  const renamed = await written('renamed.yaml', text.replace('name: Calls', 'name: All calls'));
  expect((await run('plan', renamed, '--out', out)).code).toBe(2);
  const { data } = z
    .object({ data: z.array(z.object({ id: z.string(), name: z.string() })) })
    .parse((await api.get('/v1/billable-metrics')).body);
  const id = data.find(({ name }) => name === 'Calls')?.id;
  await api.put(`/v1/billable-metrics/${id}`, { name: 'Requests' });
  const refused = await run('apply', '--plan', out);
  expect(refused.code).toBe(1);
  expect(refused.err).toContain('The service has changed since this was planned.');
  expect(refused.err).toContain('not in the plan: ~ metric calls: name Requests → All calls');
});

test('tallyhouse plan names the file, the line and the field that was meant, and ends with 1 where the call is wrong', async () => {
  const file = await written(
    'misspelt.yaml',
    'metrics:\n  - key: tokens\n    name: Tokens\n    agregation_type: SUM\n    aggregation_key: tokens\nrate_cards:\n  - key: a\n    name: A\n    rates:\n      - product: x\n        starting_at: 2026-01-01T00:00:00Z\n        rate_type: FLATT\n        price: cheap\n',
  );
  const { code, err } = await run('plan', file);
  expect(code).toBe(1);
  expect(err).toContain(`${file}:4: agregation_type is not a field: did you mean aggregation_type?`);
  expect(err).toContain(`${file}:12: rate_type cannot be FLATT: did you mean FLAT?`);
  expect(err).toContain(`${file}:13: rate_cards[0].rates[0].price: must be a number`);
  expect(await run('plan', file, '--colour')).toMatchObject({ code: 1, out: '' });
  expect(await run('apply')).toMatchObject({ code: 2, out: '' });
});

test('tallyhouse plan refuses a price that begins before this month unless history is allowed, and prune ends what files leave out', async () => {
  const file = (rates: string) => `metrics:
  - {key: pages, name: Pages, aggregation_type: COUNT}
products:
  - {key: pages, name: Pages, type: USAGE, billable_metric: pages}
rate_cards:
  - key: history
    name: History
    rates:
${rates}`;
  const rate = (from: string, price: number) =>
    `      - {product: pages, starting_at: ${from}T00:00:00Z, rate_type: FLAT, price: ${price}}\n`;
  const first = await written('first.yaml', file(rate('2026-01-01', 5)));
  expect((await run('apply', first)).code).toBe(0);
  const late = await written('late.yaml', file(rate('2026-01-01', 5) + rate('2026-06-01', 6)));
  const refused = await run('plan', late);
  expect(refused.code).toBe(1);
  expect(refused.err).toContain(
    'the rate of pages on rate card history would change from 2026-06-01T00:00:00.000Z on, before this month',
  );
  const allowed = await run('plan', late, '--allow-history');
  expect(allowed.code).toBe(2);
  expect(allowed.out).toContain('~ rate pages on history from 2026-06-01: 5 → 6\n');
  const dated = await run(
    'plan',
    await written('dated.yaml', file(rate('2026-01-01', 7))),
    '--effective-at',
    '2027-02-01',
  );
  expect(dated.out).toContain('~ rate pages on history from 2027-02-01: 5 → 7\n');
  const empty = await written('empty.yaml', 'rate_cards:\n  - {key: history, name: History}\n');
  expect((await run('plan', empty)).code).toBe(0);
  const pruned = await run('apply', empty, '--prune');
  expect([pruned.code, pruned.err]).toEqual([0, '']);
  expect(pruned.out).toContain('~ rate pages on history from 2026-12-01: 5 → ended\n');
  expect(pruned.out).toContain('- product pages\n');
  expect((await run('plan', empty, '--prune')).code).toBe(0);
});

test('tallyhouse plan renames what has a new key, and a metric with another definition becomes another one', async () => {
  const file = (metric: string, product: string) =>
    `metrics:\n  - {${metric}, aggregation_type: SUM, aggregation_key: seconds, property_filters: [{name: seconds, exists: true}]}\nproducts:\n  - {${product}, type: USAGE}\n`;
  const before = file('key: seconds, name: Seconds', 'key: time, name: Time, billable_metric: seconds');
  expect((await run('apply', await written('before.yaml', before))).code).toBe(0);
  const renamed = before.replace('key: time,', 'key: duration, was: time,');
  const plan = await run('apply', await written('was.yaml', renamed));
  expect([plan.code, plan.err]).toEqual([0, '']);
  expect(plan.out).toContain('~ product duration: key time → duration\n');
  const largest = await written('largest.yaml', renamed.replace('SUM', 'MAX'));
  const replaced = await run('apply', largest);
  expect([replaced.code, replaced.err]).toEqual([0, '']);
  expect(replaced.out).toContain('- metric seconds\n+ metric seconds\n');
  expect(replaced.out).toContain(
    '~ product duration from 2026-12-01: billable_metric seconds (archived) → seconds\n',
  );
  expect((await run('plan', largest)).code).toBe(0);
});

test('tallyhouse schema prints a JSON Schema that refuses unknown members and has the fields of the API', async () => {
  const { code, out } = await run('schema');
  expect(code).toBe(0);
  const schema = z
    .looseObject({
      $schema: z.string(),
      additionalProperties: z.literal(false),
      properties: z.looseObject({}),
    })
    .parse(JSON.parse(out));
  expect(schema.$schema).toBe('https://json-schema.org/draft/2020-12/schema');
  expect(Object.keys(schema.properties)).toEqual([
    'pricing_units',
    'custom_field_keys',
    'metrics',
    'products',
    'rate_cards',
  ]);
  expect(out).toContain('"tiers_mode"');
});

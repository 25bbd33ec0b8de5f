/** `tallyhouse plan`, `apply` and `schema` as an operator runs them: processes beside the running service. */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { runProgram } from '../support/child-process.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

const { api, url, token } = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
const folder = await mkdtemp(join(tmpdir(), 'price-commands-'));

async function run(...args: string[]) {
  const program = runProgram('src/app/cli/main.ts', args, { DATA_DIR: '/nowhere', API_TOKEN: token });
  const code = await program.ended;
  return { code, out: program.stdout(), err: program.stderr() };
}

async function written(name: string, text: string): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, text);
  return file;
}

test('tallyhouse apply --plan does what was planned, and refuses it once the service has changed', async () => {
  const text = 'metrics:\n  - {key: calls, name: Calls, aggregation_type: COUNT}\n';
  const file = await written('calls.yaml', text);
  const out = join(folder, 'prices.plan');
  expect((await run('plan', file, '--url', url, '--out', out)).code).toBe(2);
  expect((await run('apply', '--plan', out, '--url', url)).code).toBe(0);
  expect(await run('apply', '--plan', out, '--url', url)).toMatchObject({ code: 0, err: '' });
  const renamed = await written('renamed.yaml', text.replace('name: Calls', 'name: All calls'));
  expect((await run('plan', renamed, '--url', url, '--out', out)).code).toBe(2);
  const { data } = z
    .object({ data: z.array(z.object({ id: z.string(), name: z.string() })) })
    .parse((await api.get('/v1/billable-metrics')).body);
  const id = data.find(({ name }) => name === 'Calls')?.id;
  await api.put(`/v1/billable-metrics/${id}`, { name: 'Requests' });
  const refused = await run('apply', '--plan', out, '--url', url);
  expect(refused.code).toBe(1);
  expect(refused.err).toContain('The service has changed since this was planned.');
  expect(refused.err).toContain('not in the plan: ~ metric calls: name Requests → All calls');
});

test('tallyhouse plan names the file, the line and the field that was meant, and ends with 1 where the call is wrong', async () => {
  const file = await written(
    'misspelt.yaml',
    'metrics:\n  - key: tokens\n    name: Tokens\n    agregation_type: SUM\n    aggregation_key: tokens\nrate_cards:\n  - key: a\n    name: A\n    rates:\n      - product: x\n        starting_at: 2026-01-01T00:00:00Z\n        rate_type: FLATT\n        price: cheap\n',
  );
  const { code, err } = await run('plan', file, '--url', url);
  expect(code).toBe(1);
  expect(err).toContain(`${file}:4: agregation_type is not a field: did you mean aggregation_type?`);
  expect(err).toContain(`${file}:12: rate_type cannot be FLATT: did you mean FLAT?`);
  expect(err).toContain(`${file}:13: rate_cards[0].rates[0].price: must be a number`);
  expect(await run('plan', file, '--colour')).toMatchObject({ code: 1, out: '' });
  expect(await run('apply', '--url', url)).toMatchObject({ code: 2, out: '' });
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
  expect((await run('apply', first, '--url', url)).code).toBe(0);
  const late = await written('late.yaml', file(rate('2026-01-01', 5) + rate('2026-06-01', 6)));
  const refused = await run('plan', late, '--url', url);
  expect(refused.code).toBe(1);
  expect(refused.err).toContain(
    'the rate of pages on rate card history would change from 2026-06-01T00:00:00.000Z on, before this month',
  );
  const allowed = await run('plan', late, '--url', url, '--allow-history');
  expect(allowed.code).toBe(2);
  expect(allowed.out).toContain('~ rate pages on history from 2026-06-01: 5 → 6\n');
  const dated = await run(
    'plan',
    await written('dated.yaml', file(rate('2026-01-01', 7))),
    '--url',
    url,
    '--effective-at',
    '2027-02-01',
  );
  expect(dated.out).toContain('~ rate pages on history from 2027-02-01: 5 → 7\n');
  const empty = await written('empty.yaml', 'rate_cards:\n  - {key: history, name: History}\n');
  expect((await run('plan', empty, '--url', url)).code).toBe(0);
  const pruned = await run('apply', empty, '--url', url, '--prune');
  expect([pruned.code, pruned.err]).toEqual([0, '']);
  expect(pruned.out).toContain('~ rate pages on history from 2026-12-01: 5 → ended\n');
  expect(pruned.out).toContain('- product pages\n');
  expect((await run('plan', empty, '--url', url, '--prune')).code).toBe(0);
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

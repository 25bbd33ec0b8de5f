/** `tallyhouse sql` as an analyst runs it: a process beside the running service. */
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { createdId } from '../support/catalogue-api.ts';
import { runProgram } from '../support/child-process.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { createTestDirectory } from '../support/stores.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
const { api, url, token } = service;

async function command(...args: string[]) {
  const program = runProgram('src/app/cli/main.ts', ['sql', ...args], { DATA_DIR: '/nowhere' });
  const code = await program.ended;
  return { code, out: program.stdout(), err: program.stderr() };
}

const asked = (...args: string[]) => command(...args, '--url', url, '--token', token);

test('tallyhouse sql prints a table, or writes the answer to a file', async () => {
  for (const name of ['Ada', 'Bob,\nLtd.']) await createdId(api, '/v1/customers', { name });
  const sql = 'SELECT name, LENGTH(name) AS letters, archived_at FROM customers ORDER BY name';
  expect(await asked(sql)).toEqual({
    code: 0,
    out: [
      'name       letters  archived_at',
      '---------  -------  -----------',
      'Ada              3  NULL',
      'Bob, Ltd.        9  NULL',
      '',
    ].join('\n'),
    err: '',
  });
  const file = join(await createTestDirectory(), 'customers.csv');
  expect(await asked(sql, '--output', file)).toEqual({ code: 0, out: '', err: '' });
  expect(await readFile(file, 'utf8')).toBe('name,letters,archived_at\r\nAda,3,\r\n"Bob,\nLtd.",9,\r\n');
  const parquet = join(await createTestDirectory(), 'customers.parquet');
  expect(await asked(sql, '--output', parquet)).toEqual({ code: 0, out: '', err: '' });
  const bytes = await readFile(parquet, 'latin1');
  expect([bytes.slice(0, 4), bytes.slice(-4)]).toEqual(['PAR1', 'PAR1']);
  expect(await readdir(dirname(parquet))).toEqual(['customers.parquet']);
});

test('tallyhouse sql prints the answer of the service as it is, with all digits', async () => {
  const { code, out, err } = await asked(
    'SELECT 12345678901234567890.5 AS n FROM customers LIMIT 1',
    '--json',
  );
  expect([code, err]).toEqual([0, '']);
  expect(out).toMatch(/"n": ?12345678901234567890[.]5\b/);
  expect(JSON.parse(out)).toMatchObject({ columns: [{ name: 'n', type: 'number' }], data: [{}] });
});

test('tallyhouse sql ends with 1 and says why where there is no answer, and with 2 for a wrong call', async () => {
  const help = await command('--help');
  expect([help.code, help.out.split('\n')[0]]).toEqual([0, 'Usage: tallyhouse sql [options] <query>']);
  expect(await command()).toMatchObject({ code: 2, err: expect.stringContaining("argument 'query'") });
  const refused = await asked('SELECT nam FROM customers');
  expect(refused.code).toBe(1);
  expect(refused.err).toMatch(/^tallyhouse sql: http.* answers 400: /);
  expect(await asked('SELECT name FROM customers', '--output', '/nowhere/x.csv')).toMatchObject({
    code: 1,
    err: expect.stringContaining('/nowhere/x.csv cannot be written'),
  });
});

/** `npm run sql` as an analyst runs it: a process beside the running service. */
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
  const program = runProgram('src/app/commands/sql/main.ts', args, { DATA_DIR: '/nowhere' });
  const code = await program.ended;
  return { code, out: program.stdout(), err: program.stderr() };
}

const asked = (...args: string[]) => command(...args, '--url', url, '--token', token);

test('prints a table, or writes the answer to a file', async () => {
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

test('ends with 2 and says why where there is no answer', async () => {
  const help = await command('--help');
  expect([help.code, help.out.split('\n')[0]]).toEqual([0, 'Usage: npm run sql -- "SELECT …" [options]']);
  expect(await command()).toMatchObject({ code: 2, err: expect.stringContaining('a query is missing') });
  expect(await command('SELECT', '1')).toMatchObject({ code: 2, err: expect.stringContaining('in quotes') });
  expect(await asked('SELECT 1', '--output', 'x.xlsx')).toMatchObject({
    code: 2,
    err: expect.stringContaining('--output must end in .csv, .json or .parquet'),
  });
  const refused = await asked('SELECT nam FROM customers');
  expect(refused.code).toBe(2);
  expect(refused.err).toMatch(/^sql: http.* answers 400: /);
  expect(await asked('SELECT name FROM customers', '--output', '/nowhere/x.csv')).toMatchObject({
    code: 2,
    err: expect.stringContaining('/nowhere/x.csv cannot be written'),
  });
});

/** The reference of docs/reference/ is that of the code. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { GENERATED, referencePages } from '../../scripts/reference/pages.ts';
import { SETTINGS } from '../../src/config.ts';
import { MESSAGE_TYPES } from '../../src/notifications/message-types.ts';

const ROOT = join(import.meta.dirname, '../..');
const pages = referencePages();

it.each([...pages])('%s is what npm run reference writes', async (path, text) => {
  expect(await readFile(join(ROOT, path), 'utf8')).toBe(text);
});

it('the reference has every setting, message and figure, and no page of tables that the code does not have', async () => {
  const of = (name: string) => pages.get(`docs/reference/${name}.md`) ?? '';
  for (const { name } of SETTINGS) expect(of('configuration')).toContain(`\n| \`${name}\` |`);
  for (const type of MESSAGE_TYPES) expect(of('webhooks')).toContain(`\n| \`${type}\` |`);
  for (const name of ['tallyhouse_http_request_duration_seconds', 'tallyhouse_jobs_failing']) {
    expect(of('metrics')).toContain(`\n| \`${name}\` |`);
  }
  const files = (await readdir(join(ROOT, 'docs/reference'))).map((file) => `docs/reference/${file}`);
  const written = await Promise.all(files.map((file) => readFile(join(ROOT, file), 'utf8')));
  expect(files.filter((_, index) => written[index]?.includes(GENERATED)).sort()).toEqual(
    [...pages.keys()].sort(),
  );
});

/** The demo against a running service: what it printed is what the service says afterwards. */
import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { decimal } from '../../src/core/decimal.ts';
import { formatDollarsExact } from '../../src/demo/money-format.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

const COMMAND = fileURLToPath(new URL('../../dist/tallyhouse.cjs', import.meta.url));
const service = await serviceForFile({ sandboxNow: '2026-11-20T00:00:00Z' });

test('the invoices that it shows are the same when it has ended', async () => {
  const args = ['--url', service.url, '--token', service.token, '--events', '3000', '--customers', '4'];
  const { stdout } = await promisify(execFile)(process.execPath, [COMMAND, 'demo', ...args]);
  const [document = ''] = /\S+\/invoice\.pdf/.exec(stdout) ?? [];
  await rm(dirname(document), { recursive: true });
  expect(stdout).toContain('All sums agree');
  expect(stdout).toContain('read again at the end, the totals of all 4 invoices are the same');

  const drafts = await service.api.get('/v1/invoices', {
    query: { status: 'DRAFT', type: 'USAGE', limit: 100 },
  });
  const listed = drafts.list('data').map((_, index) => ({
    name: drafts.text(`data[${index}].customer_name`),
    total: decimal(drafts.digits(`data[${index}].total`)),
    names: drafts
      .list(`data[${index}].line_items`)
      .map((__, line) => drafts.text(`data[${index}].line_items[${line}].name`)),
  }));
  const [, featured = ''] = /Invoice: (.+?), \d{4}/.exec(stdout) ?? [];
  const shown = listed.find(({ name }) => name.startsWith(featured));
  expect(stdout).toContain(formatDollarsExact(shown?.total ?? decimal('0')));
  // Further charges of the customer with negotiated terms are on no other invoice.
  expect(listed.filter(({ names }) => names.includes('Priority support'))).toHaveLength(1);
});

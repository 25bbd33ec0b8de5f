/** The console's table of resources: each operation that it asks says what it reads, or what it touches. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CHANGES, isTouched, keyOf, READS } from '../../../console/src/api/resources.ts';
import { everyRouteOfApp } from '../../../scripts/reference/every-route.ts';
import { PACKAGE_ROOT } from '../../../src/core/package-root.ts';

const SOURCES = join(PACKAGE_ROOT, 'console/src');
const texts = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.gen.d.ts') && file !== 'api/resources.ts')
  // Its forms are samples of no operation.
  .filter((file) => !file.startsWith('gallery/'))
  .map((file) => readFileSync(join(SOURCES, file), 'utf8'));
const text = texts.join('\n');

const named = new Set(
  [...text.matchAll(/['"]((?:GET|POST|PUT|PATCH|DELETE) \/[^'"]+)['"]/g)].map(([, key]) => key),
);
/** The session is set, not read again; the PDF is a file that nothing keeps. */
const NEITHER = [
  'POST /console/session',
  'DELETE /console/session',
  'POST /console/passkeys/begin',
  'POST /console/passkeys/challenge',
  'POST /console/passkeys/register',
  'GET /v1/customers/{customer_id}/invoices/{invoice_id}/pdf',
  'GET /v1/dashboards/invoices/{invoice_id}/pdf',
];

test('every operation that the console asks is in the table of resources, and no other one', () => {
  const known = [...Object.keys(READS), ...Object.keys(CHANGES)];
  expect([...named].filter((key) => !known.includes(key ?? '') && !NEITHER.includes(key ?? ''))).toEqual([]);
  expect(known.filter((key) => !named.has(key))).toEqual([]);
});

test('every change of the console is an operation of scope write that names what it touches, and no read is', () => {
  const scopes = new Map(
    everyRouteOfApp().map(({ method, path, scope }) => [`${method.toUpperCase()} ${path}`, scope]),
  );
  for (const [change, touched] of Object.entries(CHANGES)) {
    expect(scopes.get(change), change).toBe('write');
    expect(touched.length, change).toBeGreaterThan(0);
  }
  const ofWriters = ['GET /v1/tokens', 'GET /v1/webhooks', 'GET /v1/webhooks/{webhook_id}/deliveries'];
  const writing = Object.keys(READS).filter((read) => scopes.get(read) === 'write');
  expect(writing.filter((read) => !ofWriters.includes(read))).toEqual([]);
});

test('changes of the console run through the table, and keys of queries begin with an operation', () => {
  for (const change of Object.keys(CHANGES)) {
    expect(
      texts.some((each) => new RegExp(`call\\w*\\(\\s*'${change}'`).test(each)),
      change,
    ).toBe(false);
  }
  const keys = [...text.matchAll(/queryKey: ([^\n]{1,20})/g)].map(([, key]) => key ?? '');
  expect(keys.filter((key) => !key.startsWith('keyOf(') && key !== 'key,')).toEqual([]);
  expect(text).not.toMatch(/invalidateQueries\(\s*\)/);
});

test('a change has what it touches read again, and leaves the rest as it is', () => {
  const reads = Object.keys(READS) as (keyof typeof READS)[];
  const touchedBy = (change: keyof typeof CHANGES) =>
    reads.filter((read) => isTouched(keyOf(read, 'anything'), change));
  expect(touchedBy('POST /v1/tokens/revoke')).toEqual(['GET /v1/auditLogs', 'GET /v1/tokens']);
  expect(touchedBy('POST /v1/sql/queries/save')).toEqual(['GET /v1/auditLogs', 'GET /v1/sql/queries']);
  expect(touchedBy('POST /v1/invoices/void')).toEqual(
    expect.arrayContaining([
      ...(['GET /v1/invoices', 'GET /v1/month-end/{month}', 'GET /v1/revenue'] as const),
      ...(['GET /v1/customers/{customer_id}/drawdownOrder', 'GET /v1/system/failedJobs'] as const),
    ]),
  );
  expect(touchedBy('POST /v1/invoices/void')).not.toContain('GET /v1/events/days');
  expect(isTouched(['GET /v1/unknown'], 'POST /v1/invoices/void')).toBe(false);
});

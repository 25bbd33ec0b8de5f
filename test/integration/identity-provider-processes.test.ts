/** Sign-in at an identity provider through a proxy with https, in front of two processes of the service. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import type { BillingProcess } from '../support/billing-process.ts';
import { CLIENT_SECRET, ProviderBrowser, providerForFile } from '../support/identity-provider.ts';
import { createSharedStores, type SharedStores } from '../support/shared-stores.ts';

const NOW = '2026-11-10T00:00:00Z';
const PUBLIC = 'https://billing.acme.example';

const provider = await providerForFile();
let stores: SharedStores;
let processes: readonly BillingProcess[];
/** The process that the proxy sends the next request to. */
let chosen = 0;

beforeAll(async () => {
  stores = await createSharedStores(NOW);
  const { issuer, clientId } = provider.config();
  const env = {
    ...{ OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: CLIENT_SECRET },
    ...{ OIDC_ROLES: 'finance team = finance, care=support', PUBLIC_URL: `${PUBLIC}/` },
  };
  processes = await Promise.all([stores.start('one', env), stores.start('two', env)]);
  const kim = { name: 'Kim', email: 'kim@acme.example', email_verified: true, groups: ['finance team'] };
  await provider.control({ people: { kim }, origins: [PUBLIC] });
});
afterAll(() => stores.close());

/** The proxy: it terminates TLS and passes the request on. */
function resolve(url: URL): URL {
  if (url.origin !== PUBLIC) return url;
  const origin = /ready at (http:\/\/[^/\s]+)/.exec(processes[chosen]?.program.stdout() ?? '')?.[1];
  return new URL(url.pathname + url.search, origin);
}
const forwarded = {
  'x-forwarded-proto': 'https',
  'x-forwarded-host': 'billing.acme.example',
  'x-forwarded-for': '203.0.113.7',
};
const browserOf = () => new ProviderBrowser('kim', { forwarded, resolve });

it('a sign-in that one process has begun is finished by another, and its session works in both until one ends it', async () => {
  const kim = browserOf();
  chosen = 0;
  const answer = await kim.toCallback(PUBLIC, '/console/invoices');
  expect(answer.origin).toBe(PUBLIC);
  chosen = 1;
  const done = await kim.open(answer);
  expect([done.status, done.headers.get('location')]).toEqual([303, '/console/invoices']);
  expect(done.headers.get('set-cookie')).toMatch(/^__Host-tallyhouse_session=.*; SameSite=Strict; Secure$/);
  const host = [...(kim.cookies.get('billing.acme.example')?.keys() ?? [])];
  expect(host).toEqual(['__Host-tallyhouse_provider', '__Host-tallyhouse_session']);
  for (chosen of [0, 1]) expect((await kim.send(PUBLIC, 'GET', '/v1/customers')).status).toBe(200);
  chosen = 0;
  const again = await kim.open(answer);
  expect([again.status, again.text]).toEqual([401, expect.stringContaining('This sign-in has ended')]);
  const row = z.object({ action: z.string(), request: z.object({ ip: z.string().optional() }) });
  const addresses = async () => {
    const log = await processes[0]?.call('/v1/auditLogs');
    const { data } = z.object({ data: z.array(row) }).parse(JSON.parse(log?.body ?? '{}'));
    return data.filter(({ action }) => action === 'signIn').map(({ request }) => request.ip);
  };
  await expect.poll(addresses).toContain('203.0.113.7');
  await kim.send(PUBLIC, 'DELETE', '/console/session');
  for (chosen of [0, 1]) expect((await kim.send(PUBLIC, 'GET', '/v1/customers')).status).toBe(401);
});

it('a session of the identity provider is refreshed by one of two processes', async () => {
  const kim = browserOf();
  await kim.signIn(PUBLIC);
  for (const process of processes) await process.call('/v1/sandbox/clock', { now: '2026-11-10T01:00:00Z' });
  await provider.control({ requests: {} });
  const statuses: number[] = [];
  await Promise.all(
    Array.from({ length: 12 }, async (_, at) => {
      chosen = at % 2;
      statuses.push((await kim.send(PUBLIC, 'GET', '/v1/customers')).status);
    }),
  );
  expect(statuses).toEqual(statuses.map(() => 200));
  expect((await provider.control({})).requests['/token']).toBe(1);
});

it('secrets of the identity provider are in no log', async () => {
  await provider.control({ isAway: true });
  const kim = browserOf();
  const refused = await kim.open(`${PUBLIC}/console/oidc/callback?code=secret-code&state=secret-state`);
  expect(refused.status).toBe(401);
  const logs = processes.map(({ program }) => program.stdout() + program.stderr()).join('');
  for (const secret of ['secret-code', 'secret-state', CLIENT_SECRET, 'kim@acme']) {
    expect(logs).not.toContain(secret);
  }
});

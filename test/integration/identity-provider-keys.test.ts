/** Services that show the identity provider by a key who they are, a wrong secret, and the sign-in in a real browser. */
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import type { ClientCredential } from '../../src/core/provider-settings.ts';
import { isBrowserMissing, launchBrowser } from '../support/browser.ts';
import { ProviderBrowser, providerForFile } from '../support/identity-provider.ts';
import { startTestService, type TestService } from '../support/service.ts';

const provider = await providerForFile();
const kim = { name: 'Kim', email: 'kim@acme.example', email_verified: true, groups: ['fin'] };
const roles = { mapped: [{ value: 'fin', role: 'finance' }] };

const services: TestService[] = [];
afterAll(async () => {
  for (const service of services) await service.close();
});

async function serviceWith(credential: ClientCredential, clientKey: object | null): Promise<TestService> {
  const identityProvider = { ...provider.config(roles), credential };
  const service = await startTestService({ usage: 'naive', identityProvider });
  services.push(service);
  await provider.control({ people: { kim }, origins: [service.url], clientKey });
  return service;
}

it.each([
  ['RS256', () => generateKeyPairSync('rsa', { modulusLength: 2048 })],
  ['ES256', () => generateKeyPairSync('ec', { namedCurve: 'P-256' })],
])('a service with a private key signs with %s instead of sending a secret', async (alg, generate) => {
  const { privateKey } = generate();
  const publicKey = { ...createPublicKey(privateKey).export({ format: 'jwk' }), alg, use: 'sig' };
  const { url } = await serviceWith({ privateKey }, publicKey);
  expect((await new ProviderBrowser('kim').signIn(url)).status).toBe(303);
});

it('a service with a wrong secret lets nobody in, and says that the provider is not available', async () => {
  const { url } = await serviceWith({ secret: 'wrong' }, null);
  const refused = await new ProviderBrowser('kim').signIn(url);
  expect([refused.status, refused.text]).toEqual([
    503,
    expect.stringContaining('not available at the moment'),
  ]);
});

it('an identity provider that was away at the first sign-in is found later', async () => {
  const { url } = await serviceWith(provider.config().credential, null);
  await provider.control({ isAway: true });
  const browser = new ProviderBrowser('kim');
  expect((await browser.open(`${url}/console/oidc/login`)).status).toBe(503);
  await provider.control({ isAway: false });
  expect((await browser.signIn(url)).status).toBe(303);
});

describe.skipIf(isBrowserMissing())('a real browser', () => {
  it('a real browser signs in across sites, and the pages of the service have the session at once', async () => {
    const { url } = await serviceWith(provider.config().credential, null);
    const browser = await launchBrowser();
    try {
      const context = await browser.newContext({ extraHTTPHeaders: { 'x-login': 'kim' } });
      const page = await context.newPage();
      // Another site than that of the provider: 127.0.0.1 and localhost.
      await page.goto(`${url}/console/oidc/login?to=/console/invoices`);
      expect(page.url()).toBe(`${url}/console/invoices`);
      const session = 'fetch("/console/session").then((answer) => answer.json())';
      expect(await page.evaluate(session)).toMatchObject({
        data: { name: 'Kim', role: 'finance' },
        identity_provider: new URL(provider.issuer).host,
      });
    } finally {
      await browser.close();
    }
  });
});

/** The console in a real browser: signing in and out, its files, its policy. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createConsoleSessions } from '../../src/access/console-sessions.ts';
import { DESKTOP, isBrowserMissing, launchBrowser, seriousFaults } from '../support/browser.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let browser: Browser;

describe.skipIf(isBrowserMissing())('the console', () => {
  beforeAll(async () => {
    [service, browser] = await Promise.all([startTestService(), launchBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });

  async function open(path: string): Promise<Page> {
    const context = await browser.newContext(DESKTOP);
    const page = await context.newPage();
    await page.goto(service.url + path);
    return page;
  }

  async function signIn(page: Page, token: string): Promise<void> {
    await page.getByLabel('API token').fill(token);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  }

  it('the console asks for a token, and continues at the requested address', async () => {
    const page = await open('/console/customers?search=acme');
    expect(await seriousFaults(page)).toEqual([]);
    await signIn(page, service.token);
    await page.getByRole('heading', { name: 'Customers', exact: true }).waitFor();
    expect(new URL(page.url()).search).toBe('?search=acme');
    expect(
      await page.evaluate('JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }])'),
    ).not.toContain(service.token);
    await page.context().close();
  });

  it('the console says why a wrong token is refused, as the API words it', async () => {
    const page = await open('/console');
    await signIn(page, 'th_wrong-token-of-nobody');
    const refusal = page.getByRole('alert');
    await refusal.waitFor();
    expect(await refusal.textContent()).toBe('Unknown, expired or revoked token (401)');
    await page.context().close();
  });

  it('the console opens with the link of the first start, once, and takes it out of the address', async () => {
    const now = Date.parse((await service.api.get('/v1/sandbox/clock')).text('data.now'));
    const sessions = createConsoleSessions({ db: service.db, clock: { now: () => now } });
    const link = await sessions.newLink(service.token);
    const page = await open(`/console#${link}`);
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    expect(page.url()).not.toContain(String(link));
    const again = await open(`/console#${link}`);
    await again.getByText('The link was opened before, or has expired: sign in with a token').waitFor();
    for (const each of [page, again]) await each.context().close();
  });

  it('the console signs out for good', async () => {
    const page = await open('/console');
    await signIn(page, service.token);
    const [cookie] = await page.context().cookies();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API token').waitFor();
    const headers = { cookie: `${cookie?.name}=${cookie?.value}`, 'sec-fetch-site': 'same-origin' };
    const answer = await service.api.send('GET', '/v1/customers', undefined, { token: null, headers });
    expect(answer.status).toBe(401);
    await page.context().close();
  });

  it('the console is not shown in a frame of another origin', async () => {
    const page = await open('/healthz');
    const host = service.url.replace('127.0.0.1', 'localhost');
    await page.evaluate(`document.body.innerHTML = '<iframe src="${host}/console"></iframe>'`);
    const frame = page.frames().find((each) => each !== page.mainFrame());
    await frame?.waitForLoadState();
    expect(await frame?.getByLabel('API token').count()).toBe(0);
    await page.context().close();
  });

  it('the console has files that are kept without a limit and compressed, and a page that is not kept and runs no inline script', async () => {
    const response = await fetch(`${service.url}/console/customers`);
    const html = await response.text();
    expect(response.headers.get('cache-control')).toBe('no-store');
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'self'; script-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    const script = /src="(\/console\/assets\/[^"]+\.js)"/.exec(html)?.[1] ?? '';
    for (const encoding of ['br', 'gzip']) {
      const file = await fetch(service.url + script, { headers: { 'accept-encoding': encoding } });
      expect([file.headers.get('cache-control'), file.headers.get('content-encoding')]).toEqual([
        'public, max-age=31536000, immutable',
        encoding,
      ]);
      expect(await file.text()).toContain('API token');
    }
    for (const absent of ['/console/assets/none.js', '/console/../package.json', '/console/index.html']) {
      expect((await fetch(service.url + absent)).status).toBe(404);
    }
  });

  it('the console loads at most 200 kB before a page is shown', async () => {
    const page = await open('/healthz');
    await page.goto(`${service.url}/console`);
    await signIn(page, service.token);
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    await page.waitForLoadState('networkidle');
    const bytes = Number(
      await page.evaluate(
        'performance.getEntries().reduce((bytes, { encodedBodySize = 0 }) => bytes + encodedBodySize, 0)',
      ),
    );
    process.stdout.write(`bytes of the console's first load: ${bytes}\n`);
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThan(200_000);
    await page.context().close();
  });
});

/** The API reference in a real browser: it asks nobody else, tries operations out with the session, and fits a phone. */
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { DESKTOP, isBrowserMissing, launchBrowser, PHONE, seriousFaults } from '../support/browser.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** The viewer is a megabyte of JavaScript, on a machine that others use too. */
const SHOWN_MS = 30_000;
/**
 * Faults of the dialog that tries an operation out (docs/reference/access.md): the editor of the body has no name, fields of
 * headers do not say whether their list is open, and buttons of hints have a role that takes no name. It is the file of
 * the viewer.
 */
const FAULTS_OF_THE_VIEWER = ['aria-input-field-name', 'aria-prohibited-attr', 'aria-required-attr'];

describe.skipIf(isBrowserMissing())('the reference', () => {
  let service: TestService;
  let browser: Browser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([startTestService(), launchBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });

  async function open(options: BrowserContextOptions = {}, path = '/docs') {
    const context = await browser.newContext({ ...DESKTOP, ...options });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const errors: string[] = [];
    const asked: string[] = [];
    page.on('pageerror', ({ message }) => errors.push(message));
    page.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text());
    });
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(service.url + path);
    await page.getByRole('heading', { name: 'tallyhouse' }).first().waitFor({ timeout: SHOWN_MS });
    await page.waitForLoadState('networkidle');
    return { context, page, errors, asked };
  }

  const elsewhere = (asked: readonly string[]) =>
    asked.filter((url) => !url.startsWith(service.url) && !/^(?:data|blob):/.test(url));

  it.each([
    ['light', DESKTOP],
    ['dark', DESKTOP],
    ['light', PHONE],
  ] as const)(
    'the reference is shown without an error and without a request to elsewhere (%s)',
    async (scheme, size) => {
      const { page, errors, asked } = await open({ ...size, colorScheme: scheme });
      await page.getByText('Usage events in, exact invoices out.').first().waitFor();
      const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
      expect(await page.evaluate(overflow)).toBeLessThanOrEqual(0);
      expect(elsewhere(asked)).toEqual([]);
      expect(errors).toEqual([]);
      expect(await seriousFaults(page)).toEqual([]);
      const folder = process.env.REFERENCE_PICTURES;
      if (folder !== undefined) {
        await page.screenshot({ path: `${folder}/reference-${scheme}-${size.viewport?.width}.png` });
      }
    },
  );

  it('the reference carries the example of an operation out with the session of the console', async () => {
    const headers = { 'sec-fetch-site': 'same-origin' };
    const body = { token: service.token };
    const signedIn = await service.api.send('POST', '/console/session', body, { token: null, headers });
    const [name = '', value = ''] =
      (signedIn.headers.get('set-cookie') ?? '').split(';', 1)[0]?.split('=') ?? [];
    const { context, page, asked, errors } = await open({}, '/docs#tag/customers/POST/v1/customers');
    await context.addCookies([{ name, value, url: service.url }]);
    const operation = page.getByRole('button', { name: /Test Request.*\/v1\/customers\)?$/i }).first();
    await operation.click({ timeout: SHOWN_MS });
    await page.getByRole('button', { name: /^Send/ }).first().waitFor();
    const faults = (await seriousFaults(page)).map((fault) => fault.split(':')[0]);
    expect(faults.filter((fault) => !FAULTS_OF_THE_VIEWER.includes(fault ?? ''))).toEqual([]);
    const answered = page.waitForResponse((response) => new URL(response.url()).pathname === '/v1/customers');
    await page.getByRole('button', { name: /^Send/ }).first().click();
    const response = await answered;
    expect(response.status()).toBe(200);
    const made = JSON.parse(await response.text()).data.id;
    expect((await service.api.get(`/v1/customers/${made}`)).text('data.name')).toBe('Acme Inc.');
    expect(elsewhere(asked)).toEqual([]);
    expect(errors).toEqual([]);
    const folder = process.env.REFERENCE_PICTURES;
    if (folder !== undefined) await page.screenshot({ path: `${folder}/reference-try.png` });
  });
});

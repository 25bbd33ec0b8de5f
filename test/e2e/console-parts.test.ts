/** The parts of the console in a real browser, on the page that shows all of them in all states, without a service. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { createServer, type ViteDevServer } from 'vite';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { DESKTOP, isBrowserMissing, launchBrowser, PHONE, seriousFaults } from '../support/browser.ts';

describe.skipIf(isBrowserMissing())('parts of the console', () => {
  let vite: ViteDevServer;
  let browser: Browser;

  beforeAll(async () => {
    const server = { port: 0, host: '127.0.0.1', hmr: false, watch: null };
    vite = await createServer({ configFile: 'console/vite.config.ts', server, logLevel: 'error' });
    [, browser] = await Promise.all([vite.listen(), launchBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await vite?.close();
  });

  /** The page of parts, on light ground. */
  async function open(options: BrowserContextOptions = DESKTOP): Promise<Page> {
    const context = await browser.newContext(options);
    onTestFinished(() => context.close());
    const page = await context.newPage();
    await page.goto(`${vite.resolvedUrls?.local[0]}parts`);
    await page.locator('canvas').nth(9).waitFor();
    return page;
  }

  it.each([
    ['a desktop', DESKTOP],
    ['a phone', PHONE],
  ])('parts of the console have no serious fault of axe, light and dark, on %s', async (_name, options) => {
    const page = await open(options);
    expect(await seriousFaults(page)).toEqual([]);
    expect(await page.evaluate('document.body.scrollWidth <= innerWidth')).toBe(true);
  });

  it('a confirmation stays open with the refusal of the service, and Escape gives the focus back to its button', async () => {
    const page = await open();
    const opener = page.getByRole('button', { name: 'Void' }).first();
    await opener.focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Void INV-1?' });
    await dialog.getByRole('button', { name: 'Void' }).click();
    await dialog.getByText('The invoice is being delivered (409)').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(await opener.evaluate((element) => element.matches(':focus'))).toBe(true);
  });

  it('a field has the name of its label, and the problem that the API has with it as its description', async () => {
    const page = await open();
    const form = page.getByRole('region', { name: 'A form' }).first();
    const amount = form.getByLabel('Amount (USD)').first();
    expect(await amount.getAttribute('aria-invalid')).toBe('true');
    const problem = await amount.getAttribute('aria-describedby');
    expect(await page.locator(`[id="${problem}"]`).textContent()).toBe('must be a number');
    const credits = form.getByRole('group', { name: 'Credits' });
    await credits.getByRole('button', { name: 'Add a credit' }).click();
    expect(await credits.getByLabel('For').count()).toBe(2);
    await credits.getByRole('button', { name: 'Remove credit 1' }).click();
    expect(await credits.getByLabel('For').inputValue()).toBe('');
  });

  it('a long table says how many rows it has, and renders those that are in view', async () => {
    const page = await open();
    const region = page.getByRole('region', { name: 'A long table' }).first().getByRole('region');
    expect(await region.getByRole('table').getAttribute('aria-rowcount')).toBe('1001');
    expect(await region.getByRole('row').count()).toBeLessThan(100);
    await region.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    await region.getByText('Customer 1000', { exact: true }).waitFor();
    expect(await region.getByRole('row').count()).toBeLessThan(100);
  });

  it('a table with many columns is a list on a phone whose cells have the titles of their columns', async () => {
    const page = await open(PHONE);
    const cell = page
      .getByRole('region', { name: 'A table with sums' })
      .first()
      .locator('td[data-title=State]');
    expect((await cell.first().ariaSnapshot()).replaceAll('"', '')).toContain('State draft');
  });
});

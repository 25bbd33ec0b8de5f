/** Somebody in finance takes a customer up in the console, by keyboard alone, without a call of the API. */
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DESKTOP, isBrowserMissing, launchBrowser, seriousFaults } from '../support/browser.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** More controls no page has before the one that is looked for. */
const TABS_MAX = 200;
const NOW = '2026-11-26T09:30:00Z';

describe.skipIf(isBrowserMissing())('forms of the console', () => {
  let service: TestService;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    [service, browser] = await Promise.all([
      startTestService({ sandboxNow: NOW, usage: 'naive' }),
      launchBrowser(),
    ]);
    const context = await browser.newContext(DESKTOP);
    page = await context.newPage();
    await page.goto(`${service.url}/console`);
    await reach(page.getByLabel('API token'));
    await page.keyboard.insertText(service.token);
    await page.keyboard.press('Enter');
  });
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });

  /** Presses Tab until the control has the focus, as somebody without a mouse does. */
  async function reach(control: Locator): Promise<void> {
    await control.waitFor();
    for (let tabs = 0; tabs < TABS_MAX; tabs++) {
      if (await control.evaluate((element) => element.matches(':focus'))) return;
      await page.keyboard.press('Tab');
    }
    throw new Error(`${control} is not reached with Tab`);
  }

  async function press(control: Locator): Promise<void> {
    await reach(control);
    await page.keyboard.press('Enter');
  }

  async function write(label: string, text: string): Promise<void> {
    await reach(page.getByLabel(label, { exact: true }));
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(text);
  }

  /** Chooses in a select by the first letters of a choice, as a keyboard does. */
  async function choose(label: string, text: string): Promise<void> {
    const select = page.getByLabel(label, { exact: true });
    await reach(select);
    await expect.poll(() => select.locator('option').allTextContents()).toContain(text);
    await page.keyboard.type(text);
    await expect.poll(() => select.locator('option:checked').textContent()).toBe(text);
  }

  const pageNamed = (name: string) =>
    page.getByRole('navigation', { name: 'Pages of the console' }).getByRole('link', { name });
  const heading = (name: string) => page.getByRole('heading', { name, level: 1 }).waitFor();
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const link = (name: string) => page.getByRole('link', { name, exact: true }).first();

  it('a form says at its field what the API refuses, keeps its draft over a reload, and creates the customer', async () => {
    await press(pageNamed('Customers'));
    await press(link('Create customer'));
    await heading('Create customer');
    await press(button('Create customer'));
    const name = page.getByLabel('Name', { exact: true });
    await page
      .getByText(/required|must/)
      .first()
      .waitFor();
    expect(await name.getAttribute('aria-invalid')).toBe('true');
    expect(await name.evaluate((element) => element.matches(':focus'))).toBe(true);
    expect(await seriousFaults(page)).toEqual([]);
    await write('Name', 'Aurora Robotics');
    await write('Ingest aliases', 'aurora');
    await page.reload();
    await page.getByText('This is a draft of before.').waitFor();
    expect(await name.inputValue()).toBe('Aurora Robotics');
    await press(button('Create customer'));
    await heading('Aurora Robotics');
    await page.getByText('aurora', { exact: true }).waitFor();
  });

  it('a token is shown once after it was created, and no draft of it stays', async () => {
    await press(pageNamed('System'));
    await press(page.getByRole('link', { name: 'Tokens' }));
    await press(link('Create token'));
    await write('Name', 'Finance');
    await choose('Scope', 'Read');
    await press(button('Create token'));
    await page.getByText('This is the only time that the token is shown').waitFor();
    expect(await page.evaluate('Object.keys(localStorage).length')).toBe(0);
  });
});

/** Pages of the console in a real browser, for somebody who is signed in. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { DESKTOP } from './browser.ts';
import type { TestService } from './service.ts';

export interface ConsoleOptions extends BrowserContextOptions {
  /** Whose session it is; by default that of the service’s own token. */
  readonly token?: string;
}

async function cookieFor(at: TestService, token = at.token) {
  const headers = { 'sec-fetch-site': 'same-origin' };
  const answer = await at.api.send('POST', '/console/session', { token }, { token: null, headers });
  const [name = '', value = ''] = (answer.headers.get('set-cookie') ?? '').split(';', 1)[0]?.split('=') ?? [];
  return { name, value, url: at.url };
}

/** A page, with what it prints as an error. It is closed with the test that opened it. */
export async function openConsole(
  browser: Browser,
  at: TestService,
  path: string,
  { token, ...options }: ConsoleOptions = {},
): Promise<{ readonly page: Page; readonly errors: string[] }> {
  const context = await browser.newContext({ ...DESKTOP, ...options });
  onTestFinished(() => context.close());
  await context.addCookies([await cookieFor(at, token)]);
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', ({ message }) => errors.push(message));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  await page.goto(at.url + path);
  return { page, errors };
}

/** Nothing is being read any more. */
export async function settle(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle');
  await expect.poll(() => page.getByRole('status').count()).toBe(0);
}

/** How many pixels of a chart are drawn. */
export function drawnPixels(page: Page): Promise<number> {
  return page.evaluate(`(() => {
    const canvas = document.querySelector('canvas');
    if (canvas === null) return 0;
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return data.filter((value, index) => index % 4 === 3 && value > 0).length;
  })()`) as Promise<number>;
}

/** The texts of a table’s cells, row by row. */
export async function cellsOf(page: Page, label: string): Promise<string[][]> {
  const rows = await page.getByRole('region', { name: label, exact: true }).locator('tbody tr').all();
  return Promise.all(rows.map((row) => row.locator('td').allTextContents()));
}

/**
 * A first day with the console, by keyboard alone: `npm start`, the link that it prints, last month's invoice, the reason
 * of a line, a correction, a question in SQL, a metric, and the dashboard of a customer who is erased meanwhile.
 */
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { DESKTOP, isBrowserMissing, launchBrowser } from '../support/browser.ts';
import { type Program, runCommand } from '../support/child-process.ts';
import { DEMO_NOW, fillWithDemo, request } from '../support/console-data.ts';
import { createDataDirectory } from '../support/data-directory.ts';

/** More controls no page has before the one that is looked for. */
const TABS_MAX = 200;

describe.skipIf(isBrowserMissing())('a newcomer with a keyboard', () => {
  let program: Program;
  let browser: Browser;
  let page: Page;
  let service: { readonly url: string; readonly token: string };
  const errors: string[] = [];

  beforeAll(async () => {
    const dataDir = await createDataDirectory();
    program = runCommand('npm', ['start'], {
      ...{ PORT: '0', DATA_DIR: dataDir, HOME: dataDir, LOG_LEVEL: 'error' },
      SANDBOX_NOW: DEMO_NOW,
    });
    await program.said('shown only this once');
    service = {
      url: /ready at (\S+)/.exec(program.stdout())?.[1] ?? '',
      token: /th_\S+/.exec(program.stdout())?.[0] ?? '',
    };
    browser = await launchBrowser();
    const context = await browser.newContext(DESKTOP);
    page = await context.newPage();
    page.on('pageerror', ({ message }) => errors.push(message));
    await page.goto(/Console\s+(http\S+)/.exec(program.stdout())?.[1] ?? '');
  });
  afterAll(async () => {
    await browser?.close();
    program?.child.kill('SIGTERM');
    await program?.ended;
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

  async function press(control: Locator, key = 'Enter'): Promise<void> {
    await reach(control);
    await page.keyboard.press(key);
  }

  const pageNamed = (name: string) =>
    page.getByRole('navigation', { name: 'Pages of the console' }).getByRole('link', { name });

  it('a newcomer with a keyboard is signed in by the link of the first start', async () => {
    await page.getByRole('heading', { name: 'Start', level: 1 }).waitFor();
    expect(page.url()).toBe(`${service.url}/console`);
    await press(pageNamed('Customers'));
    await page.getByText('There is no customer yet').waitFor();
  });

  it('a newcomer with a keyboard signs in again with the token, a month later', async () => {
    await fillWithDemo(service, { events: 1_000, customers: 4 });
    await press(pageNamed('Month end'));
    await reach(page.getByLabel('API token'));
    await page.keyboard.insertText(service.token);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Month end: October 2026' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/console/month-end');
  });

  it('a newcomer with a keyboard finds last month’s invoice, explains a line, voids and regenerates it', async () => {
    const table = page.getByRole('region', { name: 'Invoices of the month' });
    await press(table.getByRole('link', { name: /^INV-\d+-\d+$/ }).first());
    await press(page.getByRole('link', { name: 'Explain' }).first());
    await page.getByText('✓ Computed again from its events and terms').first().waitFor();
    const address = page.url();
    await press(page.getByRole('button', { name: 'Void' }));
    const dialog = page.getByRole('dialog');
    // A dialog that is not there yet would not be closed, and count as closed all the same.
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await press(page.getByRole('button', { name: 'Void' }));
    await press(dialog.getByRole('button', { name: 'Void' }));
    await page.getByText('void', { exact: true }).waitFor();
    await press(page.getByRole('button', { name: 'Regenerate' }));
    await press(dialog.getByRole('button', { name: 'Regenerate' }));
    await page.waitForURL((url) => url.pathname !== new URL(address).pathname);
    await page.getByText('finalized', { exact: true }).waitFor();
    const [customer, voided] = new URL(address).pathname.split('/').slice(-2);
    const { data } = (await request(service, 'GET', `/v1/customers/${customer}/invoices/${voided}`)) as {
      data: { status: string };
    };
    expect(data.status).toBe('VOID');
  });

  it('a newcomer with a keyboard asks a question in SQL, and leaves the editor with Tab', async () => {
    await press(pageNamed('Ask'));
    const editor = page.getByRole('textbox', { name: 'SQL of the question' });
    await page.locator('.cm-content').waitFor();
    await reach(editor);
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText('SELECT COUNT(*) AS counted FROM events');
    await press(page.getByRole('button', { name: 'Run' }));
    const sql = 'SELECT COUNT(*) AS counted FROM events';
    const { data } = (await request(service, 'POST', '/v1/sql', { sql })) as { data: { counted: number }[] };
    const answer = page.getByRole('region', { name: 'Answer' }).last();
    const counted = data[0]?.counted ?? 0;
    expect(counted).toBeGreaterThan(1_000);
    await answer.getByText(counted.toLocaleString('en-US')).waitFor();
  });

  it('a newcomer with a keyboard previews a metric for a customer that is chosen by its name', async () => {
    await press(pageNamed('Metrics'));
    await page.locator('.cm-content').waitFor();
    await reach(page.getByRole('textbox', { name: 'SQL of the metric' }));
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText('SELECT COUNT(*) AS value FROM events');
    await reach(page.getByRole('combobox', { name: 'Customer' }));
    await page.keyboard.type('vantage');
    await page.getByRole('option', { name: /Vantage/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.searchParams.has('customer'));
    await press(page.getByRole('button', { name: 'Preview' }));
    await page.getByText('Events read').waitFor();
    expect(errors).toEqual([]);
  });

  it('a newcomer with a keyboard sees the dashboard of a customer continue without its name when the customer is erased', async () => {
    const made = async (path: string, body: object) =>
      ((await request(service, 'POST', path, body)) as { data: { id: string } }).data.id;
    const customer = await made('/v1/customers', { name: 'Leaving Ltd', ingest_aliases: ['leaving'] });
    const cards = (await request(service, 'POST', '/v1/contract-pricing/rate-cards/list', {})) as {
      data: { id: string }[];
    };
    await made('/v1/contracts/create', {
      customer_id: customer,
      rate_card_id: cards.data[0]?.id,
      starting_at: '2026-10-01T00:00:00Z',
      ending_before: '2026-11-01T00:00:00Z',
    });
    const asked = { customer_id: customer, dashboard: 'invoices' };
    const { data } = (await request(service, 'POST', '/v1/dashboards/getEmbeddableUrl', asked)) as {
      data: { url: string };
    };
    const context = await browser.newContext(DESKTOP);
    onTestFinished(() => context.close());
    const shown = await context.newPage();
    const failed: string[] = [];
    shown.on('response', (response) => {
      if (response.status() >= 400) failed.push(`${response.status()} ${response.url()}`);
    });
    await shown.goto(data.url);
    // Its contract has ended, so it is erased as soon as October is invoiced.
    const erase = () =>
      request(service, 'POST', `/v1/customers/${customer}/erase`).then(
        () => 'erased',
        (error: Error) => error.message,
      );
    await expect.poll(erase, { timeout: 60_000 }).toBe('erased');
    await shown.reload();
    await shown.getByRole('table').or(shown.getByText('There is no invoice yet')).first().waitFor();
    expect(await shown.content()).not.toContain('Leaving');
    expect(failed).toEqual([]);
    await page.goto(`${service.url}/console/customers/${customer}`);
    await page.getByRole('heading', { name: 'Erased customer', level: 1 }).waitFor();
    expect(errors).toEqual([]);
  });
});

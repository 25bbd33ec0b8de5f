/**
 * `npm run screenshots`: pictures of every page of the console, on the demo's data, at desktop and phone width, light
 * and dark. Those of the README go to docs/images/, all others to the directory that is named (default: a new one below
 * the temporary directory).
 */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { DESKTOP, launchBrowser, PHONE } from '../test/support/browser.ts';
import { DEMO_NOW, fillWithDemo, request } from '../test/support/console-data.ts';

const IMAGES = new URL('../docs/images/', import.meta.url).pathname;
const TOKEN = 'token-of-the-pictures';
const READ_MS_MAX = 120_000;

interface Shown {
  readonly name: string;
  readonly path: string;
}

async function startService(dataDir: string) {
  const child = spawn(process.execPath, ['dist/start.cjs'], {
    env: {
      ...process.env,
      DATA_DIR: dataDir,
      PORT: '0',
      API_TOKEN: TOKEN,
      SANDBOX_NOW: DEMO_NOW,
      LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise<string>((resolve, reject) => {
    let said = '';
    child.stdout.on('data', (piece) => {
      said += piece;
      const found = /ready at (\S+)/.exec(said)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once('exit', () => reject(new Error(`the service has ended: ${said}`)));
  });
  return { url, token: TOKEN, end: () => new Promise((resolve) => child.once('exit', resolve).kill()) };
}

/** Every page, with the data of the demo's customer who has every kind of term. */
async function pagesOf(service: { readonly url: string; readonly token: string }): Promise<Shown[]> {
  const first = async (path: string) => {
    const { data } = (await request(service, 'GET', path)) as { data: { id: string }[] };
    return data[0]?.id ?? '';
  };
  const customer = await first('/v1/customers?search=Vantage');
  const other = await first('/v1/customers?search=Alder');
  const invoice = (status: string, of: string) =>
    first(`/v1/customers/${of}/invoices?type=USAGE&status=${status}`);
  const [issued, draft] = [await invoice('FINALIZED', customer), await invoice('DRAFT', other)];
  const views = ['usage', 'balances', 'contracts', 'seats', 'invoices', 'events', 'alerts', 'audit'];
  return [
    { name: 'start', path: '' },
    { name: 'customers', path: '/customers' },
    { name: 'customer', path: `/customers/${other}` },
    ...views.map((view) => ({ name: `customer-${view}`, path: `/customers/${customer}?view=${view}` })),
    { name: 'invoice', path: `/invoices/${customer}/${issued}` },
    { name: 'invoice-time', path: `/invoices/${other}/${draft}?view=time` },
    { name: 'invoice-property', path: `/invoices/${other}/${draft}?view=property&property=user_id` },
    { name: 'invoice-change', path: `/invoices/${other}/${draft}?view=change` },
    { name: 'month-end', path: '/month-end' },
    { name: 'month-end-now', path: '/month-end?month=2026-11' },
    { name: 'system', path: '/system' },
    ...['webhooks', 'tokens', 'audit'].map((view) => ({
      name: `system-${view}`,
      path: `/system?view=${view}`,
    })),
  ];
}

/** The README's: name of the page, and of its picture. */
const README_PICTURES: Readonly<Record<string, string>> = {
  'month-end-now': 'month-end',
  'invoice-time': 'invoice',
};

async function photograph(browser: Browser, url: string, pages: readonly Shown[], directory: string) {
  for (const [device, options] of [
    ['desktop', DESKTOP],
    ['phone', PHONE],
  ] as const) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const context = await browser.newContext({ ...options, colorScheme });
      const page = await context.newPage();
      await page.goto(`${url}/console`);
      await page.getByLabel('API token').fill(TOKEN);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('button', { name: 'Sign out' }).waitFor();
      for (const { name, path } of pages) {
        await page.goto(`${url}/console${path}`);
        await page.getByRole('heading', { level: 1 }).waitFor();
        // Nothing is being read any more; charts are drawn a moment later.
        await page.waitForFunction('document.querySelector("[role=status]") === null', null, {
          timeout: READ_MS_MAX,
        });
        await page.waitForTimeout(500);
        await page.screenshot({
          path: join(directory, `${name}-${device}-${colorScheme}.png`),
          fullPage: true,
        });
        const picture = README_PICTURES[name];
        if (picture !== undefined && device === 'desktop' && colorScheme === 'light') {
          await page.screenshot({ path: join(IMAGES, `${picture}.jpg`), type: 'jpeg', quality: 82 });
        }
      }
      await context.close();
    }
  }
}

const directory = process.argv[2] ?? (await mkdtemp(join(tmpdir(), 'tallyhouse-pictures-')));
await Promise.all([mkdir(directory, { recursive: true }), mkdir(IMAGES, { recursive: true })]);
const dataDir = await mkdtemp(join(tmpdir(), 'tallyhouse-pictures-data-'));
const [service, browser] = [await startService(dataDir), await launchBrowser()];
try {
  await fillWithDemo(service, { events: 20_000, customers: 16 });
  await photograph(browser, service.url, await pagesOf(service), directory);
  process.stdout.write(`pictures of every page are in ${directory}\n`);
} finally {
  await browser.close();
  await service.end();
  await rm(dataDir, { recursive: true, force: true });
}

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
const DRAWN_MS = 300;
const FALLBACK_SIZE = { width: 1280, height: 860 };

interface Shown {
  readonly name: string;
  readonly path: string;
}

async function startService(dataDir: string) {
  const child = spawn(process.execPath, ['dist/tallyhouse.cjs', 'start'], {
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
    { name: 'metrics', path: `/metrics?${metricQuestion(customer)}` },
    { name: 'ask', path: `/ask?${new URLSearchParams({ sql: QUESTION })}` },
    { name: 'prices', path: `/prices?card=${await cardNamed(service, 'AI API price list (')}` },
    { name: 'prices-contract', path: `/prices?view=contract&customer=${customer}` },
    { name: 'events', path: `/events?id=november-0-3` },
    { name: 'month-end', path: '/month-end' },
    { name: 'month-end-now', path: '/month-end?month=2026-11' },
    { name: 'system', path: '/system' },
    ...['webhooks', 'deliveries', 'tokens', 'audit'].map((view) => ({
      name: `system-${view}`,
      path: `/system?view=${view}`,
    })),
  ];
}

const QUESTION = `SELECT DATE_TRUNC('day', timestamp) AS day, properties.model AS model, COUNT(*) AS requests
FROM events
WHERE event_type = 'llm_request'
GROUP BY day, model
ORDER BY day`;

function metricQuestion(customer: string): string {
  const sql = 'SELECT SUM(properties.tokens) AS value, properties.model\nFROM events\nGROUP BY model';
  return new URLSearchParams({ customer, group: 'model', definition: JSON.stringify({ sql }) }).toString();
}

async function cardNamed(service: Parameters<typeof request>[0], name: string): Promise<string> {
  const { data } = (await request(service, 'POST', '/v1/contract-pricing/rate-cards/list', {})) as {
    data: { id: string; name: string }[];
  };
  return data.find((card) => card.name.startsWith(name))?.id ?? '';
}

/** The README's: name of the page, and of its picture. */
const README_PICTURES: Readonly<Record<string, string>> = {
  'month-end-now': 'month-end',
  'invoice-time': 'invoice',
};

/** The four pictures of a page are those of one visit: its width and colours change, and nothing is read again. */
const LOOKS = [
  { name: 'desktop-light', size: DESKTOP.viewport, colorScheme: 'light' },
  { name: 'desktop-dark', size: DESKTOP.viewport, colorScheme: 'dark' },
  { name: 'phone-dark', size: PHONE.viewport, colorScheme: 'dark' },
  { name: 'phone-light', size: PHONE.viewport, colorScheme: 'light' },
] as const;

async function photograph(browser: Browser, url: string, pages: readonly Shown[], directory: string) {
  const context = await browser.newContext(DESKTOP);
  const page = await context.newPage();
  await page.goto(`${url}/console`);
  await page.getByLabel('API token').fill(TOKEN);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  for (const { name, path } of pages) {
    await page.setViewportSize(DESKTOP.viewport ?? FALLBACK_SIZE);
    await page.emulateMedia({ colorScheme: 'light' });
    await page.goto(`${url}/console${path}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    // Nothing is being read any more. The policy of the page lets no text be evaluated, so no function is waited for.
    await page.locator('[role=status]').first().waitFor({ state: 'detached', timeout: READ_MS_MAX });
    for (const look of LOOKS) {
      await page.setViewportSize(look.size ?? FALLBACK_SIZE);
      await page.emulateMedia({ colorScheme: look.colorScheme });
      // Charts are drawn again a moment later.
      await page.waitForTimeout(DRAWN_MS);
      await page.screenshot({ path: join(directory, `${name}-${look.name}.png`), fullPage: true });
      const picture = README_PICTURES[name];
      if (picture !== undefined && look.name === 'desktop-light') {
        await page.screenshot({ path: join(IMAGES, `${picture}.jpg`), type: 'jpeg', quality: 72 });
      }
    }
    process.stdout.write(`${name}\n`);
  }
  await context.close();
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

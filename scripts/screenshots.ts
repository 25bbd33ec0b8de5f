/**
 * `npm run screenshots`: pictures of every page of the console and of a dashboard, on the demo's data and with 1,000
 * customers more, at desktop and phone width, light and dark. Those of the README go to docs/images/, all others to the directory that is named (default: a new one below
 * the temporary directory).
 */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { DESKTOP, launchBrowser, PHONE } from '../test/support/browser.ts';
import { addManyCustomers, DEMO_NOW, fillWithDemo, request } from '../test/support/console-data.ts';

const IMAGES = new URL('../docs/images/', import.meta.url).pathname;
const TOKEN = 'token-of-the-pictures';
const READ_MS_MAX = 120_000;
const DRAWN_MS = 300;
const FALLBACK_SIZE = { width: 1280, height: 860 };

interface Shown {
  readonly name: string;
  /** The path after `/console`, or a whole address. */
  readonly path: string;
  /** The name of a button that is pressed before. */
  readonly press?: string;
}

type Service = Parameters<typeof request>[0];

async function startService(dataDir: string) {
  const child = spawn(process.execPath, ['dist/tallyhouse.cjs', 'start'], {
    env: {
      ...process.env,
      DATA_DIR: dataDir,
      PORT: '0',
      API_TOKEN: TOKEN,
      SANDBOX_NOW: DEMO_NOW,
      LOG_LEVEL: 'error',
      WEBHOOK_ALLOW_PRIVATE: '1',
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

async function firstId(service: Service, path: string): Promise<string> {
  const { data } = (await request(service, 'GET', path)) as { data: { id: string }[] };
  return data[0]?.id ?? '';
}

/**
 * Adds objects that the demo does not have: an alert, a webhook that nobody answers, a token, a saved query, custom
 * fields.
 */
async function addTheRest(service: Service): Promise<void> {
  const post = (path: string, body: object) => request(service, 'POST', path, body);
  const customer = await firstId(service, '/v1/customers?search=Vantage');
  await post('/v1/webhooks/create', { name: 'Portal', url: 'http://127.0.0.1:9/' });
  await post('/v1/alerts/create', {
    alert_type: 'spend_threshold_reached',
    name: 'Spends more than planned',
    threshold: 10_000,
    customer_id: customer,
  });
  await post('/v1/tokens/create', { name: 'Finance', scope: 'read' });
  await post('/v1/sql/queries/save', { name: 'Requests by day and model', sql: QUESTION });
  await post('/v1/customFields/addKey', {
    entity: 'customer',
    key: 'account_manager',
    enforce_uniqueness: false,
  });
  await post('/v1/customFields/setValues', {
    entity: 'customer',
    entity_id: customer,
    custom_fields: { account_manager: 'Ada' },
  });
}

/** The address of a page of prices with a draft of another price. */
async function draftedPrices(service: Service): Promise<string> {
  const card = await cardNamed(service, 'AI API price list (');
  const at = '2026-11-26T00:00:00Z';
  const { data } = (await request(service, 'POST', '/v1/contract-pricing/rate-cards/getRates', {
    rate_card_id: card,
    at,
  })) as { data: { product_id: string; product_name: string }[] };
  const product = data.find(({ product_name: name }) => name === 'Active users')?.product_id ?? '';
  const rate = { product, values: {}, entitled: true, type: 'FLAT', price: '25' };
  return `/prices?${new URLSearchParams({
    card,
    month: '2026-10',
    draft: JSON.stringify([rate]),
    rate: JSON.stringify([product, [], null]),
  })}`;
}

async function dashboardOf(service: Service, customer: string, dashboard: string): Promise<string> {
  const options = [{ key: 'theme', value: 'auto' }];
  const asked = { customer_id: customer, dashboard, dashboard_options: options };
  const { data } = (await request(service, 'POST', '/v1/dashboards/getEmbeddableUrl', asked)) as {
    data: { url: string };
  };
  return data.url;
}

/** Every page, with the data of the demo's customer who has every kind of term. */
async function pagesOf(service: Service): Promise<Shown[]> {
  const first = (path: string) => firstId(service, path);
  const customer = await first('/v1/customers?search=Vantage');
  const other = await first('/v1/customers?search=Alder');
  const seated = await first('/v1/customers?search=Fjord%20Legal');
  const invoice = (status: string, of: string) =>
    first(`/v1/customers/${of}/invoices?type=USAGE&status=${status}`);
  const [issued, draft] = [await invoice('FINALIZED', customer), await invoice('DRAFT', other)];
  const views = ['usage', 'balances', 'contracts', 'invoices', 'events', 'alerts', 'audit'];
  return [
    { name: 'start', path: '' },
    { name: 'customers', path: '/customers' },
    { name: 'customer', path: `/customers/${other}` },
    ...views.map((view) => ({ name: `customer-${view}`, path: `/customers/${customer}?view=${view}` })),
    { name: 'customer-seats', path: `/customers/${seated}?view=seats` },
    { name: 'invoice', path: `/invoices/${customer}/${issued}` },
    { name: 'invoice-credit', path: `/invoices/${customer}/${issued}/credit` },
    { name: 'invoice-time', path: `/invoices/${other}/${draft}?view=time` },
    { name: 'invoice-property', path: `/invoices/${other}/${draft}?view=property&property=user_id` },
    { name: 'invoice-change', path: `/invoices/${other}/${draft}?view=change` },
    { name: 'metrics', path: `/metrics?${metricQuestion(customer)}` },
    { name: 'ask', path: `/ask?${new URLSearchParams({ sql: QUESTION })}` },
    { name: 'prices', path: `/prices?card=${await cardNamed(service, 'AI API price list (')}` },
    { name: 'prices-new', path: `/prices?card=${await cardNamed(service, 'AI API price list (')}&rate=new` },
    { name: 'prices-draft', path: await draftedPrices(service), press: 'Simulate' },
    { name: 'prices-contract', path: `/prices?view=contract&customer=${customer}` },
    { name: 'events', path: `/events?id=november-0-3` },
    { name: 'month-end', path: '/month-end' },
    { name: 'month-end-now', path: '/month-end?month=2026-11' },
    { name: 'system', path: '/system' },
    ...['webhooks', 'deliveries', 'tokens', 'audit'].map((view) => ({
      name: `system-${view}`,
      path: `/system?view=${view}`,
    })),
    { name: 'dashboard-invoices', path: await dashboardOf(service, customer, 'invoices') },
    { name: 'dashboard-usage', path: await dashboardOf(service, other, 'usage') },
    { name: 'dashboard-balances', path: await dashboardOf(service, customer, 'commits_and_credits') },
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

/** Pages that have to bear many customers. */
async function pagesOfMany(service: Service): Promise<Shown[]> {
  const rate = {
    product: await addManyCustomers(service, 1_000),
    values: {},
    entitled: true,
    type: 'FLAT',
    price: '5',
  };
  const draft = JSON.stringify([rate]);
  const card = await cardNamed(service, 'Many');
  return [
    { name: 'many-start', path: '' },
    { name: 'many-customers', path: '/customers?search=Customer' },
    { name: 'many-month-end', path: '/month-end?month=2026-11' },
    {
      name: 'many-prices',
      path: `/prices?${new URLSearchParams({ card, month: '2026-11', draft })}`,
      press: 'Simulate',
    },
  ];
}

async function cardNamed(service: Service, name: string): Promise<string> {
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
  for (const { name, path, press } of pages) {
    await page.setViewportSize(DESKTOP.viewport ?? FALLBACK_SIZE);
    await page.emulateMedia({ colorScheme: 'light' });
    await page.goto(path.startsWith('http') ? path : `${url}/console${path}`);
    await page.getByRole('heading').first().waitFor();
    if (press !== undefined) await page.getByRole('button', { name: press }).click();
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
const [service, browser] = [await startService(dataDir), await launchBrowser(['--hide-scrollbars'])];
try {
  await fillWithDemo(service, { events: 20_000, customers: 16 });
  await addTheRest(service);
  await photograph(browser, service.url, await pagesOf(service), directory);
  await photograph(browser, service.url, await pagesOfMany(service), directory);
  process.stdout.write(`pictures of every page are in ${directory}\n`);
} finally {
  await browser.close();
  await service.end();
  await rm(dataDir, { recursive: true, force: true });
}

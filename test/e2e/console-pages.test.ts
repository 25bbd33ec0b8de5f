/**
 * The console's pages in a real browser, on the demo's data, on an empty service, with 1,000 customers and with an
 * invoice of 2,000 lines. Times are printed, because other work on the machine changes them.
 */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { moneyText } from '../../console/src/format/money.ts';
import { DESKTOP, isBrowserMissing, launchBrowser, PHONE, seriousFaults } from '../support/browser.ts';
import { DEMO_NOW, fillWithDemo } from '../support/console-data.ts';
import { startTestService, type TestService } from '../support/service.ts';

const UNIT = { id: '', name: 'USD (cents)' };
/** Of an in-page navigation on the demo's data. */
const CHANGE_MS_MAX = 3_000;

let service: TestService;
let browser: Browser;

async function cookieFor(at: TestService, token = at.token) {
  const headers = { 'sec-fetch-site': 'same-origin' };
  const answer = await at.api.send('POST', '/console/session', { token }, { token: null, headers });
  const [name = '', value = ''] = (answer.headers.get('set-cookie') ?? '').split(';', 1)[0]?.split('=') ?? [];
  return { name, value, url: at.url };
}

/** A page of somebody who is signed in; what it prints as an error fails the test that opened it. */
async function open(
  path: string,
  { at = service, token, ...options }: { at?: TestService; token?: string } & BrowserContextOptions = {},
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
async function settle(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle');
  await expect.poll(() => page.getByRole('status').count()).toBe(0);
}

/** How many pixels of a chart are drawn. */
function drawnPixels(page: Page): Promise<number> {
  return page.evaluate(`(() => {
    const canvas = document.querySelector('canvas');
    if (canvas === null) return 0;
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return data.filter((value, index) => index % 4 === 3 && value > 0).length;
  })()`) as Promise<number>;
}

interface Shown {
  readonly customer: string;
  readonly invoice: string;
  readonly draft: string;
}

/** The demo's customer with every kind of term. */
async function negotiated(): Promise<Shown> {
  const { api } = service;
  const customer = (await api.get('/v1/customers', { query: { search: 'Vantage' } })).text('data[0].id');
  const one = async (status: string) =>
    (await api.get(`/v1/customers/${customer}/invoices`, { query: { status, type: 'USAGE' } })).text(
      'data[0].id',
    );
  return { customer, invoice: await one('FINALIZED'), draft: await one('DRAFT') };
}

describe.skipIf(isBrowserMissing())('the console on the demo’s data', () => {
  let shown: Shown;
  beforeAll(async () => {
    [service, browser] = await Promise.all([startTestService({ sandboxNow: DEMO_NOW }), launchBrowser()]);
    await fillWithDemo(service, { events: 2_000, customers: 6 });
    shown = await negotiated();
  });
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });

  const pages = () => {
    const customer = `/console/customers/${shown.customer}`;
    const invoice = `/console/invoices/${shown.customer}/${shown.invoice}`;
    const views = ['usage', 'balances', 'contracts', 'seats', 'invoices', 'events', 'alerts', 'audit'];
    return [
      '/console',
      '/console/customers',
      customer,
      ...views.map((view) => `${customer}?view=${view}`),
      invoice,
      `${invoice}?view=time`,
      `${invoice}?view=property&property=user_id`,
      `/console/invoices/${shown.customer}/${shown.draft}?view=change`,
      '/console/month-end',
      '/console/system',
      ...['webhooks', 'tokens', 'audit'].map((view) => `/console/system?view=${view}`),
    ];
  };

  it('has every page without an error, for screen readers too', async () => {
    const { page, errors } = await open('/console/none');
    await page.getByText('The console has no page at this address').waitFor();
    const faults: Record<string, string[]> = {};
    for (const path of pages()) {
      await page.goto(service.url + path);
      await settle(page);
      expect(await page.getByRole('alert').allTextContents(), path).toEqual([]);
      const found = await seriousFaults(page);
      if (found.length > 0) faults[path] = found;
    }
    expect(faults).toEqual({});
    expect(errors).toEqual([]);
  });

  it('fits a phone in the dark', async () => {
    const { page } = await open('/console', { ...PHONE, colorScheme: 'dark' });
    const wide: string[] = [];
    for (const path of pages().filter((_, index) => index % 3 === 0)) {
      await page.goto(service.url + path);
      await settle(page);
      const width = Number(await page.evaluate('document.scrollingElement.scrollWidth'));
      if (width > 390) wide.push(`${path}: ${width}`);
    }
    expect(await seriousFaults(page)).toEqual([]);
    expect(wide).toEqual([]);
  });

  it('shows at month end the amounts that the API has, of the month that ended last', async () => {
    const { page } = await open('/console/month-end');
    await page.getByRole('heading', { name: 'Month end: October 2026' }).waitFor();
    await settle(page);
    const range = { starting_on: '2026-10-01T00:00:00Z', ending_before: '2026-11-01T00:00:00Z' };
    const issued = await service.api.get('/v1/invoices', {
      query: { ...range, limit: 100, status: 'FINALIZED' },
    });
    const amounts = issued.list('data').map((_, index) => {
      const id = issued.text(`data[${index}].customer_id`);
      return [`/console/customers/${id}`, moneyText(issued.digits(`data[${index}].total`) as never, UNIT)];
    });
    const rows = await page.getByRole('region', { name: 'Invoices of the month' }).locator('tbody tr').all();
    const onPage = await Promise.all(
      rows.map(async (row) => [
        await row.getByRole('link').first().getAttribute('href'),
        await row.locator('td').nth(3).textContent(),
      ]),
    );
    expect(amounts.length).toBeGreaterThan(5);
    expect(onPage.sort()).toEqual(amounts.sort());
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('✓ Every number agrees').waitFor();
  });

  it('exports what is seen, with all digits', async () => {
    const { page } = await open('/console/month-end?month=2026-11&search=Vantage');
    await settle(page);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export' }).click(),
    ]);
    const pieces: Buffer[] = [];
    for await (const piece of await download.createReadStream()) pieces.push(piece as Buffer);
    const [header, row, ...others] = Buffer.concat(pieces).toString().trim().split('\r\n');
    expect(header).toMatch(/^customer,customer_id,/);
    expect(others).toEqual([]);
    const draft = await service.api.get(`/v1/customers/${shown.customer}/invoices/${shown.draft}`);
    expect(row).toContain(`,${draft.digits('data.total')},`);
  });

  it('draws the invoice by day, and its days are its total', async () => {
    const { page } = await open(`/console/invoices/${shown.customer}/${shown.invoice}?view=time`);
    await page.getByText('✓ the total of the invoice').waitFor();
    await expect.poll(() => drawnPixels(page)).toBeGreaterThan(500);
    await page.getByText('Figures as a table').click();
    expect(await page.getByRole('region', { name: 'Amounts by day' }).locator('tbody tr').count()).toBe(31);
  });

  it('explains a line with the formula of the API', async () => {
    const { page } = await open(`/console/invoices/${shown.customer}/${shown.invoice}`);
    await page.getByRole('link', { name: 'Explain' }).nth(1).click();
    await page.getByText('✓ Computed again from its events and terms').waitFor();
    expect(page.url()).toMatch(/[?&]line=[\w-]{36}/);
    const explained = await service.api.get(
      `/v1/customers/${shown.customer}/invoices/${shown.invoice}/explain`,
    );
    const line = new URL(page.url()).searchParams.get('line');
    const at = explained
      .list('data')
      .findIndex((_, index) => explained.text(`data[${index}].line_item.id`) === line);
    for (const step of explained.list(`data[${at}].formula`)) {
      expect(await page.getByText(String(step)).count()).toBeGreaterThan(0);
    }
  });

  it('goes back and forward through filters, which are in the address', async () => {
    const { page } = await open('/console/customers');
    await page.getByRole('searchbox').fill('vantage');
    await page.getByRole('heading', { name: 'Customers that fit “vantage”' }).waitFor();
    await page.getByRole('link', { name: /Vantage/ }).click();
    await page.getByRole('link', { name: 'Balances' }).click();
    await page.getByRole('heading', { name: 'What pays next' }).waitFor();
    await page.goBack();
    await page.goBack();
    await expect.poll(() => page.getByRole('searchbox').inputValue()).toBe('vantage');
    expect(page.url()).toContain('search=vantage');
    await page.goForward();
    await page.getByRole('heading', { name: 'Running drafts' }).waitFor();
  });

  it('voids and regenerates an invoice after it has said what that does', async () => {
    const list = await service.api.get('/v1/invoices', {
      query: { type: 'USAGE', status: 'FINALIZED', limit: 100 },
    });
    const last = list.list('data').length - 1;
    const [customer, id] = [list.text(`data[${last}].customer_id`), list.text(`data[${last}].id`)];
    const { page } = await open(`/console/invoices/${customer}/${id}`);
    await page.getByRole('button', { name: 'Void' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('It cannot be undone').waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Void' }).click();
    await page.getByText('void', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Regenerate' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Regenerate' }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(id));
    expect((await service.api.get(`/v1/customers/${customer}/invoices/${id}`)).at('data.status')).toBe(
      'VOID',
    );
  });

  it('offers no change to a token that only reads, and says in the API’s words what it may not see', async () => {
    const token = (await service.api.post('/v1/tokens/create', { name: 'reader', scope: 'read' })).text(
      'data.token',
    );
    const { page } = await open(`/console/invoices/${shown.customer}/${shown.invoice}`, { token });
    const button = page.getByRole('button', { name: 'Void' });
    await button.waitFor();
    expect([await button.isDisabled(), await button.getAttribute('title')]).toEqual([
      true,
      'This needs a token of scope write; this one has scope read',
    ]);
    await page.goto(`${service.url}/console/system?view=tokens`);
    await page.getByText('This needs a token of scope write; this one has scope read (403)').waitFor();
  });

  it('says that it waits, why an answer failed, and asks again', async () => {
    const { page } = await open('/console/system');
    let answers = 0;
    await page.route('**/v1/customers?**', async (route) => {
      answers += 1;
      if (answers > 1) return route.fallback();
      await page.getByText('Loading customers').waitFor({ state: 'attached' });
      return route.fulfill({ status: 500, json: { message: 'Internal error. The log has the details.' } });
    });
    await page.getByRole('link', { name: 'Customers' }).click();
    await page.getByText('Internal error. The log has the details. (500)').waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('region', { name: 'Customers' }).waitFor();
    expect(answers).toBe(2);
  });

  it('paints soon, and changes pages at once', async () => {
    const { page } = await open('/console/customers');
    await settle(page);
    const paint = Number(
      await page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1"),
    );
    const change = Number(
      await page.evaluate(`(async () => {
        const links = document.querySelectorAll('nav a');
        const started = performance.now();
        [...links].find((link) => link.textContent === 'System').click();
        while (document.querySelector('h1')?.textContent !== 'System') await new Promise(requestAnimationFrame);
        return performance.now() - started;
      })()`),
    );
    process.stdout.write(
      `first paint of the console: ${Math.round(paint)} ms; a page's change: ${Math.round(change)} ms\n`,
    );
    expect(paint).toBeGreaterThan(0);
    expect(change).toBeLessThan(CHANGE_MS_MAX);
  });

  it('asks for the token again when the session has expired, and goes on where it was', async () => {
    const { page } = await open('/console/customers');
    await settle(page);
    await service.moveClock('2026-11-27T09:30:00Z');
    await page.getByRole('searchbox').fill('fjord');
    await page.getByText('Your session has ended').waitFor();
    await page.getByLabel('API token').fill(service.token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Customers that fit “fjord”' }).waitFor();
    expect(new URL(page.url()).search).toBe('?search=fjord');
  });
});

describe.skipIf(isBrowserMissing())('the console at its ends', () => {
  const PRESENT = '2026-11-20T00:00:00Z';
  let at: TestService;
  beforeAll(async () => {
    [at, browser] = await Promise.all([startTestService({ sandboxNow: PRESENT }), launchBrowser()]);
    service = at;
  });
  afterAll(async () => {
    await browser?.close();
    await at?.close();
  });

  it('says on an empty service what to do', async () => {
    const { page, errors } = await open('/console', { at });
    const expected = {
      '/console': 'No event happened in the last 30 days',
      '/console/customers': 'There is no customer yet',
      '/console/month-end': 'No contract has an invoice in this month',
      '/console/system?view=webhooks': 'Nobody is told of anything yet',
    };
    for (const [path, text] of Object.entries(expected)) {
      await page.goto(at.url + path);
      await page.getByText(text).waitFor();
      await settle(page);
      expect(await seriousFaults(page), path).toEqual([]);
    }
    await page.goto(`${at.url}/console/customers/${crypto.randomUUID()}`);
    await page.getByRole('alert').getByText('(404)').waitFor();
    expect(errors.filter((text) => !text.includes('404'))).toEqual([]);
  });

  it('finds one of 1,000 customers, and pages through them by number', async () => {
    const names = Array.from({ length: 1_000 }, (_, index) => `Customer ${String(index).padStart(4, '0')}`);
    for (let first = 0; first < names.length; first += 50) {
      const some = names.slice(first, first + 50);
      await Promise.all(
        some.map((name) =>
          at.inProcess.post('/v1/customers', { name, ingest_aliases: [name.replace(' ', '-')] }),
        ),
      );
    }
    const { page } = await open('/console/customers', { at });
    await page.getByRole('link', { name: 'Page 2' }).click();
    await page.getByRole('link', { name: 'Page 3' }).click();
    await expect.poll(() => page.url()).toContain('page=3');
    const third = await page.getByRole('region', { name: 'Customers' }).locator('tbody').textContent();
    const { page: sent } = await open(new URL(page.url()).pathname + new URL(page.url()).search, { at });
    await settle(sent);
    expect(await sent.getByRole('region', { name: 'Customers' }).locator('tbody').textContent()).toBe(third);
    await page.getByRole('searchbox').fill('Customer-0777');
    await page.getByRole('link', { name: 'Customer 0777' }).waitFor();
  });

  it('scrolls an invoice of 2,000 lines with few rows in the page', async () => {
    const { customer, invoice } = await longInvoice(at);
    const { page } = await open(`/console/invoices/${customer}/${invoice}`, { at });
    await settle(page);
    const region = page.getByRole('region', { name: 'Lines of the invoice' });
    expect(await region.locator('table').getAttribute('aria-rowcount')).toBe('2002');
    const { frames, ms, rowsMax } = (await page.evaluate(`(async () => {
      const region = document.querySelector('section[aria-label="Lines of the invoice"]');
      let frames = 0, rowsMax = 0;
      const started = performance.now();
      while (performance.now() - started < 1_500) {
        region.scrollTop += 400;
        await new Promise(requestAnimationFrame);
        frames += 1;
        rowsMax = Math.max(rowsMax, region.querySelectorAll('tr').length);
      }
      return { frames, ms: performance.now() - started, rowsMax };
    })()`)) as { frames: number; ms: number; rowsMax: number };
    process.stdout.write(
      `frames a second while 2,000 lines are scrolled: ${Math.round((frames * 1_000) / ms)}\n`,
    );
    expect(rowsMax).toBeLessThan(200);
    await page.evaluate(
      `{ const region = document.querySelector('section[aria-label="Lines of the invoice"]'); region.scrollTop = region.scrollHeight; }`,
    );
    await page.getByText('key k1999', { exact: false }).waitFor();
    expect(await seriousFaults(page)).toEqual([]);
  });
});

/** A draft with a line for each of 2,000 keys. */
async function longInvoice({ inProcess: api }: TestService) {
  const customer = (await api.post('/v1/customers', { name: 'Long', ingest_aliases: ['long'] })).text(
    'data.id',
  );
  const metric = await api.post('/v1/billable-metrics/create', {
    name: 'Calls',
    aggregation_type: 'COUNT',
    property_filters: [{ name: 'key', exists: true }],
    group_keys: [['key']],
  });
  const product = await api.post('/v1/contract-pricing/products/create', {
    name: 'Calls',
    type: 'USAGE',
    billable_metric_id: metric.text('data.id'),
    presentation_group_key: ['key'],
  });
  const card = (await api.post('/v1/contract-pricing/rate-cards/create', { name: 'List' })).text('data.id');
  await api.post('/v1/contract-pricing/rate-cards/addRate', {
    rate_card_id: card,
    product_id: product.text('data.id'),
    entitled: true,
    starting_at: '2026-01-01T00:00:00Z',
    rate_type: 'FLAT',
    price: 3,
  });
  const starting_at = '2026-11-01T00:00:00Z';
  await api.post('/v1/contracts/create', { customer_id: customer, rate_card_id: card, starting_at });
  for (let first = 0; first < 2_000; first += 100) {
    const events = Array.from({ length: 100 }, (_, index) => ({
      transaction_id: `long-${first + index}`,
      customer_id: 'long',
      event_type: 'call',
      timestamp: '2026-11-10T00:00:00Z',
      properties: { key: `k${String(first + index).padStart(4, '0')}` },
    }));
    await api.post('/v1/ingest', events);
  }
  const drafts = await api.get(`/v1/customers/${customer}/invoices`, { query: { status: 'DRAFT' } });
  return { customer, invoice: drafts.text('data[0].id') };
}

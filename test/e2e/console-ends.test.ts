/**
 * The console where it is empty and where it is full: a service without data, 1,000 customers, an invoice of 2,000
 * lines. Times are printed: other work on the machine changes them.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isBrowserMissing, launchBrowser, seriousFaults } from '../support/browser.ts';
import { addManyCustomers } from '../support/console-data.ts';
import { openConsole, settle } from '../support/console-page.ts';
import { startTestService, type TestService } from '../support/service.ts';

let at: TestService;
let browser: Browser;

const open = (path: string) => openConsole(browser, at, path);

describe.skipIf(isBrowserMissing())('the console at its ends', () => {
  const PRESENT = '2026-11-20T00:00:00Z';
  beforeAll(async () => {
    [at, browser] = await Promise.all([startTestService({ sandboxNow: PRESENT }), launchBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await at?.close();
  });

  it('the console says on an empty service what to do', async () => {
    const { page, errors } = await open('/console');
    const expected = {
      '/console': 'No event happened in the last 30 days',
      '/console/customers': 'There is no customer yet',
      '/console/month-end': 'No contract has an invoice in this month',
      '/console/metrics': 'No metrics yet',
      '/console/ask': 'No query is saved yet',
      '/console/prices': 'There is no rate card yet',
      '/console/events': 'No events match',
      '/console/system?view=webhooks': 'No webhooks yet',
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

  describe('with 1,000 customers', () => {
    let card: string;
    let product: string;
    beforeAll(async () => {
      product = await addManyCustomers(at, 1_000);
      const cards = await at.api.post('/v1/contract-pricing/rate-cards/list', {});
      card = cards.text('data[0].id');
    }, 300_000);

    it('the console with 1,000 customers finds one of them, and pages through them by number', async () => {
      const { page } = await open('/console/customers');
      await page.getByRole('link', { name: 'Page 2' }).click();
      await page.getByRole('link', { name: 'Page 3' }).click();
      await expect.poll(() => page.url()).toContain('page=3');
      await settle(page);
      const third = await page.getByRole('region', { name: 'Customers' }).locator('tbody').textContent();
      const { page: sent } = await open(new URL(page.url()).pathname + new URL(page.url()).search);
      await settle(sent);
      expect(await sent.getByRole('region', { name: 'Customers' }).locator('tbody').textContent()).toBe(
        third,
      );
      await page.getByRole('searchbox').fill('Customer-0777');
      await page.getByRole('link', { name: 'Customer 0777' }).waitFor();
    });

    it('the console with 1,000 customers closes the month of all of them on one page, and counts their drafts at the start', async () => {
      const { page, errors } = await open('/console/month-end?month=2026-11');
      const table = page.getByRole('region', { name: 'Invoices of the month' });
      await table.waitFor({ timeout: 120_000 });
      expect(await table.locator('table').getAttribute('aria-rowcount')).toBe('1001');
      expect(await table.locator('tbody').count()).toBeLessThan(200);
      await page.getByLabel('Customer or number').fill('Customer 0777');
      await page.getByRole('link', { name: 'Customer 0777' }).waitFor();
      expect(await table.locator('tbody tr').count()).toBe(1);
      await page.goto(`${at.url}/console`);
      const drafts = page.locator('div', { has: page.locator('dt', { hasText: /^Drafts$/ }) }).last();
      await expect.poll(() => drafts.locator('dd').textContent(), { timeout: 120_000 }).toBe('1,000');
      expect(errors).toEqual([]);
    });

    it('simulates a draft of prices for all of them, says how far it is, stops when asked to, and adds them up', async () => {
      const rate = { product, values: {}, entitled: true, type: 'FLAT', price: '5' };
      const search = new URLSearchParams({ card, month: '2026-11', draft: JSON.stringify([rate]) });
      const { page, errors } = await open(`/console/prices?${search}`);
      // The second page of the answer is held back, so that there is something to stop.
      let isHeld = true;
      await page.route('**/v1/invoices/preview?*', async (route) => {
        if (!isHeld || !route.request().url().includes('next_page')) await route.fallback();
      });
      await page.getByRole('button', { name: 'Simulate' }).click();
      await page.getByText(/^[1-9]\d* customers computed/).waitFor({ timeout: 60_000 });
      await page.getByRole('button', { name: 'Stop' }).click();
      await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
      expect(await page.getByText('Customers that change').count()).toBe(0);
      isHeld = false;
      const started = performance.now();
      await page.getByRole('button', { name: 'Simulate' }).click();
      await page.getByText('1,000 of 1,000').waitFor({ timeout: 240_000 });
      const seconds = ((performance.now() - started) / 1_000).toFixed(1);
      process.stdout.write(`a draft of prices simulated for 1,000 customers: ${seconds} s\n`);
      await page.getByText('+$20.00 +66.7 % against $30.00').waitFor();
      const table = page.getByRole('region', { name: 'Customers with the draft' }).locator('table');
      expect(await table.getAttribute('aria-rowcount')).toBe('1001');
      expect(errors).toEqual([]);
    });

    it('the console with 1,000 customers offers the few that fit what is typed, where a customer is chosen', async () => {
      const { page } = await open('/console/prices?view=contract');
      await page.getByRole('combobox', { name: 'Customer' }).fill('customer-0778');
      await page.getByRole('option', { name: /Customer 0778/ }).waitFor();
      await expect.poll(() => page.getByRole('option').count()).toBe(1);
      await page.getByRole('option', { name: /Customer 0778/ }).click();
      await page.waitForURL((url) => url.searchParams.has('customer'));
      await page.getByText('Calls of many').waitFor();
    });
  });

  it('the console scrolls an invoice of 2,000 lines with few rows in the page', async () => {
    const { customer, invoice } = await longInvoice(at);
    const { page } = await open(`/console/invoices/${customer}/${invoice}`);
    await settle(page);
    const region = page.getByRole('region', { name: 'Lines of the invoice' });
    expect(await region.locator('table').getAttribute('aria-rowcount')).toBe('2002');
    const busy = await busyTimeOf(page);
    const before = await busy();
    const { intervals, rowsMax } = (await page.evaluate(`(async () => {
      const region = document.querySelector('section[aria-label="Lines of the invoice"]');
      const intervals = [];
      let rowsMax = 0;
      let last = await new Promise(requestAnimationFrame);
      const started = last;
      while (last - started < 1_500) {
        region.scrollTop += 400;
        const at = await new Promise(requestAnimationFrame);
        intervals.push(at - last);
        last = at;
        rowsMax = Math.max(rowsMax, region.querySelectorAll('tr').length);
      }
      return { intervals, rowsMax };
    })()`)) as { intervals: number[]; rowsMax: number };
    const busyMs = ((await busy()) - before) / intervals.length;
    const median = [...intervals].sort((a, b) => a - b)[Math.floor(intervals.length / 2)] ?? 0;
    process.stdout.write(
      `frames a second while 2,000 lines are scrolled: ${Math.round(1_000 / median)} (median), the page works ${busyMs.toFixed(1)} ms for each\n`,
    );
    expect(rowsMax).toBeLessThan(200);
    await page.evaluate(
      `{ const region = document.querySelector('section[aria-label="Lines of the invoice"]'); region.scrollTop = region.scrollHeight; }`,
    );
    await page.getByText('key k1999', { exact: false }).waitFor();
    expect(await seriousFaults(page)).toEqual([]);
  });
});

/** For how many ms the main thread of the page has worked until now. */
async function busyTimeOf(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1_000;
  };
}

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

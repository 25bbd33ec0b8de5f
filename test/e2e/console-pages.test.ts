/**
 * The console's pages in a real browser, on the demo's data. Times are printed: other work on the machine changes
 * them.
 */
import Big from 'big.js';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { sum } from '../../console/src/api/exact.ts';
import { moneyText } from '../../console/src/format/money.ts';
import { intervalOf } from '../../console/src/format/time.ts';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { isBrowserMissing, launchBrowser, PHONE, seriousFaults } from '../support/browser.ts';
import { DEMO_NOW, fillWithDemo } from '../support/console-data.ts';
import { type ConsoleOptions, drawnPixels, openConsole, settle } from '../support/console-page.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';

const UNIT = USD_CENTS;
/** The longest time of an in-page navigation on the demo's data. */
const CHANGE_MS_MAX = 3_000;

let service: TestService;
let browser: Browser;

const open = (path: string, options: ConsoleOptions = {}) => openConsole(browser, service, path, options);

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
  /** The customer whose invoice misses late usage. */
  let late: string;
  beforeAll(async () => {
    [service, browser] = await Promise.all([startTestService({ sandboxNow: DEMO_NOW }), launchBrowser()]);
    const [, second] = await fillWithDemo(service, { events: 2_000, customers: 6 });
    late = second?.id ?? '';
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
      `${invoice}/credit`,
      `${invoice}?view=time`,
      `${invoice}?view=property&property=user_id`,
      `/console/invoices/${shown.customer}/${shown.draft}?view=change`,
      '/console/month-end',
      '/console/metrics',
      '/console/ask',
      '/console/prices',
      `/console/prices?view=contract&customer=${shown.customer}`,
      '/console/events',
      '/console/events?id=october-late',
      '/console/system',
      ...['webhooks', 'tokens', 'audit'].map((view) => `/console/system?view=${view}`),
    ];
  };

  it('the console on the demo’s data has every page without an error, for screen readers too', async () => {
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

  it('the console on the demo’s data fits a phone in the dark', async () => {
    const { page } = await open('/console', { ...PHONE, colorScheme: 'dark' });
    // The figure that matters is never beside the screen: rows of wide tables are lists of their cells.
    const wide = async () => {
      const width = Number(await page.evaluate('document.scrollingElement.scrollWidth'));
      const tables = (await page.evaluate(`[...document.querySelectorAll('section[tabindex]')]
        .filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.getAttribute('aria-label'))`)) as string[];
      return width > 390 ? [`the page: ${width}`, ...tables] : tables;
    };
    for (const path of [...pages(), '/console/system?view=deliveries']) {
      await page.goto(service.url + path);
      await settle(page);
      await expect.poll(wide, { message: path }).toEqual([]);
    }
    expect(await seriousFaults(page)).toEqual([]);
  });

  it('the console on the demo’s data leaves the running day out of the chart of revenue, and says so, by day and cumulative', async () => {
    const { page } = await open('/console');
    await page.getByText('26 Nov is still running and not in the chart').waitFor();
    const figures = page.getByRole('figure', { name: /^Revenue by day, USD/ });
    await figures.getByText('Figures as a table').click();
    const row = (day: string) => figures.getByRole('row', { name: new RegExp(`^${day} Nov 2026`) });
    expect(await row('25').getByRole('cell').nth(1).textContent()).toMatch(/^\$/);
    expect(await row('26').getByRole('cell').nth(1).textContent()).toBe('');
    expect(await row('26').getByRole('cell').nth(2).textContent()).toMatch(/^\$/);
    await page.getByText(/against the same days of October 2026: \$/).waitFor();
    await page.getByRole('button', { name: 'Cumulative' }).click();
    const summed = page.getByRole('figure', { name: /^Revenue until each day, USD/ });
    await summed.getByText('Figures as a table').click();
    const amounts = await summed.locator('tbody tr td:nth-child(3)').allTextContents();
    const dollars = amounts.map((text) => Number(text.replaceAll(/[$,]/g, '')));
    expect([...dollars].sort((a, b) => a - b)).toEqual(dollars);
  });

  it('the console on the demo’s data opens the usage of a customer with a metric that has some', async () => {
    const { page } = await open(`/console/customers/${shown.customer}?view=usage`);
    await expect.poll(() => drawnPixels(page)).toBeGreaterThan(500);
    await page.getByText('Figures as a table').waitFor();
  });

  it('compares the month with all invoices of the month before, and names those beside no row', async () => {
    const total = async (month: string, status: string) => {
      const query = { ...intervalOf(month), status, limit: 100 };
      const { list, digits } = await service.api.get('/v1/invoices', { query });
      return sum(list('data').map((_, index) => digits(`data[${index}].total`) as never));
    };
    const { page } = await open('/console/month-end?month=2026-11');
    const before = await total('2026-10', 'FINALIZED');
    // A month that is running has no percentage of a whole one.
    await page.getByText(`October 2026: ${moneyText(before, UNIT)} in the whole month`).waitFor();
    expect(await page.getByRole('columnheader', { name: '%' }).count()).toBe(0);
    const foot = page.getByRole('region', { name: 'Invoices of the month' }).locator('tfoot td').nth(4);
    const compared = await foot.textContent();
    const alone = await page.getByText('of the month before stands beside no row').textContent();
    expect([compared, alone?.match(/\$[\d.,]+/)?.[0]].every((text) => text !== undefined)).toBe(true);
    const dollars = (text: string | null | undefined) => new Big((text ?? '').replaceAll(/[$,]/g, ''));
    const together = dollars(compared).plus(dollars(alone?.match(/\$[\d.,]+/)?.[0]));
    expect(together.minus(before.div(100)).abs().lt('0.02')).toBe(true);
  });

  it('the console on the demo’s data shows at month end the amounts that the API has, of the month that ended last', async () => {
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

  it('the console on the demo’s data exports what is seen, with all digits', async () => {
    const { page } = await open('/console/month-end?month=2026-11&search=Vantage');
    await settle(page);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export' }).click(),
    ]);
    const pieces: Buffer[] = [];
    for await (const piece of await download.createReadStream()) pieces.push(piece as Buffer);
    const [header, row, ...others] = Buffer.concat(pieces).toString().trim().split('\r\n');
    expect(header).toMatch(
      /^customer,customer_id,invoice_id,invoice_number,status,currency_code,total_amount,/,
    );
    expect(header).toMatch(/,unit,total,before,change,price,volume,mix,terms,not_counted$/);
    expect(others).toEqual([]);
    const draft = await service.api.get(`/v1/customers/${shown.customer}/invoices/${shown.draft}`);
    const total = draft.digits('data.total');
    // Dollars beside the code, as in the CSV of invoices, then the cents of the API.
    expect(row).toContain(`,USD,${new Big(total).div(100).toFixed()},`);
    expect(row).toContain(`,USD (cents),${total},`);
  });

  it('the console on the demo’s data draws the invoice by day, and its days are its total', async () => {
    const { page } = await open(`/console/invoices/${shown.customer}/${shown.invoice}?view=time`);
    await page.getByText('✓ the total of the invoice').waitFor();
    await expect.poll(() => drawnPixels(page)).toBeGreaterThan(500);
    await page.getByText('Figures as a table').click();
    const rows = page.getByRole('region', { name: 'Amounts by day' }).locator('tbody tr');
    await expect.poll(() => rows.count()).toBe(31);
  });

  it('the console on the demo’s data has lines that add up to the sums of their products, and each has a name', async () => {
    const { page } = await open(`/console/invoices/${shown.customer}/${shown.invoice}`);
    const table = page.getByRole('region', { name: 'Lines of the invoice' });
    await table.getByText('counts towards it, not deducted').first().waitFor();
    const rows = await table.locator('tbody tr').all();
    const sums: [group: string, sum: Big, lines: Big][] = [];
    for (const row of rows) {
      const [name = '', , , amount = ''] = await row.locator('td').allTextContents();
      expect(name).not.toBe('');
      const dollars = new Big(amount === '' ? 0 : amount.replace('−', '-').replaceAll(/[$,]/g, ''));
      const group = sums.at(-1);
      if ((await row.locator('b').count()) > 0) sums.push([name, dollars, new Big(0)]);
      else if (group !== undefined) group[2] = group[2].plus(dollars);
    }
    expect(sums.length).toBeGreaterThan(3);
    // Four places of each line are shown.
    for (const [group, sum, lines] of sums) expect(sum.minus(lines).abs().lt('0.001'), group).toBe(true);
  });

  it('the console on the demo’s data explains a line with the formula of the API', async () => {
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

  it('the console on the demo’s data has the exact figure of each amount, says UTC, copies an id with one press, and skips to the page', async () => {
    const permissions = ['clipboard-read', 'clipboard-write'];
    const { page } = await open(`/console/invoices/${shown.customer}/${shown.invoice}`, { permissions });
    const read = await service.api.get(`/v1/customers/${shown.customer}/invoices/${shown.invoice}`);
    const total = read.digits('data.total');
    const amount = page.getByText(moneyText(total as never, UNIT), { exact: true }).first();
    await amount.waitFor();
    expect(await amount.getAttribute('title')).toBe(`${total} USD (cents)`);
    await page.getByText('1 Oct – 31 Oct 2026, UTC').waitFor();
    await page.getByRole('button', { name: `Copy ${shown.invoice}` }).click();
    await page.getByRole('button', { name: `Copied ${shown.invoice}` }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(shown.invoice);
    await page.reload();
    const skip = page.getByRole('button', { name: 'To the content' });
    await skip.waitFor({ state: 'attached' });
    await page.keyboard.press('Tab');
    expect(await skip.evaluate((button) => button.matches(':focus'))).toBe(true);
    await page.keyboard.press('Enter');
    expect(await page.getByRole('main').evaluate((main) => main.matches(':focus'))).toBe(true);
  });

  it('the console on the demo’s data goes back and forward through filters, which are in the address', async () => {
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

  it('the console on the demo’s data voids and regenerates an invoice after it has said what that does', async () => {
    const list = await service.api.get('/v1/invoices', {
      query: { type: 'USAGE', status: 'FINALIZED', limit: 100 },
    });
    // Other tests look at the invoices of the others.
    const at = list
      .list('data')
      .findIndex((_, index) => ![late, shown.customer].includes(list.text(`data[${index}].customer_id`)));
    const [customer, id] = [list.text(`data[${at}].customer_id`), list.text(`data[${at}].id`)];
    const { page } = await open(`/console/invoices/${customer}/${id}`);
    await page.getByRole('button', { name: 'Void' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('cannot be undone').waitFor();
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

  it('the console on the demo’s data offers no change to a token that only reads, and says in the API’s words what it may not see', async () => {
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
    await page
      .getByText('This needs the permission tokens:read, which a token of scope read does not have (403)')
      .waitFor();
  });

  it('the console on the demo’s data says that it waits, why an answer failed, and asks again', async () => {
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
    await page.getByRole('region', { name: 'Customers', exact: true }).waitFor();
    expect(answers).toBe(2);
  });

  it('the console on the demo’s data says at the start what could not be looked at, and never that nothing needs a person meanwhile', async () => {
    const { page } = await open('/console/none');
    await page.route('**/v1/late-usage?*', (route) =>
      route.fulfill({ status: 500, json: { message: 'Internal error. The log has the details.' } }),
    );
    await page.getByRole('link', { name: 'Start' }).first().click();
    const section = page.getByRole('region', { name: 'Needs a person' });
    await section
      .getByText(/Not known: usage after invoices of .* 2026\. Internal error\. The log has the details\./)
      .first()
      .waitFor();
    expect(await section.getByText('Nothing at present').count()).toBe(0);
    await page.unroute('**/v1/late-usage?*');
    await section.getByRole('button', { name: 'Try again' }).first().click();
    await section.getByRole('link', { name: /usage that came after it was issued/ }).waitFor();
  });

  it('the console on the demo’s data paints soon, and changes pages at once', async () => {
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

  it('the console on the demo’s data leads from the start to the invoice that misses late usage', async () => {
    const { page } = await open('/console');
    await settle(page);
    await page
      .getByRole('region', { name: 'Needs a person' })
      .getByRole('link', { name: '1 invoice of October 2026 misses usage that came after it was issued' })
      .click();
    const table = page.getByRole('region', { name: 'Invoices of the month' });
    await table.getByText('late usage').waitFor();
    expect(await table.locator('tbody tr').count()).toBe(1);
    const href = (await table.getByRole('link').nth(1).getAttribute('href')) ?? '';
    const [customer, invoice] = href.split('/').slice(-2);
    const read = await service.api.get(`/v1/customers/${customer}/invoices/${invoice}`);
    expect(read.list('data.unbilled_late_usage').length).toBeGreaterThan(0);
    expect(await table.getByText('late usage').getAttribute('title')).toContain(
      read.text('data.unbilled_late_usage[0].product_name'),
    );
  });

  it('the console on the demo’s data shows a delivery that a billing provider has refused, with its reason, and delivers it again', async () => {
    const receiver = await startWebhookReceiver();
    onTestFinished(() => receiver.close());
    receiver.answerWith((response) => {
      response.statusCode = 422;
      response.end(JSON.stringify({ message: 'no such account' }));
    });
    await issueTo(receiver.url);
    const failing = async () =>
      (await service.api.get('/v1/invoices', { query: { external_status: 'INVALID_REQUEST_ERROR' } })).list(
        'data',
      ).length;
    await expect.poll(failing, { timeout: 30_000 }).toBe(1);
    const { page } = await open('/console');
    await page
      .getByRole('link', { name: '1 invoice was refused by its billing provider' })
      .click({ timeout: 60_000 });
    const table = page.getByRole('region', { name: 'Deliveries of invoices' });
    await table.getByText('Delivered elsewhere').waitFor();
    expect(await table.textContent()).toContain('422');
    expect(await seriousFaults(page)).toEqual([]);
    receiver.answerWith((response) => {
      response.end(JSON.stringify({ external_id: 'e-1', number: 'N-1', status: 'SENT' }));
    });
    await table.getByRole('button', { name: 'Try again' }).click();
    const sent = async () =>
      (await service.api.get('/v1/invoices', { query: { external_status: 'SENT' } })).list('data').length;
    await expect.poll(sent, { timeout: 30_000 }).toBe(1);
    expect(await failing()).toBe(0);
    await page.getByLabel('State at the billing provider').selectOption('SENT');
    await table.getByText('Delivered elsewhere').waitFor();
    await table.getByRole('link').first().click();
    await page.getByText('Delivery to custom').waitFor();
  });

  it('the console on the demo’s data asks for the token again when the session has expired, and continues where it was', async () => {
    const { page } = await open('/console/customers');
    await settle(page);
    await service.moveClock('2026-11-27T09:30:00Z');
    await page.getByRole('searchbox').fill('fjord');
    await page.getByText('Your session has ended').waitFor();
    await page.getByLabel('API token').fill(service.token);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Customers that fit “fjord”' }).waitFor();
    expect(new URL(page.url()).search).toBe('?search=fjord');
  });
});

/** Issues an invoice of a customer whose invoices another system takes. */
async function issueTo(url: string): Promise<void> {
  const { api } = service;
  const customer_id = (await api.post('/v1/customers', { name: 'Delivered elsewhere' })).text('data.id');
  const configuration = { url, signing_secret: 'whsec_Y29uc29sZS1vZi10aGUtdGVzdHM=' };
  const configured = await api.post('/v1/setCustomerBillingProviderConfigurations', {
    data: [{ customer_id, billing_provider: 'custom', delivery_method: 'webhook', configuration }],
  });
  const product = await api.post('/v1/contract-pricing/products/create', { name: 'Setup', type: 'FIXED' });
  const now = (await api.get('/v1/sandbox/clock')).text('data.now');
  await api.post('/v1/contracts/create', {
    customer_id,
    starting_at: '2026-11-01T00:00:00Z',
    billing_provider_configuration: { billing_provider_configuration_id: configured.text('data[0].id') },
    scheduled_charges: [
      {
        product_id: product.text('data.id'),
        schedule: { schedule_items: [{ timestamp: `${now.slice(0, 10)}T00:00:00Z`, amount: 500 }] },
      },
    ],
  });
}

/**
 * Dashboards of customers in a real browser, in frames of pages of an origin that may show them and of one that may
 * not, on the demo's data.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Metronome from '@metronome/sdk';
import type { Browser, BrowserContextOptions, Frame, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { lineAmountText, moneyText } from '../../console/src/format/money.ts';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { DESKTOP, isBrowserMissing, launchBrowser, PHONE, seriousFaults } from '../support/browser.ts';
import { DEMO_NOW, fillWithDemo } from '../support/console-data.ts';
import { drawnPixels } from '../support/console-page.ts';
import { startTestService, type TestService } from '../support/service.ts';

type Dashboard = Metronome.V1.DashboardGetEmbeddableURLParams['dashboard'];
type Look = Omit<Metronome.V1.DashboardGetEmbeddableURLParams, 'customer_id' | 'dashboard'>;

const UNIT = USD_CENTS;

/** A page of another site, with a frame of the address that it is given. */
async function startSite(): Promise<{ readonly origin: string; readonly server: Server }> {
  const server = createServer((request, response) => {
    const shown = new URL(request.url ?? '/', 'http://site').searchParams.get('shown') ?? '';
    response.setHeader('content-type', 'text/html');
    response.end(
      `<!doctype html><title>Portal</title><iframe title="Dashboard" src="${shown.replaceAll('"', '')}" style="width:100%;height:800px;border:0"></iframe>`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

describe.skipIf(isBrowserMissing())('a dashboard in a browser', () => {
  let service: TestService;
  let browser: Browser;
  let portal: Awaited<ReturnType<typeof startSite>>;
  let foreign: Awaited<ReturnType<typeof startSite>>;
  let customer: string;

  beforeAll(async () => {
    [portal, foreign] = await Promise.all([startSite(), startSite()]);
    [service, browser] = await Promise.all([
      startTestService({ sandboxNow: DEMO_NOW, dashboardOrigins: [portal.origin] }),
      launchBrowser(),
    ]);
    await fillWithDemo(service, { events: 2_000, customers: 6 });
    customer = (await service.api.get('/v1/customers', { query: { search: 'Vantage' } })).text('data[0].id');
  });
  afterAll(async () => {
    await browser?.close();
    await service?.close();
    for (const site of [portal, foreign]) site?.server.close();
  });

  async function addressOf(dashboard: Dashboard, look: Look = {}): Promise<string> {
    const client = new Metronome({ baseURL: service.url, bearerToken: service.token });
    const answer = await client.v1.dashboards.getEmbeddableURL({ customer_id: customer, dashboard, ...look });
    return answer.data.url ?? '';
  }

  async function newPage(options: BrowserContextOptions = {}) {
    const context = await browser.newContext({ ...DESKTOP, ...options });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const errors: string[] = [];
    page.on('pageerror', ({ message }) => errors.push(message));
    page.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text());
    });
    return { page, errors };
  }

  /** The address in a frame of the site. */
  async function framed(page: Page, site: string, address: string): Promise<Frame> {
    await page.goto(`${site}/?shown=${encodeURIComponent(address)}`);
    const frame = page.frames().find((each) => each !== page.mainFrame());
    if (frame === undefined) throw new Error('the page has no frame');
    return frame;
  }

  const settled = (page: Page | Frame) => page.waitForLoadState('networkidle');

  it('a dashboard in a browser is shown in a frame of a named origin, with the figures of the API, and asks nobody else', async () => {
    const { page, errors } = await newPage();
    const origins = new Set<string>();
    page.on('request', (request) => origins.add(new URL(request.url()).origin));
    const frame = await framed(page, portal.origin, await addressOf('invoices'));
    await frame.getByRole('heading', { name: 'Invoices' }).waitFor();
    const path = `/v1/customers/${customer}/invoices`;
    const invoice = await service.api.get(path, { query: { status: 'FINALIZED', type: 'USAGE' } });
    const number = invoice.text('data[0].invoice_number');
    const total = moneyText(invoice.digits('data[0].total') as never, UNIT);
    await frame.getByRole('row', { name: number }).getByText(total).waitFor();
    await frame.getByRole('button', { name: number }).click();
    await frame.getByRole('heading', { name: number }).waitFor();
    const exact = invoice.digits('data[0].total') as never;
    await frame
      .locator('tfoot')
      .getByText(lineAmountText(exact, exact, UNIT))
      .waitFor();
    await frame.getByText(`To pay ${total}`).waitFor();
    expect(await frame.locator('tfoot [title]').last().getAttribute('title')).toBe(
      `${invoice.digits('data[0].total')} USD (cents)`,
    );
    await frame.getByRole('button', { name: 'All invoices' }).click();
    await frame.getByRole('row', { name: number }).waitFor();
    expect(errors).toEqual([]);
    expect([...origins].sort()).toEqual([portal.origin, service.url].sort());
  });

  it('a dashboard in a browser is not shown in a frame of another origin', async () => {
    const { page } = await newPage();
    const frame = await framed(page, foreign.origin, await addressOf('invoices'));
    await settled(page);
    expect(await frame.getByRole('heading').count()).toBe(0);
    expect(frame.url()).toContain('chrome-error');
  });

  it('a dashboard in a browser has no token, and nothing is kept in the browser', async () => {
    const { page } = await newPage();
    await page.goto(await addressOf('usage'));
    await page.getByRole('heading', { name: 'Usage' }).waitFor();
    const kept = await page.evaluate(
      'JSON.stringify([document.documentElement.outerHTML, document.cookie, { ...localStorage }, { ...sessionStorage }])',
    );
    expect(kept).not.toContain(service.token);
    expect(await page.context().cookies()).toEqual([]);
  });

  it('a dashboard in a browser shows usage by group under the names, in the language and in the colours of its address', async () => {
    const { page, errors } = await newPage();
    const groups = await service.api.post('/v1/sql', {
      sql: "SELECT properties.model AS model, COUNT(*) AS n FROM events WHERE event_type = 'llm_request' GROUP BY model ORDER BY n DESC",
    });
    const model = groups.text('data[0].model');
    const metrics = z
      .object({
        data: z.array(z.object({ id: z.string(), group_keys: z.array(z.array(z.string())).optional() })),
      })
      .parse(
        (
          await service.api.get(`/v1/customers/${customer}/billable-metrics`, {
            query: { on_current_plan: true },
          })
        ).body,
      ).data;
    const grouped = metrics.flatMap(({ id, group_keys: keys = [] }) =>
      keys.filter((key) => key.includes('model')).map((key) => ({ id, key })),
    );
    const [byModel] = grouped;
    if (byModel === undefined) throw new Error('no metric of the demo has a group by model');
    const label = byModel.key.map((name) => (name === 'model' ? 'Modell' : name)).join(', ');
    const address = await addressOf('usage', {
      dashboard_options: [{ key: 'language', value: 'de' }] as never,
      color_overrides: [
        { name: 'Gray_dark', value: '#ff0000' },
        { name: 'UsageLine_0', value: '#00ff00' },
      ],
      bm_group_key_overrides: [
        { group_key_name: 'model', display_name: 'Modell', value_display_names: { [model]: 'Unser Modell' } },
      ],
    });
    await page.goto(address);
    await page.getByRole('heading', { name: 'Verbrauch' }).waitFor();
    await page.getByLabel('Verbrauch von').selectOption(byModel.id);
    await page.getByLabel('Nach').selectOption({ label });
    await page.getByText('Werte als Tabelle').click();
    await page.getByRole('columnheader', { name: 'Unser Modell' }).first().waitFor();
    const look = await page.evaluate(`[
      document.documentElement.lang,
      getComputedStyle(document.body).color,
      getComputedStyle(document.documentElement).getPropertyValue('--series-1'),
    ]`);
    expect(look).toEqual(['de', 'rgb(255, 0, 0)', '#00ff00']);
    await expect.poll(() => drawnPixels(page)).toBeGreaterThan(500);
    expect(errors).toEqual([]);
  });

  it('a dashboard in a browser says that it has ended', async () => {
    const { page } = await newPage();
    const issued = await service.api.post('/v1/tokens/create', { name: 'portal', scope: 'read' });
    const client = new Metronome({ baseURL: service.url, bearerToken: issued.text('data.token') });
    const asked = { customer_id: customer, dashboard: 'invoices' } as const;
    const address = (await client.v1.dashboards.getEmbeddableURL(asked)).data.url ?? '';
    await page.goto(address);
    const open = page.getByRole('button', { name: /^Draft|^\d{4}-/ }).first();
    await open.waitFor();
    await service.api.post('/v1/tokens/revoke', { id: issued.text('data.id') });
    await open.click();
    await page.getByText('This view has ended. Load the page around it again.').waitFor();
    await page.reload();
    await page.getByText('The address of this dashboard has ended: ask for another one.').waitFor();
    expect(await page.getByRole('row').count()).toBe(0);
  });

  const everyOne: [Dashboard, string][] = [
    ['invoices', 'Invoices'],
    ['usage', 'Usage'],
    ['commits_and_credits', 'Commits and credits'],
    ['credits', 'Credits'],
  ];

  it.each(everyOne)(
    '%s: nothing serious for axe, light and dark, and it fits a phone',
    async (dashboard, title) => {
      for (const [theme, size] of [
        ['light', DESKTOP],
        ['dark', PHONE],
      ] as const) {
        const { page, errors } = await newPage(size);
        const options = [{ key: 'theme', value: theme }];
        await page.goto(await addressOf(dashboard, { dashboard_options: options as never }));
        await page.getByRole('heading', { name: title, exact: true }).waitFor();
        await settled(page);
        expect(await seriousFaults(page)).toEqual([]);
        const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
        expect(await page.evaluate(overflow)).toBeLessThanOrEqual(0);
        expect(errors).toEqual([]);
        const folder = process.env.DASHBOARD_PICTURES;
        if (folder !== undefined)
          await page.screenshot({ path: `${folder}/${dashboard}-${theme}.png`, fullPage: true });
      }
    },
  );
});

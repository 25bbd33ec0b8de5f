/** The console's pages of metrics, questions, prices and events in a real browser, on the demo's data. */
import type { Browser, Download, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Exact } from '../../console/src/api/exact.ts';
import { moneyText, quantityText } from '../../console/src/format/money.ts';
import { dayText } from '../../console/src/format/time.ts';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import type { ApiAnswer } from '../support/api-client.ts';
import { isBrowserMissing, launchBrowser, seriousFaults } from '../support/browser.ts';
import { DEMO_NOW, fillWithDemo } from '../support/console-data.ts';
import { type ConsoleOptions, cellsOf, drawnPixels, openConsole, settle } from '../support/console-page.ts';
import { startTestService, type TestService } from '../support/service.ts';

const UNIT = USD_CENTS;
const NOVEMBER = { starting_on: '2026-11-01T00:00:00Z', ending_before: '2026-12-01T00:00:00Z' };
const OCTOBER = { starting_on: '2026-10-01T00:00:00Z', ending_before: '2026-11-01T00:00:00Z' };

let service: TestService;
let browser: Browser;
let customer: string;

const open = (path: string, options: ConsoleOptions = {}) => openConsole(browser, service, path, options);

async function fileOf(page: Page, button: string): Promise<Buffer> {
  const [download] = await Promise.all([
    page.waitForEvent('download') as Promise<Download>,
    page.getByRole('button', { name: button, exact: true }).click(),
  ]);
  const pieces: Buffer[] = [];
  for await (const piece of await download.createReadStream()) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

/** Writes into the editor as a person does. */
async function write(page: Page, label: string, text: string): Promise<void> {
  const editor = page.getByRole('textbox', { name: label });
  await page.locator('.cm-content').waitFor();
  await editor.click();
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Delete');
  await page.keyboard.insertText(text);
}

async function readerToken(): Promise<string> {
  return (await service.api.post('/v1/tokens/create', { name: crypto.randomUUID(), scope: 'read' })).text(
    'data.token',
  );
}

/** An empty card, and a product for each type of rate. */
async function cardOfEveryProduct() {
  const { api } = service;
  const made = async (path: string, body: object) => (await api.post(path, body)).text('data.id');
  const metric = await made('/v1/billable-metrics/create', {
    name: 'Every call',
    aggregation_type: 'COUNT',
    group_keys: [['model', 'region']],
    property_filters: [
      { name: 'model', exists: true },
      { name: 'region', exists: true },
    ],
  });
  const usage = { type: 'USAGE', billable_metric_id: metric, pricing_group_key: ['model', 'region'] };
  const product = (name: string, body: object) =>
    made('/v1/contract-pricing/products/create', { name, ...body });
  const calls = await product('Every calls', usage);
  const products = [
    calls,
    await product('Every seat', { type: 'SUBSCRIPTION' }),
    await product('Every support', { type: 'COMPOSITE', composite_product_ids: [calls] }),
  ];
  const rateCard = await made('/v1/contract-pricing/rate-cards/create', { name: 'Every price' });
  return { rateCard, products };
}

/** A figure of an answer as the page writes it. */
const figure = (answer: ApiAnswer, path: string) => quantityText(answer.digits(path) as Exact);

describe.skipIf(isBrowserMissing())('the analysis pages of the console', () => {
  beforeAll(async () => {
    [service, browser] = await Promise.all([startTestService({ sandboxNow: DEMO_NOW }), launchBrowser()]);
    await fillWithDemo(service, { events: 2_000, customers: 6 });
    customer = (await service.api.get('/v1/customers', { query: { search: 'Vantage' } })).text('data[0].id');
  });
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });

  describe('metrics', () => {
    const SQL = 'SELECT SUM(properties.tokens) AS value, properties.model FROM events GROUP BY model';

    it('the page of metrics previews a query as chart and table with the figures and the cost of the API', async () => {
      const { page, errors } = await open(`/console/metrics?customer=${customer}&group=model`);
      await write(page, 'SQL of the metric', SQL);
      await page.getByRole('button', { name: 'Preview' }).click();
      await page.getByText('Answered in').waitFor();
      await expect.poll(() => drawnPixels(page)).toBeGreaterThan(500);
      const body = { customer_id: customer, window_size: 'DAY', ...NOVEMBER, sql: SQL, group_key: ['model'] };
      const answer = await service.api.post('/v1/billable-metrics/preview', body);
      const expected = answer.list('data').flatMap((_, index) => {
        const at = `data[${index}]`;
        return answer.at(`${at}.value`) === null
          ? []
          : [
              `${dayText(answer.text(`${at}.starting_on`))} ${answer.text(`${at}.group_value`)} ${figure(answer, `${at}.value`)}`,
            ];
      });
      const region = page.getByRole('region', { name: 'Usage over time' });
      const models = (await region.locator('thead th').allTextContents()).slice(1);
      const onPage = (await cellsOf(page, 'Usage over time')).flatMap(([day, ...values]) =>
        values.flatMap((value, index) => (value === '' ? [] : [`${day} ${models[index]} ${value}`])),
      );
      expect(expected.length).toBeGreaterThan(20);
      expect(onPage.sort()).toEqual(expected.sort());
      const read = page.locator('div', { has: page.locator('dt', { hasText: 'Events read' }) }).last();
      expect(await read.locator('dd').textContent()).toBe(figure(answer, 'evaluation.rows_read'));
      expect(await seriousFaults(page)).toEqual([]);
      expect(errors).toEqual([]);
      const { page: sent } = await open(new URL(page.url()).pathname + new URL(page.url()).search);
      await sent.getByText('Answered in').waitFor();
      expect(await cellsOf(sent, 'Usage over time')).toEqual(await cellsOf(page, 'Usage over time'));
    });

    it('the page of metrics marks a mistake at its place, in the words of the API', async () => {
      const { page } = await open(`/console/metrics?customer=${customer}`);
      await write(page, 'SQL of the metric', 'SELECT COUNT(*) AS value,\n  modle FROM events GROUP BY modle');
      await page.keyboard.press('Control+Enter');
      const alert = page.getByRole('alert');
      await alert.waitFor();
      const refused = await service.api.send('POST', '/v1/billable-metrics/preview', {
        customer_id: customer,
        window_size: 'DAY',
        ...NOVEMBER,
        sql: 'SELECT COUNT(*) AS value,\n  modle FROM events GROUP BY modle',
      });
      expect(await alert.textContent()).toBe(refused.text('message').replace('sql: line', 'Line'));
      expect(await page.locator('.cm-lintRange-error').textContent()).toBe('modle');
    });

    it('the page of metrics completes properties that were seen and functions of the reference', async () => {
      const { page } = await open(`/console/metrics?customer=${customer}`);
      await settle(page);
      await write(page, 'SQL of the metric', 'SELECT ');
      await page.keyboard.type('quantil');
      await page.getByRole('option', { name: /quantile\(/ }).waitFor();
      await page.keyboard.press('Escape');
      await write(page, 'SQL of the metric', 'SELECT SUM(');
      await page.keyboard.type('properties.tok');
      await page.getByRole('option', { name: /^tokens/ }).click();
      await expect
        .poll(() => page.locator('.cm-content').textContent())
        .toContain('SELECT SUM(properties.tokens');
    });

    it('the page of metrics previews an aggregation of the form like the metric that has it, names the field that is wrong, and saves', async () => {
      const { page } = await open(`/console/metrics?customer=${customer}&window=none`);
      await page.getByRole('button', { name: 'Form' }).click();
      await page.getByLabel('Aggregation').selectOption('SUM');
      await page.getByRole('button', { name: 'Preview' }).click();
      await page.getByText('aggregation_key: is required with aggregation_type SUM').waitFor();
      await page.getByLabel('Property', { exact: true }).fill('tokens');
      await page.getByLabel(/^Event types/).fill('llm_request');
      await page.getByLabel(/^Groups/).fill('model, region');
      await page.getByRole('button', { name: 'Preview' }).click();
      await page.getByRole('region', { name: 'Usage of the whole time' }).waitFor();
      const metrics = await service.api.get('/v1/billable-metrics');
      const tokens = metrics
        .list('data')
        .findIndex((each) => /^Tokens/.test((each as { name: string }).name));
      const usage = await service.api.post('/v1/usage/groups', {
        customer_id: customer,
        billable_metric_id: metrics.text(`data[${tokens}].id`),
        window_size: 'NONE',
        ...NOVEMBER,
      });
      expect(await cellsOf(page, 'Usage of the whole time')).toEqual([
        ['all', figure(usage, 'data[0].value')],
      ]);
      await page.getByLabel('Name of the new metric').fill('Tokens by form');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('heading', { name: 'Tokens by form' }).waitFor();
      const id = new URL(page.url()).searchParams.get('metric');
      expect((await service.api.get(`/v1/billable-metrics/${id}`)).at('data')).toMatchObject({
        name: 'Tokens by form',
        aggregation_type: 'SUM',
        aggregation_key: 'tokens',
        group_keys: [['model', 'region']],
      });
    });
  });

  describe('ask', () => {
    const SQL =
      "SELECT DATE_TRUNC('day', timestamp) AS day, properties.model AS model, COUNT(*) AS sent FROM events WHERE event_type = 'llm_request' GROUP BY day, model ORDER BY day, model";

    it('the page Ask answers as table, chart, CSV and Parquet what the API answers', async () => {
      const { page, errors } = await open('/console/ask');
      await write(page, 'SQL of the question', SQL);
      await page.keyboard.press('Control+Enter');
      await page.getByRole('region', { name: 'Rows of the answer' }).waitFor();
      await expect.poll(() => drawnPixels(page)).toBeGreaterThan(500);
      const answer = await service.api.post('/v1/sql', { sql: SQL });
      expect(await page.getByText(/^\d+ rows$/).textContent()).toBe(`${answer.list('data').length} rows`);
      const [first] = await cellsOf(page, 'Rows of the answer');
      expect(first?.slice(1)).toEqual([answer.text('data[0].model'), figure(answer, 'data[0].sent')]);
      const csv = await fetch(`${service.url}/v1/sql`, {
        method: 'POST',
        headers: { authorization: `Bearer ${service.token}`, accept: 'text/csv' },
        body: JSON.stringify({ sql: SQL }),
      });
      expect((await fileOf(page, 'CSV')).toString()).toBe(await csv.text());
      expect((await fileOf(page, 'Parquet')).subarray(0, 4).toString()).toBe('PAR1');
      expect(await seriousFaults(page)).toEqual([]);
      expect(errors).toEqual([]);
    });

    it('the page Ask saves a query for everybody, opens it by its name, and deletes it', async () => {
      const { page } = await open('/console/ask');
      await write(page, 'SQL of the question', 'SELECT COUNT(*) AS customers_in_all FROM customers');
      await page.getByLabel('Save under the name').fill('How many customers');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      const token = await readerToken();
      const { page: other } = await open('/console/ask', { token });
      await other.getByRole('link', { name: 'How many customers' }).click();
      await other.getByRole('region', { name: 'Rows of the answer' }).waitFor();
      const customers = await service.api.post('/v1/sql', { sql: 'SELECT COUNT(*) AS n FROM customers' });
      expect(await cellsOf(other, 'Rows of the answer')).toEqual([[figure(customers, 'data[0].n')]]);
      expect(await other.getByRole('button', { name: 'Save', exact: true }).isDisabled()).toBe(true);
      await page.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      await page.getByText('No query is saved yet').waitFor();
      expect((await service.api.get('/v1/sql/queries')).list('data')).toEqual([]);
    });

    it('the page Ask waits for a slow answer, says why it failed, and asks again; goes back to the answer before', async () => {
      const { page } = await open(`/console/ask?sql=${encodeURIComponent('SELECT 1 AS one')}`);
      await page.getByRole('region', { name: 'Rows of the answer' }).waitFor();
      let asked = 0;
      await page.route('**/v1/sql', async (route) => {
        if (!route.request().postData()?.includes('AS two')) return route.fallback();
        asked += 1;
        if (asked > 1) return route.fallback();
        await page.getByText('The query is running').waitFor();
        return route.fulfill({ status: 500, json: { message: 'Internal error. The log has the details.' } });
      });
      await write(page, 'SQL of the question', 'SELECT 2 AS two');
      await page.getByRole('button', { name: 'Run' }).click();
      await page.getByText('Internal error. The log has the details. (500)').waitFor();
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('columnheader', { name: 'two' }).waitFor();
      await page.goBack();
      await page.getByRole('columnheader', { name: 'one' }).waitFor();
      await expect.poll(() => page.locator('.cm-content').textContent()).toBe('SELECT 1 AS one');
      await page.goForward();
      await page.getByRole('columnheader', { name: 'two' }).waitFor();
    });

    it('the page Ask refuses to show an answer that is too large for a page, and offers the files', async () => {
      const { page } = await open('/console/ask');
      await page.route('**/v1/sql', (route) =>
        route.fulfill({
          json: { columns: [{ name: 'a', type: 'text' }], data: [{ a: 'x'.repeat(8_100_000) }] },
        }),
      );
      await page.getByRole('button', { name: 'Run' }).click();
      await page
        .getByText('The answer is larger than 8 MB: add LIMIT, or take it as CSV or Parquet.')
        .waitFor();
      expect(await page.getByRole('region', { name: 'Rows of the answer' }).count()).toBe(0);
    });
  });

  describe('prices', () => {
    let card: string;
    beforeAll(async () => {
      const cards = await service.api.post('/v1/contract-pricing/rate-cards/list', {});
      const at = cards
        .list('data')
        .findIndex((each) => /^AI API price list \(/.test((each as { name: string }).name));
      card = cards.text(`data[${at}].id`);
    });

    it('the page of prices has every rate of the card at an instant, none before the first', async () => {
      const { page } = await open(`/console/prices?card=${card}&at=2026-11-20T00:00`);
      await settle(page);
      const rates = await service.api.post('/v1/contract-pricing/rate-cards/getRates', {
        rate_card_id: card,
        at: '2026-11-20T00:00:00Z',
      });
      const withModel = rates
        .list('data')
        .filter((each) => (each as { pricing_group_values?: object }).pricing_group_values !== undefined);
      const grid = await cellsOf(page, 'Prices of Tokens');
      expect(grid.flatMap((row) => row.slice(1))).toHaveLength(withModel.length);
      const users = rates
        .list('data')
        .findIndex((each) => /Active/.test((each as { product_name: string }).product_name));
      const single = await cellsOf(page, 'Without group values');
      expect(single.find(([name]) => name?.startsWith('Active'))?.[2]).toBe(
        moneyText(rates.digits(`data[${users}].rate.price`) as Exact, UNIT),
      );
      expect(await seriousFaults(page)).toEqual([]);
      await page.getByLabel('At (UTC)').fill('2020-01-01T00:00');
      await page.getByText('The card has no rate at this instant').waitFor();
    });

    it('simulates a draft on a month that was with the totals of the API, and saves it from a day on', async () => {
      const { page } = await open(`/console/prices?card=${card}`);
      const single = page.getByRole('region', { name: 'Without group values' });
      await single
        .getByRole('row', { name: /Active/ })
        .getByRole('link')
        .click();
      await page.getByRole('region', { name: 'History of the price' }).getByText('open').waitFor();
      await page.getByLabel('Price, USD').fill('-1');
      await page.getByRole('button', { name: 'Put into the draft' }).click();
      await page.getByText('A price is a number that is not negative').waitFor();
      await page.getByLabel('Price, USD').fill('0.255');
      await page.getByRole('button', { name: 'Put into the draft' }).click();
      await page.getByRole('button', { name: 'Simulate' }).click();
      await page.getByText('Customers that change').waitFor();
      const rates = await service.api.post('/v1/contract-pricing/rate-cards/getRates', {
        rate_card_id: card,
        at: '2026-11-20T00:00:00Z',
      });
      const users = rates
        .list('data')
        .findIndex((each) => /Active/.test((each as { product_name: string }).product_name));
      const rate = {
        product_id: rates.text(`data[${users}].product_id`),
        starting_at: OCTOBER.starting_on,
        entitled: true,
        rate_type: 'FLAT',
        price: 25.5,
      };
      const preview = await service.api.post(
        '/v1/invoices/preview',
        { add_rates: { rate_card_id: card, rates: [rate] }, ...OCTOBER },
        { query: { limit: 100 } },
      );
      const expected = preview.list('data').map((_, index) => {
        const at = `data[${index}].invoices[0]`;
        return [
          moneyText(preview.digits(`${at}.current_total`) as Exact, UNIT),
          moneyText(preview.digits(`${at}.preview_total`) as Exact, UNIT),
        ];
      });
      const onPage = (await cellsOf(page, 'Customers with the draft')).map((row) => row.slice(1, 3));
      expect(onPage.length).toBeGreaterThan(3);
      expect(onPage.sort()).toEqual(expected.sort());
      const link = new URL(page.url());
      const { page: reading } = await open(link.pathname + link.search, { token: await readerToken() });
      await reading.getByRole('heading', { name: 'Draft: 1 price' }).waitFor();
      expect(await reading.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
      await page.getByLabel('In force from (UTC)').fill('2027-02-01');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('dialog').getByText('They are in force from 2027-02-01').waitFor();
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      const later = await service.api.post('/v1/contract-pricing/rate-cards/getRates', {
        rate_card_id: card,
        at: '2027-02-01T00:00:00Z',
        selectors: [{ product_id: rate.product_id }],
      });
      expect(later.digits('data[0].rate.price')).toBe('25.5');
      await expect.poll(() => new URL(page.url()).searchParams.get('draft')).toBe(null);
    });

    it('the page of prices takes new prices of every type into a draft, with group values and tiers, and saves what was entered', async () => {
      const { rateCard, products } = await cardOfEveryProduct();
      const { page, errors } = await open(`/console/prices?card=${rateCard}&at=2027-03-01T00:00`);
      await page.getByText('The card has no rate at this instant').waitFor();
      const put = page.getByRole('button', { name: 'Put into the draft' });
      const begin = async (product: string) => {
        await page.getByRole('link', { name: 'New price' }).click();
        await page.getByLabel('Product').selectOption({ label: product });
      };
      await begin('Every calls');
      await page.getByLabel('Price, USD').fill('0.9');
      await page.getByLabel('model').fill('large');
      await put.click();
      await page.getByText('Give a value for each of model, region, or for none.').waitFor();
      await page.getByLabel('region').fill('eu');
      await page.getByLabel('Kind of price').selectOption('tiers');
      await page.getByLabel('Tier 1 holds, units').fill('0');
      await put.click();
      await page.getByText('Each tier but the last holds a number of units above 0.').waitFor();
      await page.getByLabel('Tier 1 holds, units').fill('1000');
      await page.getByRole('button', { name: 'Add a tier' }).click();
      await page.getByLabel('Tier 2 holds, units').fill('5000');
      await page.getByLabel('Price of tier 2, USD').fill('0.00025');
      await page.getByLabel('Price of tier 3, USD').fill('0.0001');
      await put.click();
      await page.getByRole('heading', { name: 'Draft: 1 price' }).waitFor();
      expect(await seriousFaults(page)).toEqual([]);
      await page.getByLabel('region').fill('us');
      await page.getByLabel('Kind of price').selectOption('one price');
      await page.getByLabel('Price, USD').fill('0.5');
      await put.click();
      await page.getByRole('heading', { name: 'Draft: 2 prices' }).waitFor();
      await begin('Every seat');
      await page.getByLabel('Billed').selectOption('quarterly');
      await page.getByLabel('Kind of price').selectOption('price of a period');
      await page.getByLabel('Price, USD').fill('25');
      await put.click();
      await page.getByRole('heading', { name: 'Draft: 3 prices' }).waitFor();
      await begin('Every support');
      await page.getByLabel('Kind of price').selectOption('percentage by tiers');
      await page.getByLabel('Tier 1 holds, of the base').fill('100000');
      await page.getByLabel('Price of tier 1, %').fill('10');
      await page.getByLabel('Price of tier 2, %').fill('2.5');
      await page.getByLabel('At least in a period, USD').fill('50');
      await put.click();
      await page.getByRole('heading', { name: 'Draft: 4 prices' }).waitFor();
      expect((await cellsOf(page, 'Prices of Every calls')).flat().join(' ')).toContain('$0.00025');
      await page.getByLabel('In force from (UTC)').fill('2027-02-01');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      const saved = await service.api.post('/v1/contract-pricing/rate-cards/getRates', {
        rate_card_id: rateCard,
        at: '2027-02-01T00:00:00Z',
      });
      const found = saved.list('data').map((_, index) => ({
        product: saved.text(`data[${index}].product_name`),
        values: saved.at(`data[${index}].pricing_group_values`),
        rate: JSON.stringify(saved.at(`data[${index}].rate`)),
      }));
      expect(found).toHaveLength(4);
      const of = (product: string, region?: string) =>
        found.find((each) => each.product === product && (region === undefined || each.rate.includes(region)))
          ?.rate;
      expect(of('Every calls', 'eu')).toMatch(
        /TIERED.*"size":1000,"price":90.*"size":5000,"price":0.025.*"price":0.01/,
      );
      expect(of('Every calls', 'us')).toMatch(/FLAT.*"price":50/);
      expect(of('Every seat')).toMatch(/SUBSCRIPTION.*"price":2500/);
      expect(of('Every support')).toMatch(
        /TIERED_PERCENTAGE.*"size":100000,"price":0.1.*"price":0.025.*"minimum":5000/,
      );
      expect(products).toHaveLength(3);
      expect(errors).toEqual([]);
    });

    it('the page of prices shows the prices of a contract beside the list with the override that set them', async () => {
      const { page } = await open('/console/prices?view=contract');
      await page.getByRole('combobox', { name: 'Customer' }).fill('vantage');
      await page.getByRole('option', { name: /Vantage/ }).waitFor();
      expect(await seriousFaults(page)).toEqual([]);
      await page.keyboard.press('Enter');
      await page.getByRole('region', { name: 'Prices of the contract' }).waitFor();
      const contract = (await service.api.post('/v2/contracts/list', { customer_id: customer })).text(
        'data[0].id',
      );
      const rows = await service.api.post('/v1/contracts/getContractRateSchedule', {
        customer_id: customer,
        contract_id: contract,
      });
      const onPage = await cellsOf(page, 'Prices of the contract');
      expect(onPage).toHaveLength(rows.list('data').length);
      const overridden = rows.list('data').map((each) => 'override_ids' in (each as object));
      expect(onPage.map(([, , , , madeBy]) => madeBy !== '')).toEqual(overridden);
      expect(onPage.find(([, , , , madeBy]) => madeBy !== '')?.slice(3, 5)).toEqual([
        '−10.0 %',
        '× 0.9 for Tokens',
      ]);
    });
  });

  describe('events', () => {
    it('the page of events says of an event which metrics count it, why others do not, and on which line it is', async () => {
      const sql = `SELECT transaction_id FROM events WHERE customer_id = '${customer}' AND event_type = 'llm_request' AND timestamp >= '2026-11-01' ORDER BY timestamp LIMIT 1`;
      const id = (await service.api.post('/v1/sql', { sql })).text('data[0].transaction_id');
      const { page } = await open('/console/events');
      await page.getByLabel('Transaction id').fill(id);
      await page.getByRole('button', { name: 'Find' }).click();
      await page.getByRole('region', { name: 'Lines with the event' }).waitFor();
      const found = await service.api.post('/v1/events/search', {
        transactionIds: [id],
        include_unmatched: true,
      });
      const verdicts = await cellsOf(page, 'Metrics and the event');
      const matched = found.list('[0].matched_billable_metrics').length;
      expect(verdicts.filter(([, counts]) => counts === 'yes')).toHaveLength(matched);
      const reasons = found
        .list('[0].unmatched_billable_metrics')
        .map((each) => (each as { reason: string }).reason);
      expect(verdicts.filter(([, counts]) => counts === 'no').map(([, , reason]) => reason)).toEqual(reasons);
      const [line] = (await cellsOf(page, 'Lines with the event')).filter(([name]) =>
        name?.startsWith('Tokens'),
      );
      expect(line?.[3]).toBe(quantityText(found.text('[0].properties.tokens') as Exact));
      expect(await seriousFaults(page)).toEqual([]);
      await page
        .getByRole('region', { name: 'Lines with the event' })
        .getByRole('link', { name: /^Tokens/ })
        .click();
      await page.getByRole('heading', { level: 1 }).waitFor();
      expect(page.url()).toMatch(/\/console\/invoices\/[\w-]+\/[\w-]+\?line=/);
      await page.goBack();
      await page.getByRole('region', { name: 'Metrics and the event' }).waitFor();
    });

    it('the page of events finds events by customer, type and time, page by page, each once', async () => {
      const { page } = await open(
        `/console/events?customer=${customer}&type=llm_request&from=2026-11-01T00:00&to=2026-11-26T00:00`,
      );
      await page.getByRole('heading', { name: 'The newest events' }).waitFor();
      const seen: string[] = [];
      for (let number = 1; ; number++) {
        await settle(page);
        seen.push(...(await cellsOf(page, 'Events')).map((cells) => cells[3] ?? ''));
        const next = page.getByRole('link', { name: `Page ${number + 1}`, exact: true });
        if ((await next.count()) === 0) break;
        await next.click();
        await page.waitForURL((url) => url.searchParams.get('page') === String(number + 1));
      }
      const counted = await service.api.post('/v1/sql', {
        sql: `SELECT COUNT(*) AS n FROM events WHERE customer_id = '${customer}' AND event_type = 'llm_request' AND timestamp >= '2026-11-01' AND timestamp < '2026-11-26'`,
      });
      expect(seen.length).toBe(Number(counted.digits('data[0].n')));
      expect(new Set(seen).size).toBe(seen.length);
    });

    it('the page of events says that an id was never accepted, and that an event of nobody counts for nobody', async () => {
      await service.api.post('/v1/ingest', [
        {
          transaction_id: 'of nobody',
          customer_id: 'nobody-at-all',
          event_type: 'llm_request',
          timestamp: '2026-11-26T08:00:00Z',
          properties: {},
        },
      ]);
      const { page } = await open('/console/events?id=of%20nobody');
      await page.getByText('Not billed: no customer has its id or alias.').waitFor();
      await page.getByText('No customer has the id or ingest alias nobody-at-all').waitFor();
      await page.goto(`${service.url}/console/events?id=never`);
      await page.getByText('No event with this transaction id was accepted').waitFor();
      expect(await page.getByRole('region', { name: 'Metrics and the event' }).count()).toBe(0);
    });
  });
});

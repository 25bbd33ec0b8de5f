/**
 * Month end for contracts of every rhythm: statements by week and by quarter, months from the 15th, scheduled invoices of
 * the first at midnight, consolidated and voided ones. The sums of the page are those of what the API lists.
 */
import Big from 'big.js';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sum } from '../../console/src/api/exact.ts';
import { moneyText } from '../../console/src/format/money.ts';
import { monthAfter, monthText } from '../../console/src/format/time.ts';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { isBrowserMissing, launchBrowser, seriousFaults } from '../support/browser.ts';
import { createdId } from '../support/catalogue-api.ts';
import { openConsole, settle } from '../support/console-page.ts';
import { contractsOfEveryRhythm, AFTER_ALL_MONTHS as NOW } from '../support/every-rhythm.ts';
import { naiveMonth } from '../support/naive/months.ts';
import { createScenarioCatalogue } from '../support/scenario.ts';
import { startTestService, type TestService } from '../support/service.ts';

const UNIT = USD_CENTS;

interface Listed {
  readonly id: string;
  readonly customer_id: string;
  readonly status: string;
  readonly type: string;
  readonly issued_at: string;
  readonly end_timestamp?: string;
  readonly total: string;
}

let service: TestService;
let browser: Browser;

const open = (path: string) => openConsole(browser, service, path);

/** Issued ones, voided ones and drafts of all months. */
async function allInvoices(): Promise<Listed[]> {
  const read = async (query: Record<string, string>) => {
    const answer = await service.api.get('/v1/invoices', { query: { limit: 100, ...query } });
    expect(answer.at('next_page')).toBeNull();
    return answer
      .list('data')
      .map((item, index) => ({ ...(item as Listed), total: answer.digits(`data[${index}].total`) }));
  };
  return [...(await read({})), ...(await read({ status: 'DRAFT' }))];
}

function isCounted({ status, type }: Listed): boolean {
  return status !== 'VOID' && type !== 'USAGE_CONSOLIDATED';
}

const totalOf = (invoices: readonly Listed[]) => sum(invoices.map(({ total }) => new Big(total)));
const text = (amount: Big) => moneyText(amount, UNIT);

const table = (page: Page) => page.getByRole('region', { name: 'Invoices of the month' });
const foot = async (page: Page, column: number) =>
  await table(page).locator('tfoot td').nth(column).textContent();

describe.skipIf(isBrowserMissing())('month end for contracts of every rhythm', () => {
  let all: Listed[];
  beforeAll(async () => {
    [service, browser] = await Promise.all([
      startTestService({ sandboxNow: '2026-10-18T00:00:00Z' }),
      launchBrowser(),
    ]);
    await contractsOfEveryRhythm(service);
    all = await allInvoices();
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });

  it('month end has each invoice in one month, and its head, its foot and the line below add up to what the API lists', async () => {
    const months = [...new Set(all.map(naiveMonth))].sort();
    expect(months).toContain('2026-11');
    const { page, errors } = await open('/console/month-end?month=2026-10');
    const seen: string[] = [];
    for (const month of months) {
      const own = all.filter((invoice) => naiveMonth(invoice) === month);
      const former = all.filter((invoice) => naiveMonth(invoice) === monthAfter(month, -1));
      await page.goto(`${service.url}/console/month-end?month=${month}`);
      await table(page).waitFor();
      await settle(page);
      const links = await table(page).locator('tbody td:nth-child(2) a').all();
      seen.push(...(await Promise.all(links.map((link) => link.getAttribute('href')))).map(String));
      const total = totalOf(own.filter(isCounted));
      const before = totalOf(former.filter(isCounted));
      const head = page.getByText('Total, USD').locator('..');
      expect(await head.textContent(), month).toContain(text(total));
      if (!before.eq(0)) expect(await head.textContent(), month).toContain(text(before));
      expect(await foot(page, 3), month).toBe(text(total));
      const alone = page.getByText(/of the month before stands? beside no row/);
      const line = (await alone.count()) === 0 ? '' : await alone.textContent();
      const [besideRows, besideNone] = [await foot(page, 4), line?.match(/-?\$[\d.,]+/)?.[0]].map(
        (shown) => new Big((shown ?? '').replaceAll(/[$,]/g, '') || 0),
      );
      const together = (besideRows ?? new Big(0)).plus(besideNone ?? 0);
      expect(together.minus(before.div(100)).abs().lt('0.02'), `${month}: ${together}`).toBe(true);
    }
    const ids = seen.map((href) => href.split('/').at(-1));
    expect(ids.sort()).toEqual(all.map(({ id }) => id).sort());
    expect(errors).toEqual([]);
  });

  it('month end says which invoices are void or repeat others, and for which period an invoice is', async () => {
    const { page } = await open('/console/month-end?month=2026-11');
    await table(page).waitFor();
    await settle(page);
    const row = (words: RegExp) => table(page).locator('tbody tr').filter({ hasText: words });
    expect(await row(/Corrected/).textContent()).toMatch(/void: \$[1-9]/);
    expect(await row(/consolidated/).textContent()).toMatch(/repeated: \$[1-9]/);
    expect(await row(/Quarterly/).textContent()).toContain('1 Sep – 30 Nov 2026');
    expect(await row(/Fifteenth/).textContent()).toContain('15 Oct – 14 Nov 2026');
    expect(await row(/Weekly/).count()).toBe(5);
    expect(await row(/Fees.*scheduled/).count()).toBe(1);
    expect(await seriousFaults(page)).toEqual([]);
  });

  it('month end exports amounts whose sum is its head, and those of no sum apart', async () => {
    const { page } = await open('/console/month-end?month=2026-11');
    await table(page).waitFor();
    await settle(page);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export' }).click(),
    ]);
    const pieces: Buffer[] = [];
    for await (const piece of await download.createReadStream()) pieces.push(piece as Buffer);
    const [header = '', ...lines] = Buffer.concat(pieces).toString().trim().split('\r\n');
    const column = (name: string) =>
      sum(lines.map((line) => new Big(line.split(',')[header.split(',').indexOf(name)] || 0)));
    const own = all.filter((invoice) => naiveMonth(invoice) === '2026-11');
    expect(column('total').toFixed()).toBe(totalOf(own.filter(isCounted)).toFixed());
    expect(column('total_amount').times(100).toFixed()).toBe(totalOf(own.filter(isCounted)).toFixed());
    const others = own.filter((invoice) => !isCounted(invoice));
    expect(others.length).toBe(2);
    expect(column('not_counted').toFixed()).toBe(totalOf(others).toFixed());
  });

  it('month end opens the month that is running when the last one has no invoice', async () => {
    const { page } = await open('/console/month-end');
    const heading = (month: string) => ({ name: `Month end: ${monthText(month)}` });
    await page.getByRole('heading', heading('2026-11')).waitFor();
    const fresh = await startTestService({ sandboxNow: NOW });
    try {
      const { page: other } = await openConsole(browser, fresh, '/console/month-end');
      await other.getByRole('heading', heading('2026-11')).waitFor();
      const { rateCardId: rate_card_id } = await createScenarioCatalogue(fresh.api);
      const customer_id = await createdId(fresh.api, '/v1/customers', { name: 'New', ingest_aliases: [] });
      const starting_at = '2026-12-01T00:00:00Z';
      await createdId(fresh.api, '/v1/contracts/create', { customer_id, rate_card_id, starting_at });
      await other.reload();
      await other.getByRole('heading', heading('2026-12')).waitFor();
      await table(other).waitFor();
      expect(await table(other).locator('tbody tr').count()).toBe(1);
    } finally {
      await fresh.close();
    }
  });
});

/** Somebody in finance takes a part of an issued invoice back in the console, by keyboard alone. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DESKTOP, isBrowserMissing, launchBrowser, PHONE, seriousFaults } from '../support/browser.ts';
import { createdId, PRODUCTS } from '../support/catalogue-api.ts';
import { cellsOf, openConsole, settle } from '../support/console-page.ts';
import { keyboardOf } from '../support/keyboard.ts';
import { completion, createScenarioCatalogue } from '../support/scenario.ts';
import { startTestService, type TestService } from '../support/service.ts';

const PERIOD = { starting_at: '2026-11-01T00:00:00Z', ending_before: '2027-11-01T00:00:00Z' };

describe.skipIf(isBrowserMissing())('credit notes in the console', () => {
  let service: TestService;
  let browser: Browser;
  let tokens: string;
  let fixed: string;
  /** $0.30 of tokens, of which a credit paid $0.10, and two requests for $0.04. */
  let invoice: { readonly customer: string; readonly id: string };

  beforeAll(async () => {
    const sandboxNow = '2026-11-10T00:00:00Z';
    [service, browser] = await Promise.all([startTestService({ sandboxNow }), launchBrowser()]);
    const { api } = service;
    const { rateCardId, tokensProductId } = await createScenarioCatalogue(api);
    tokens = tokensProductId;
    fixed = await createdId(api, PRODUCTS, { name: 'Launch credit', type: 'FIXED' });
    const customer = await createdId(api, '/v1/customers', {
      name: 'Aurora Robotics',
      ingest_aliases: ['aurora'],
    });
    const schedule_items = [{ amount: 10, ...PERIOD }];
    await createdId(api, '/v1/contracts/create', {
      ...{ customer_id: customer, rate_card_id: rateCardId, starting_at: PERIOD.starting_at },
      credits: [{ product_id: fixed, applicable_product_ids: [tokens], access_schedule: { schedule_items } }],
    });
    await api.post('/v1/ingest', [
      completion('aurora', { id: 'one', at: '2026-11-03T10:00:00Z', tokens: 600 }),
      completion('aurora', { id: 'two', at: '2026-11-05T10:00:00Z', tokens: 400 }),
    ]);
    await service.moveClock('2026-12-03T00:00:00Z');
    const list = await api.get(`/v1/customers/${customer}/invoices`, { query: { status: 'FINALIZED' } });
    invoice = { customer, id: list.text('data[0].id') };
  });
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });

  const pathOf = (more = '') => `/console/invoices/${invoice.customer}/${invoice.id}${more}`;
  const credited = async () =>
    (await service.api.get(`/v1/customers/${invoice.customer}/invoices/${invoice.id}`)).digits(
      'data.payable_amount',
    );

  it('a credit note is entered line by line, shown with what happens where before it is issued, and voided, by keyboard', async () => {
    const { page, errors } = await openConsole(browser, service, pathOf(), DESKTOP);
    const { press, write, choose } = keyboardOf(page);
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    await press(page.getByRole('link', { name: 'Credit…' }));
    await page.getByRole('heading', { name: /^Credit INV-/, level: 1 }).waitFor();
    await settle(page);
    const rows = await cellsOf(page, 'Lines that can be credited');
    expect(rows.map(([name, , billed, left]) => [name?.split(' · ')[0], billed, left])).toEqual([
      ['Requests', '$0.04', '$0.04'],
      ['Tokens', '$0.10', '$0.10'],
      ['Tokens', '$0.20', '$0.20'],
    ]);
    const own = page.getByRole('textbox', { name: /^Credit of Tokens/ });
    await own.first().focus();
    await page.keyboard.insertText('0.11');
    await press(button('Show what happens'));
    // A refusal of the API stands at its field: a reason that is missing, then more than the line has.
    const reason = page.getByLabel('Reason', { exact: true });
    await expect.poll(() => reason.getAttribute('aria-invalid')).toBe('true');
    await expect.poll(() => reason.evaluate((element) => element.matches(':focus'))).toBe(true);
    await choose('Reason', 'Service issue');
    await choose('Settlement', 'Offset unpaid');
    await press(button('Show what happens'));
    await page.getByText('exceeds what is left to credit').waitFor();
    expect(await own.first().getAttribute('aria-invalid')).toBe('true');
    await own.first().focus();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText('0.06');
    await press(page.getByRole('button', { name: /^All of Tokens/ }).last());
    expect(await own.last().inputValue()).toBe('0.2');
    await write('Memo', 'Outage of 3 November');
    await press(button('Show what happens'));
    const effect = page.getByRole('region', { name: 'What happens' });
    await effect.getByText('Not to be paid any more').waitFor();
    expect(await cellsOf(page, 'Balances that change')).toEqual([['Launch credit', '+$0.06']]);
    expect((await cellsOf(page, 'Lines of the note')).map((cells) => cells.slice(2))).toEqual([
      ['Launch credit', '$0.06'],
      ['the customer', '$0.20'],
    ]);
    expect(await seriousFaults(page)).toEqual([]);
    // Nothing is stored before it is issued.
    expect(await credited()).toBe('24');
    await press(button('Issue'));
    await page.getByRole('region', { name: 'Credit notes of the invoice' }).waitFor();
    const [row = []] = await cellsOf(page, 'Credit notes of the invoice');
    expect(row.slice(0, 4)).toEqual(['CN-2026-000001', '3 Dec 2026', 'service issue', 'issued']);
    expect(row[5]).toBe('$0.26');
    await page.getByText('Outage of 3 November').waitFor();
    expect(await credited()).toBe('4');
    expect(await seriousFaults(page)).toEqual([]);
    const notes = page.getByRole('region', { name: 'Credit notes of the invoice' });
    await press(notes.getByRole('button', { name: 'Void' }));
    await press(page.getByRole('dialog').getByRole('button', { name: 'Void' }));
    await notes.getByText('void', { exact: true }).waitFor();
    await expect.poll(credited).toBe('24');
    expect(errors.filter((text) => !text.includes('400'))).toEqual([]);
  });

  it('a credit note whose form is changed after its preview is previewed again before it can be issued', async () => {
    const { page } = await openConsole(browser, service, pathOf('/credit'), DESKTOP);
    const issue = page.getByRole('button', { name: 'Issue', exact: true });
    await page.getByRole('button', { name: 'Credit all that is left' }).click();
    await page.getByLabel('Reason').selectOption('duplicate');
    await page.getByLabel('Settlement').selectOption('credit_balance');
    await page.getByLabel('Product of the credit').selectOption(fixed);
    await page.getByLabel('Last day of the credit').fill('2027-12-31');
    await page.getByRole('button', { name: 'Show what happens' }).click();
    await issue.waitFor();
    await page.getByText('Credit of the customer').waitFor();
    await page.getByLabel('Reason').selectOption('other');
    expect(await issue.count()).toBe(0);
    await page.reload();
    await page.getByText('This is a draft of before.').waitFor();
    expect(await page.getByLabel('Settlement').inputValue()).toBe('credit_balance');
  });

  it('the form of a credit note fits a phone, and has no serious fault of axe there', async () => {
    const { page, errors } = await openConsole(browser, service, pathOf('/credit'), PHONE);
    await settle(page);
    await page.getByRole('button', { name: 'Credit all that is left' }).click();
    await page.getByLabel('Reason').selectOption('duplicate');
    await page.getByLabel('Settlement').selectOption('refund');
    await page.getByRole('button', { name: 'Show what happens' }).click();
    await page.getByText('To refund').waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    expect(Number(await page.evaluate('document.scrollingElement.scrollWidth'))).toBeLessThanOrEqual(390);
    expect(errors).toEqual([]);
  });
});

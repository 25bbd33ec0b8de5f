/** Somebody in finance takes a customer up in the console, by keyboard alone, without a call of the API. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DESKTOP, isBrowserMissing, launchBrowser, PHONE, seriousFaults } from '../support/browser.ts';
import { cellsOf, openConsole, settle } from '../support/console-page.ts';
import { type Keyboard, keyboardOf } from '../support/keyboard.ts';
import { startTestService, type TestService } from '../support/service.ts';

const NOW = '2026-11-26T09:30:00Z';

describe.skipIf(isBrowserMissing())('forms of the console', () => {
  let service: TestService;
  let browser: Browser;
  let page: Page;
  let keys: Keyboard;

  beforeAll(async () => {
    [service, browser] = await Promise.all([startTestService({ sandboxNow: NOW }), launchBrowser()]);
    const permissions = ['clipboard-read', 'clipboard-write'];
    const context = await browser.newContext({ ...DESKTOP, permissions });
    page = await context.newPage();
    keys = keyboardOf(page);
    await page.goto(`${service.url}/console`);
    await keys.reach(page.getByLabel('API token'));
    await page.keyboard.insertText(service.token);
    await page.keyboard.press('Enter');
  });
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });

  const press: Keyboard['press'] = (control) => keys.press(control);
  const write: Keyboard['write'] = (label, text) => keys.write(label, text);
  const choose: Keyboard['choose'] = (label, text) => keys.choose(label, text);
  const addedLines = () =>
    cellsOf(page, 'Lines that differ: Invoice of 26 Nov 2026').then((rows) =>
      rows.length > 0 ? rows : cellsOf(page, 'Lines that differ: Draft, 1 Nov – 30 Nov 2026'),
    );
  const productNames = async () => {
    const products = await service.api.post('/v1/contract-pricing/products/list', {});
    return products.list('data').map((_, at) => products.text(`data[${at}].current.name`));
  };
  const pageNamed = (name: string) =>
    page.getByRole('navigation', { name: 'Pages of the console' }).getByRole('link', { name });
  const heading = (name: string) => page.getByRole('heading', { name, level: 1 }).waitFor();
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const link = (name: string) => page.getByRole('link', { name, exact: true }).first();

  it('a form says at its field what the API refuses, keeps its draft over a reload, and creates the customer', async () => {
    await press(pageNamed('Customers'));
    await press(link('Create customer'));
    await heading('Create customer');
    await press(button('Create customer'));
    const name = page.getByLabel('Name', { exact: true });
    await page
      .getByText(/required|must/)
      .first()
      .waitFor();
    expect(await name.getAttribute('aria-invalid')).toBe('true');
    expect(await name.evaluate((element) => element.matches(':focus'))).toBe(true);
    expect(await seriousFaults(page)).toEqual([]);
    await write('Name', 'Aurora Robotics');
    await write('Ingest aliases', 'aurora');
    await page.reload();
    await page.getByText('This is a draft of before.').waitFor();
    expect(await name.inputValue()).toBe('Aurora Robotics');
    await press(button('Create customer'));
    await heading('Aurora Robotics');
    await page.getByText('aurora', { exact: true }).waitFor();
  });

  it('a token is shown once after it was created, and no draft of it stays', async () => {
    await press(pageNamed('System'));
    await press(page.getByRole('link', { name: 'Tokens' }));
    await press(link('Create token'));
    await write('Name', 'Finance');
    await choose('Scope', 'Read');
    await press(button('Create token'));
    await page.getByText('This is the only time that the token is shown').waitFor();
    expect(await page.evaluate('Object.keys(localStorage).length')).toBe(0);
  });

  it('a product and a card with its first price are created where they are missing', async () => {
    await press(pageNamed('Prices'));
    await press(page.getByRole('link', { name: 'Products' }));
    await press(link('Create product'));
    await write('Name', 'Seats');
    await choose('Type', 'Subscription');
    await press(button('Create product'));
    await page.getByRole('cell', { name: 'Seats' }).waitFor();
    await press(page.getByRole('link', { name: 'Rate card', exact: true }));
    await press(link('Create rate card'));
    await write('Name', 'List 2027');
    await press(button('Add a price'));
    await expect.poll(() => page.getByLabel('Product').locator('option:checked').textContent()).toBe('Seats');
    await write('Price (USD)', '20');
    await press(button('Create rate card'));
    await page.getByRole('alert').first().waitFor();
    await choose('Billed', 'Monthly');
    await press(button('Create rate card'));
    await page.getByRole('region', { name: 'Without group values' }).getByText('$20.00').waitFor();
    // The card was created by the first attempt, whose price was refused.
    expect(await page.getByLabel('Rate card').locator('option').allTextContents()).toEqual(['List 2027']);
  });

  it('a contract with a subscription is created, and its draft shows the price', async () => {
    await press(pageNamed('Customers'));
    await press(link('Aurora Robotics'));
    await press(link('Create contract'));
    await choose('Rate card', 'List 2027');
    await press(button('Add a subscription'));
    await write('Quantity', '10');
    await choose('Collected', 'Arrears');
    await press(button('Create contract'));
    await heading('Aurora Robotics');
    await press(page.getByRole('region', { name: 'Running drafts' }).last().getByRole('link').first());
    await page.getByText('Seats').first().waitFor();
    await page.getByText('$200.00').first().waitFor();
  });

  it('a charge and a credit are added to a customer with two fields and a date', async () => {
    await press(pageNamed('Customers'));
    await press(link('Aurora Robotics'));
    await press(link('Add credit'));
    await write('For', 'Goodwill');
    await write('Amount (USD)', '100');
    await press(button('Add credit'));
    await page.getByRole('region', { name: 'Balances' }).getByText('$100.00').first().waitFor();
    await press(pageNamed('Customers'));
    await press(link('Aurora Robotics'));
    await press(link('Add charge'));
    await write('For', 'Onboarding');
    await write('Amount (USD)', '1,500.50');
    // Nothing is created by a preview: another product stands in for the new one.
    await press(button('Show what it costs'));
    await page.getByRole('region', { name: 'What it costs' }).getByText('against').first().waitFor();
    expect(await addedLines()).toEqual([['Onboarding', '$0.00', '$1,500.50', '+$1,500.50']]);
    expect(await productNames()).not.toContain('Onboarding');
    expect(await seriousFaults(page)).toEqual([]);
    await press(button('Copy as curl'));
    await button('Copied').waitFor();
    const copied = String(await page.evaluate('navigator.clipboard.readText()'));
    expect(copied).toContain(`'${service.url}/v2/contracts/edit'`);
    expect(copied).toContain('"amount": 150050');
    expect(copied).not.toContain(service.token);
    await press(button('Add charge'));
    await heading('Aurora Robotics');
    await press(page.getByRole('link', { name: 'Invoices', exact: true }));
    await page.getByText('$1,500.50').first().waitFor();
    expect(await seriousFaults(page)).toEqual([]);
  });

  it('a customer and its contract are changed, terms are added, and the contract is archived', async () => {
    await press(pageNamed('Customers'));
    await press(link('Aurora Robotics'));
    await press(link('Change'));
    await expect.poll(() => page.getByLabel('Ingest aliases').inputValue()).toBe('aurora');
    await write('Name', 'Aurora Robotics GmbH');
    await press(button('Save'));
    await heading('Aurora Robotics GmbH');
    await press(page.getByRole('link', { name: 'Contracts', exact: true }));
    const section = page.getByRole('region', { name: 'Contract', exact: true });
    await press(section.getByRole('link', { name: 'Change' }));
    await heading('Change contract');
    await write('New days to pay', '30');
    await press(button('Add a commit'));
    await write('For', 'Annual commitment');
    await write('Amount (USD)', '12000');
    await press(button('Show what it costs'));
    await page.getByRole('region', { name: 'What it costs' }).getByText('−$200.00').first().waitFor();
    await press(button('Save'));
    await page.getByText('to be paid within 30 days').waitFor();
    await page.getByText('$12,000.00').first().waitFor();
    await press(section.getByRole('button', { name: 'Archive' }));
    await press(page.getByRole('dialog').getByRole('button', { name: 'Archive' }));
    await page.getByText(', archived').waitFor();
    expect(await section.getByRole('link', { name: 'Change' }).count()).toBe(0);
  });

  it('forms of the console fit a phone, and have no serious fault of axe there', async () => {
    for (const form of ['customer', 'product', 'rate-card', 'contract', 'webhook', 'alert']) {
      const { page: phone, errors } = await openConsole(browser, service, `/console/create/${form}`, PHONE);
      await settle(phone);
      expect(await seriousFaults(phone), form).toEqual([]);
      const width = Number(await phone.evaluate('document.scrollingElement.scrollWidth'));
      expect(width, form).toBeLessThanOrEqual(390);
      expect(errors, form).toEqual([]);
    }
  });
});

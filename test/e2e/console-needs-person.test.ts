/** Tasks that need a person, in the console: each line says what to do, and leads to the place with the fields filled in. */
import { randomUUID } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type StripeStandIn, startStripeStandIn } from '../../src/demo/stripe/stand-in.ts';
import { isBrowserMissing, launchBrowser } from '../support/browser.ts';
import { ADD_RATES, CONTRACTS, createdId, METRICS, PRODUCTS, RATE_CARDS } from '../support/catalogue-api.ts';
import { openConsole, settle } from '../support/console-page.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { billedCustomer, connectedTo } from '../support/stripe/billed-customer.ts';

describe.skipIf(isBrowserMissing())('work of finance in the console', () => {
  let stripe: StripeStandIn;
  let service: TestService;
  let browser: Browser;

  beforeAll(async () => {
    stripe = await startStripeStandIn();
    const options = { sandboxNow: '2026-03-10T12:00:00Z', ...connectedTo(stripe) };
    [service, browser] = await Promise.all([startTestService(options), launchBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.close();
    await stripe?.close();
  });

  const needs = (page: Page) => page.getByRole('region', { name: 'Needs a person' });

  /** A customer whose usage has a price for `wren-large` alone, and that has sent events for a week until yesterday. */
  async function customerWithUsage(name: string, models: readonly string[]): Promise<string> {
    const { api } = service;
    const billable_metric_id = await createdId(api, METRICS, {
      name: 'Tokens',
      aggregation_type: 'SUM',
      aggregation_key: 'tokens',
      group_keys: [['model']],
      property_filters: [
        { name: 'tokens', exists: true },
        { name: 'model', exists: true },
      ],
      event_type_filter: { in_values: ['use'] },
    });
    const product_id = await createdId(api, PRODUCTS, {
      ...{ name: 'Tokens', type: 'USAGE', billable_metric_id, pricing_group_key: ['model'] },
    });
    const rate_card_id = await createdId(api, RATE_CARDS, { name: 'Card' });
    const rate = { starting_at: '2026-01-01T00:00:00Z', entitled: true, rate_type: 'FLAT', price: 1 };
    const pricing_group_values = { model: 'wren-large' };
    await api.post(ADD_RATES, { rate_card_id, rates: [{ ...rate, product_id, pricing_group_values }] });
    const customer_id = await createdId(api, '/v1/customers', { name, ingest_aliases: [name] });
    await createdId(api, CONTRACTS, { customer_id, rate_card_id, starting_at: '2026-03-01T00:00:00Z' });
    const days = ['03', '04', '05', '06', '07', '08', '09'];
    const events = days.flatMap((day) =>
      models.map((model) => ({
        ...{ transaction_id: randomUUID(), customer_id: name, event_type: 'use' },
        timestamp: `2026-03-${day}T11:00:00Z`,
        properties: { tokens: 5, model },
      })),
    );
    await api.post('/v1/ingest', events);
    return customer_id;
  }

  it('a missing price and missing usage are named at the start, and the price leads to its form with product and value filled in', async () => {
    const customerId = await customerWithUsage('Lark', ['wren-large', 'wren-mini']);
    const { page, errors } = await openConsole(browser, service, '/console');
    await settle(page);
    await needs(page).getByText('1 customer sent events every day and then none').waitFor();
    const link = needs(page).getByRole('link', { name: 'Lark' });
    expect(await link.getAttribute('href')).toContain(`/customers/${customerId}`);
    await needs(page).getByRole('link', { name: 'Add a price for Tokens, model wren-mini' }).click();
    const form = page.getByRole('region', { name: 'New price' });
    await form.waitFor();
    expect(await form.getByLabel('model', { exact: true }).inputValue()).toBe('wren-mini');
    expect(await form.getByLabel('Product').locator('option:checked').textContent()).toBe('Tokens');
    expect(errors).toEqual([]);
  });

  it('an overdue invoice leads from the start to its page, where it is collected again and a refusal is shown', async () => {
    const stripeId = stripe.state.addCustomer('declined');
    const customer = await billedCustomer(service, stripeId, { contract: { net_payment_terms_days: 10 } });
    const id = await customer.bill(700);
    const status = async () => (await customer.invoice(id)).at('data.external_invoice.external_status');
    await vi.waitFor(async () => expect(await status()).toBe('FINALIZED'), { timeout: 20_000 });
    const number = (await customer.invoice(id)).text('data.invoice_number');
    const { page, errors } = await openConsole(browser, service, '/console');
    await settle(page);
    await needs(page).getByText('1 invoice is overdue').waitFor();
    await needs(page).getByRole('link', { name: number }).click();
    const again = page.getByRole('button', { name: 'Collect again' });
    await again.click();
    await page.getByText('Not collected. Your card was declined: insufficient funds').waitFor();
    stripe.state.customer(stripeId).card = 'pays';
    await again.click();
    await page.getByText('Collected.', { exact: true }).waitFor();
    expect(await status()).toBe('PAID');
    await expect.poll(() => again.count()).toBe(0);
    expect(errors).toEqual([]);
  });

  it('a customer that another person has renamed meanwhile is not overwritten: the form says what differs', async () => {
    const id = await createdId(service.api, '/v1/customers', { name: 'Finch', ingest_aliases: ['finch'] });
    const { page } = await openConsole(browser, service, `/console/create/change-customer?customer_id=${id}`);
    await settle(page);
    const name = page.getByLabel('Name', { exact: true });
    expect(await name.inputValue()).toBe('Finch');
    await service.api.post(`/v1/customers/${id}/setName`, { name: 'Finch of another' });
    await name.fill('Finch of mine');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('the customer is not the version of If-Match any more: name').waitFor();
    expect((await service.api.get(`/v1/customers/${id}`)).text('data.name')).toBe('Finch of another');
  });
});

/** Deliveries that need a person, in the console: a refund that is due, and an invoice that is tried for long. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type StripeStandIn, startStripeStandIn } from '../../src/demo/stripe/stand-in.ts';
import { isBrowserMissing, launchBrowser } from '../support/browser.ts';
import { openConsole, settle } from '../support/console-page.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { type BilledCustomer, billedCustomer, connectedTo } from '../support/stripe/billed-customer.ts';

describe.skipIf(isBrowserMissing())('deliveries in the console', () => {
  let stripe: StripeStandIn;
  let service: TestService;
  let browser: Browser;

  beforeAll(async () => {
    stripe = await startStripeStandIn();
    const options = { sandboxNow: '2026-03-10T00:00:00Z', ...connectedTo(stripe) };
    [service, browser] = await Promise.all([startTestService(options), launchBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.close();
    await stripe?.close();
  });

  const externalOf = async (customer: BilledCustomer, id: string) =>
    (await customer.invoice(id)).at('data.external_invoice') as Record<string, unknown>;

  const goTo = async (page: Page, path: string) => {
    await page.goto(service.url + path);
    await settle(page);
  };

  it('a refund that is due is under Needs a person until it is reported on the page of its invoice', async () => {
    const customer = await billedCustomer(service, stripe.state.addCustomer());
    const id = await customer.bill(600);
    const [there] = stripe.state.liveOf(id);
    stripe.state.collect(there?.id ?? '');
    await stripe.deliver(`${service.url}/v1/providers/stripe/webhook/default`, stripe.state.events.slice(-1));
    await vi.waitFor(
      async () => expect(await externalOf(customer, id)).toMatchObject({ external_status: 'PAID' }),
      { timeout: 20_000 },
    );
    const { page, errors } = await openConsole(
      browser,
      service,
      `/console/invoices/${customer.customerId}/${id}`,
    );
    await settle(page);
    await page.getByRole('button', { name: 'Void', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Its customer has paid it at stripe').waitFor();
    await dialog.getByRole('button', { name: 'Void', exact: true }).click();
    await page.getByText('a refund is due').waitFor();
    await page.getByRole('button', { name: 'Regenerate' }).click();
    await dialog.getByLabel('Collect the new invoice although this one was paid').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await goTo(page, '/console');
    await page.getByRole('link', { name: '1 voided invoice was paid: a refund is due' }).click();
    await page.getByRole('table').getByText('stripe', { exact: true }).waitFor();
    await goTo(page, `/console/invoices/${customer.customerId}/${id}`);
    await page.getByRole('button', { name: 'Report refund' }).click();
    await dialog.getByRole('button', { name: 'Report refund' }).click();
    await expect.poll(() => page.getByText('a refund is due').count()).toBe(0);
    expect(await externalOf(customer, id)).not.toHaveProperty('refund_due');
    expect(errors).toEqual([]);
  });

  it('an invoice that is tried for more than an hour is under Needs a person and among the failed jobs, with the reason', async () => {
    const customer = await billedCustomer(service, stripe.state.addCustomer());
    stripe.misbehave = ({ method, path }) =>
      `${method} ${path}`.endsWith('POST /v1/invoices') ? 'error_before' : null;
    const id = await customer.bill(900);
    for (const hour of ['01', '02', '03']) await service.moveClock(`2026-03-10T${hour}:00:00Z`);
    const { page } = await openConsole(browser, service, '/console');
    await page.getByText('1 invoice has been tried for over an hour').waitFor();
    const { billing_provider_error: reason } = await externalOf(customer, id);
    await page.getByText(String(reason)).waitFor();
    await goTo(page, '/console/system');
    const row = page.getByRole('row').filter({ hasText: 'deliver invoice' });
    await row.getByText(String(reason)).waitFor();
    stripe.misbehave = () => null;
    await row.getByRole('button', { name: 'Try again' }).click();
    await expect.poll(() => row.count(), { timeout: 20_000 }).toBe(0);
  });
});

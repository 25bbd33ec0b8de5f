/** The simulated company: a month of traffic of an AI API with many customers. */
import type { Instant } from '../core/time.ts';
import { billingWindow } from './billing-window.ts';
import { COMPANY_EVENT_TYPE, COMPANY_PRODUCTS, companyCustomers } from './company.ts';
import { daysAround, newRunId, type Story } from './story.ts';
import { traffic } from './traffic.ts';

/** Any fixed number: every run of a day sends the same traffic. */
const SEED = 20_251_120;

/** `now` is the service's time: traffic runs up to it, from the start of a billing period that covers it. */
export function companyStory(options: { events: number; customers: number }, now: Instant): Story {
  const runId = newRunId();
  const period = billingWindow(now);
  const plan = { seed: SEED, ...options, start: period.start, end: now };
  return {
    scenario: {
      rateCardName: 'AI API price list',
      eventType: COMPANY_EVENT_TYPE,
      products: COMPANY_PRODUCTS,
      customers: companyCustomers(options.customers, runId),
    },
    runId,
    period,
    events: traffic(plan),
    eventCount: options.events,
    chartPeriod: daysAround(period.start, now - 1),
    ownBooks: 'sent by the demo',
    lateAlias: options.customers - 1,
    negotiatedAt: now,
    tokenRequests: null,
  };
}

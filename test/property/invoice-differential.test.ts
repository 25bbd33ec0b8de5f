/**
 * The whole service against the naive engine: random catalogues, contracts and events, including duplicates, are
 * sent through the public API, and the invoices compared. Many more cases run without stores in
 * rating-differential.test.ts.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { decimal } from '../../src/core/decimal.ts';
import { DAY_MS, type Instant } from '../../src/core/time.ts';
import {
  type BilledCard,
  billCustomer,
  breakdownShares,
  createCard,
  sharesAt,
} from '../support/billed-cases.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { naiveCompositeCharges } from '../support/naive/composites.ts';
import { naiveCharges } from '../support/naive/rating.ts';
import { naiveMeter } from '../support/naive/series.ts';
import { PERIOD } from '../support/rating-scenarios.ts';
import { customersOfOneCard, type SendableCustomer } from '../support/sendable-cases.ts';
import {
  atoms,
  conversionsOfShares,
  type Share,
  sharesOfCharges,
  sharesOfComposites,
  summedShares,
  totalOfShares,
} from '../support/shares.ts';
import { runs } from '../support/shares-of-tests.ts';

/** Each with three customers. */
const CARDS = runs(6);
/** A failing case is then reported as far as it was shrunk. */
const SHRINKING_MS_MAX = 120_000;

const service = await serviceForFile({ sandboxNow: new Date(PERIOD.end - 1).toISOString() });

const byHour = (at: Instant) => at;
const byDay = (at: Instant) => Math.max(PERIOD.start, at - (at % DAY_MS));
const byPeriod = () => PERIOD.start;

async function checkInvoice(card: BilledCard, customer: SendableCustomer): Promise<void> {
  const { api } = service;
  const { given } = customer;
  const customerId = await billCustomer(api, card, customer);
  const meter = naiveMeter(given.metrics, given.events, given.period);
  const usage = naiveCharges(given, meter);
  const lines = [...sharesOfCharges(usage), ...sharesOfComposites(naiveCompositeCharges(given, usage))];
  const expected = [...lines, ...conversionsOfShares(lines, given.worths)];
  const expectShares = (actual: readonly Share[], windowOf: (at: Instant) => Instant) =>
    expect(summedShares(actual, windowOf)).toEqual(summedShares(expected, windowOf));
  expectShares(await breakdownShares(api, card, customerId, given, 'HOUR'), byHour);
  expectShares(await breakdownShares(api, card, customerId, given, 'DAY'), byDay);
  const invoices = await api.get(`/v1/customers/${customerId}/invoices`);
  expectShares(sharesAt(card, invoices, 'data[0]', PERIOD.start), byPeriod);
  const total = atoms(decimal(invoices.digits('data[0].total')));
  expect(total).toBe(totalOfShares(expected, USD_CENTS.id));
}

it(
  'invoices, hours and days are those of the naive engine, whatever is sent twice',
  async () => {
    await fc.assert(
      fc.asyncProperty(customersOfOneCard, async (customers) => {
        const [first] = customers;
        if (first === undefined) throw new Error('a card has customers');
        const card = await createCard(service.api, first.given);
        for (const customer of customers) await checkInvoice(card, customer);
      }),
      { numRuns: CARDS, interruptAfterTimeLimit: SHRINKING_MS_MAX },
    );
  },
  2 * SHRINKING_MS_MAX,
);

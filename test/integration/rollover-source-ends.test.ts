/** The rolled-over amount, when the contract that it came from is archived or ended earlier afterwards. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { decimal, sum } from '../../src/core/decimal.ts';
import type { ApiAnswer, ApiClient } from '../support/api-client.ts';
import { CONTRACTS, createdId } from '../support/catalogue-api.ts';
import { startTestService, type TestService } from '../support/service.ts';
import {
  createThresholdCatalogue,
  createThresholdCustomer,
  type ThresholdCatalogue,
} from '../support/thresholds.ts';

let service: TestService;
let api: ApiClient;
let catalogue: ThresholdCatalogue;

beforeEach(async () => {
  service = await startTestService({ sandboxNow: '2026-11-10T00:00:00Z' });
  api = service.api;
  catalogue = await createThresholdCatalogue(api);
});
afterEach(() => service.close());

/**
 * A contract of November with 1,000 cents, of which 700 are used in November, and its renewal on 1 December, to which
 * up to half rolls over: 300, all that is left.
 */
async function renewed() {
  const older = await createThresholdCustomer(api, catalogue, {
    commits: [
      {
        product_id: catalogue.fee,
        type: 'PREPAID',
        rollover_fraction: 0.5,
        access_schedule: {
          schedule_items: [
            { amount: 1000, starting_at: '2026-11-01T00:00:00Z', ending_before: '2027-11-01T00:00:00Z' },
          ],
        },
      },
    ],
  });
  const { customerId: customer_id } = older;
  const newer = await createdId(api, CONTRACTS, {
    ...{ customer_id, rate_card_id: catalogue.card, starting_at: '2026-12-01T00:00:00Z' },
    transition: { type: 'RENEWAL', from_contract_id: older.contractId },
  });
  await older.use(700, '2026-11-05T12:00:00Z');
  const options = { include_balance: true, include_ledgers: true };
  const read = (contract_id: string) =>
    api.post('/v2/contracts/get', { customer_id, contract_id, ...options });
  return {
    ...older,
    source: () => read(older.contractId),
    rollover: () => read(newer),
    bareRollover: () => api.post('/v2/contracts/get', { customer_id, contract_id: newer }),
    archive: (void_invoices: boolean) =>
      api.send('POST', '/v1/contracts/archive', {
        customer_id,
        contract_id: older.contractId,
        void_invoices,
      }),
    endAt: (ending_before: string) =>
      api.send('POST', '/v1/contracts/updateEndDate', {
        ...{ customer_id, contract_id: older.contractId, ending_before },
      }),
  };
}

/** `<kind> <amount> <month>-<day>` of each entry of the only commit. */
function ledger(contract: ApiAnswer): string[] {
  const entries = contract.list('data.commits[0].ledger') as {
    type: string;
    amount: number;
    timestamp: string;
  }[];
  return entries.map(
    ({ type, amount, timestamp }) =>
      `${type.replace('PREPAID_COMMIT_', '')} ${amount} ${timestamp.slice(5, 10)}`,
  );
}

/** The balance of the commit equals the sum of the entries of its ledger. */
async function expectSettled({ source, rollover }: Awaited<ReturnType<typeof renewed>>): Promise<void> {
  for (const contract of [await source(), await rollover()]) {
    const entries = contract.list('data.commits[0].ledger').map((_, index) => index);
    const amounts = entries.map((index) =>
      decimal(contract.digits(`data.commits[0].ledger[${index}].amount`)),
    );
    expect(sum(amounts).toFixed()).toBe(contract.digits('data.commits[0].balance'));
  }
}

const JANUARY = '2027-01-05T00:00:00Z';

test('archived or ended before the renewal begins, it leaves nothing to roll over, and the renewal bills its usage', async () => {
  const [archived, ended] = [await renewed(), await renewed()];
  expect(ledger(await archived.rollover())).toEqual(['SEGMENT_START 300 12-01']);
  // Without balances too, although November is not invoiced.
  const segment = 'data.commits[0].access_schedule.schedule_items[0]';
  expect((await archived.bareRollover()).at(`${segment}.amount`)).toBe(300);
  await service.moveClock('2026-11-20T00:00:00Z');
  expect((await archived.archive(false)).status).toBe(200);
  expect((await ended.endAt('2026-11-15T00:00:00Z')).status).toBe(200);
  for (const one of [archived, ended]) {
    expect(ledger(await one.rollover())).toEqual(['SEGMENT_START 0 12-01']);
    await one.use(100, '2026-11-19T12:00:00Z');
  }
  await service.moveClock('2026-12-10T00:00:00Z');
  for (const one of [archived, ended]) await one.use(100, '2026-12-05T12:00:00Z');
  await service.moveClock(JANUARY);
  // November is billed by nobody: its usage is on no invoice any more.
  expect(ledger(await archived.source())).toEqual(['SEGMENT_START 1000 11-01', 'EXPIRATION -1000 11-20']);
  expect(await archived.invoices()).toEqual(['USAGE DRAFT 0', 'USAGE FINALIZED 100']);
  expect(ledger(await ended.source())).toEqual([
    'SEGMENT_START 1000 11-01',
    'AUTOMATED_INVOICE_DEDUCTION -700 11-15',
    'EXPIRATION -300 11-15',
  ]);
  expect(await ended.invoices()).toEqual(['USAGE DRAFT 0', 'USAGE FINALIZED 0', 'USAGE FINALIZED 100']);
  for (const one of [archived, ended]) await expectSettled(one);
});

test('archived, voided or ended after the renewal has begun, both ledgers and the invoices of the renewal agree', async () => {
  const [archived, voided, ended] = [await renewed(), await renewed(), await renewed()];
  const all = [archived, voided, ended];
  await service.moveClock('2026-12-10T00:00:00Z');
  for (const one of all) await one.use(100, '2026-12-05T12:00:00Z');
  for (const one of all) {
    expect(ledger(await one.rollover())).toEqual([
      'SEGMENT_START 300 12-01',
      'AUTOMATED_INVOICE_DEDUCTION -100 01-01',
    ]);
  }
  expect((await archived.archive(false)).status).toBe(200);
  expect((await voided.archive(true)).status).toBe(200);
  expect((await ended.endAt('2026-11-15T00:00:00Z')).status).toBe(200);
  await service.moveClock(JANUARY);
  const paid = 'AUTOMATED_INVOICE_DEDUCTION -700 12-01';
  expect(ledger(await archived.source())).toEqual(['SEGMENT_START 1000 11-01', paid, 'ROLLOVER -300 12-01']);
  expect(await archived.invoices()).toEqual(['USAGE DRAFT 0', 'USAGE FINALIZED 0', 'USAGE FINALIZED 0']);
  // The voided invoice gives 700 back, so half of the 1,000 rolls over, and the rest expires.
  expect(ledger(await voided.source())).toEqual([
    'SEGMENT_START 1000 11-01',
    paid,
    'ROLLOVER -500 12-01',
    'EXPIRATION -500 12-01',
    'CREDITED 700 12-10',
  ]);
  expect((await voided.rollover()).digits('data.commits[0].balance')).toBe('400');
  expect(await voided.invoices()).toEqual(['USAGE DRAFT 0', 'USAGE FINALIZED 0', 'USAGE VOID 0']);
  // It ended before the renewal, so nothing rolls over, and December is billed.
  expect(ledger(await ended.source())).toEqual(['SEGMENT_START 1000 11-01', 'EXPIRATION -300 11-15', paid]);
  expect(ledger(await ended.rollover())).toEqual(['SEGMENT_START 0 12-01']);
  expect(await ended.invoices()).toEqual(['USAGE DRAFT 0', 'USAGE FINALIZED 0', 'USAGE FINALIZED 100']);
  for (const one of all) await expectSettled(one);
});

/** One quarter of customers with commits and credits, against invoices and ledgers computed by hand (balances.ts). */
import { beforeAll, describe, expect, test } from 'vitest';
import { serviceForFile } from '../support/file-fixtures.ts';
import { reconcile } from '../support/reconciled.ts';
import { BALANCE_SCENARIOS } from './balances.ts';
import { type BalanceOutcome, runBalances } from './run-balances.ts';

const service = await serviceForFile({ sandboxNow: '2026-01-01T00:00:00Z' });
let found: ReadonlyMap<string, BalanceOutcome> = new Map();

beforeAll(async () => {
  found = await runBalances(service, BALANCE_SCENARIOS);
}, 900_000);

describe('invoices and ledgers of a quarter', () => {
  test.each(BALANCE_SCENARIOS)('$name', ({ name, invoices, ledgers }) => {
    expect(found.get(name)).toMatchObject({ invoices, ledgers });
  });
});

test('everything of January agrees, voided and regenerated invoices too', async () => {
  const january = { starting_on: '2026-01-01T00:00:00Z', ending_before: '2026-02-01T00:00:00Z' };
  const { customers, differences, unchecked, late } = await reconcile(service.api, january);
  expect(customers).toHaveLength(BALANCE_SCENARIOS.length);
  expect({ differences, unchecked, late }).toEqual({ differences: [], unchecked: [], late: [] });
}, 120_000);

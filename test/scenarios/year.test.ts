/** One simulated year of many customers, against invoices that were computed by hand (lives.ts, recurring-lives.ts). */
import { beforeAll, describe, expect, test } from 'vitest';
import { serviceForFile } from '../support/file-fixtures.ts';
import { reconcile } from '../support/reconciled.ts';
import { LIVES } from './lives.ts';
import { RECURRING_LIVES } from './recurring-lives.ts';
import { runLives } from './run-lives.ts';

const ALL = [...LIVES, ...RECURRING_LIVES];
const service = await serviceForFile({ sandboxNow: '2026-01-01T00:00:00Z' });
let found: ReadonlyMap<string, readonly string[]> = new Map();

beforeAll(async () => {
  found = await runLives(service, ALL);
}, 900_000);

describe('the invoices of a year', () => {
  test.each(ALL)('$name', ({ name, invoices }) => {
    expect(found.get(name)).toEqual(invoices);
  });
});

test('everything of the spring agrees', async () => {
  const spring = { starting_on: '2026-04-01T00:00:00Z', ending_before: '2026-05-01T00:00:00Z' };
  const { customers, invoices, differences, unchecked, late } = await reconcile(service.api, spring);
  expect(customers.length).toBeGreaterThan(30);
  expect(invoices).toBeGreaterThan(30);
  expect({ differences, unchecked }).toEqual({ differences: [], unchecked: [] });
  expect(late).toEqual(['Work 3 = 6']);
});

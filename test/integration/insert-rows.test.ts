/** Rows that are written as one parameter are those that the driver would have written one by one. */
import { asc, sql } from 'drizzle-orm';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decimal } from '../../src/core/decimal.ts';
import { insertRows } from '../../src/store/base/insert-rows.ts';
import {
  managedModels,
  tokenModelAliases,
  tokenPrices,
} from '../../src/store/token-billing/token-billing.tables.ts';
import { databaseForFile } from '../support/file-fixtures.ts';
import { runs } from '../support/shares-of-tests.ts';

const { db } = await databaseForFile();

/** Everything but the zero character, which no text of PostgreSQL has: halves of surrogate pairs and escapes too. */
const text = fc
  .oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('\\', '"', 'u', 'd', '8', '0', '\ud800', '\udc00', '\n', '{', ',') }),
  )
  .map((value) => value.replaceAll('\0', ''));

test('texts come back as the driver would have stored them', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ alias: text, model: text }), { minLength: 1, maxLength: 20 }),
      async (given) => {
        const rowsOf = (provider: string) =>
          given.map(({ alias, model }, index) => ({ provider, alias: `${index} ${alias}`, model }));
        const read = await db.transaction(async (tx) => {
          await tx.delete(tokenModelAliases);
          await insertRows(tx, tokenModelAliases, rowsOf('a'));
          await tx.insert(tokenModelAliases).values(rowsOf('b'));
          return await tx.select().from(tokenModelAliases).orderBy(asc(tokenModelAliases.alias));
        });
        const of = (provider: string) =>
          read.filter((row) => row.provider === provider).map(({ alias, model }) => [alias, model]);
        expect(of('a')).toEqual(of('b'));
        expect(of('a')).toHaveLength(given.length);
      },
    ),
    { numRuns: runs(150) },
  );
});

test('decimals keep every digit, instants every millisecond, and more rows than a statement has are all there', async () => {
  const rows = Array.from({ length: 2_345 }, (_, index) => ({
    provider: 'acme',
    model: `model-${index}`,
    kind: 'input_tokens' as const,
    validFrom: Date.UTC(2026, 0, 1, 0, 0, 0, index % 1_000),
    usdPerToken: decimal(`0.0000000000000000012345678901234567890${index + 1}`),
    source: 'test',
    recordedAt: index,
  }));
  const stored = await db.transaction(async (tx) => {
    await insertRows(tx, tokenPrices, rows);
    return await tx.select().from(tokenPrices).orderBy(asc(tokenPrices.recordedAt));
  });
  const shown = (list: readonly (typeof rows)[number][]) =>
    list.map(({ usdPerToken, ...row }) => ({ ...row, usdPerToken: usdPerToken.toFixed() }));
  expect(shown(stored as typeof rows)).toEqual(shown(rows));
});

test('a row that breaks a rule of the table refuses all, and what follows the rows is kept to', async () => {
  const row = (alias: string) => ({ provider: 'c', alias, model: 'm' });
  const twice = db.transaction((tx) => insertRows(tx, tokenModelAliases, [row('x'), row('y'), row('x')]));
  await expect(twice).rejects.toThrow();
  const answered = await db.transaction((tx) =>
    insertRows(
      tx,
      tokenModelAliases,
      [row('x'), row('y'), row('x')],
      sql`on conflict do nothing returning alias`,
    ),
  );
  expect(answered).toEqual([{ alias: 'x' }, { alias: 'y' }]);
  expect(await db.transaction((tx) => insertRows(tx, managedModels, []))).toEqual([]);
});

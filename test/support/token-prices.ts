/** Prices of two invented providers, for tests of token billing. */
import { importPrices } from '../../src/billing/token-billing/import-prices.ts';
import { readPriceFile } from '../../src/billing/token-billing/price-files.ts';
import type { Instant } from '../../src/core/time.ts';
import type { Database } from '../../src/store/base/database.ts';

/** USD per million tokens, by kind. */
type Prices = Readonly<Record<string, string>>;

export interface TestModel {
  readonly provider: string;
  readonly model: string;
  readonly aliases?: readonly string[];
  readonly prices: readonly { readonly from: string; readonly usd: Prices }[];
}

export const LARGE: TestModel = {
  provider: 'acme',
  model: 'acme/large',
  aliases: ['large', 'large-2026-01-01'],
  prices: [
    {
      from: '2026-01-01',
      usd: {
        input_tokens: '2.5',
        cached_input_tokens: '0.25',
        output_tokens: '10',
        cached_write_tokens: '3.125',
      },
    },
  ],
};

export const SMALL: TestModel = {
  provider: 'acme',
  model: 'acme/small',
  aliases: ['small'],
  prices: [{ from: '2026-01-01', usd: { input_tokens: '0.15', output_tokens: '0.6' } }],
};

/** As `npm run catalogue -- import` does it. */
export async function importModels(
  { db, now }: { readonly db: Database; readonly now: Instant },
  models: readonly TestModel[],
) {
  const file = {
    format: 'tallyhouse-token-prices-1',
    models: models.map(({ prices, ...model }) => ({
      ...model,
      prices: prices.map(({ from, usd }) => ({ valid_from: from, source: 'test', usd_per_million: usd })),
    })),
  };
  const read = readPriceFile(JSON.stringify(file), { validFrom: now });
  return await importPrices({ db, clock: { now: () => now } }, read.models);
}

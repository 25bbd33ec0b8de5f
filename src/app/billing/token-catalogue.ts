/** The table of model prices included in the service (docs/explanation/token-billing.md, "The catalogue"). */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RowContext } from '../../billing/billing-context.ts';
import { importPrices } from '../../billing/token-billing/import-prices.ts';
import { readPriceFile } from '../../billing/token-billing/price-files.ts';
import { PACKAGE_ROOT } from '../../core/package-root.ts';
import { hasTokenPrices } from '../../store/token-billing/token-prices.ts';

/** Its prices have separate dates. */
export const SHIPPED_PRICES = join(PACKAGE_ROOT, 'catalogue/prices.json');

/** Fills an empty catalogue. Later versions of the table are imported by the operator. */
export async function fillTokenCatalogue(context: RowContext) {
  if (await hasTokenPrices(context.db)) return;
  const { models } = readPriceFile(await readFile(SHIPPED_PRICES, 'utf8'), {
    validFrom: context.clock.now(),
  });
  await importPrices(context, models);
}

/**
 * Writes the currencies for the console, from those of the service. The console is a client of the API alone and
 * imports nothing of the service, so it has a copy; a test compares both.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FIAT_CREDIT_TYPES } from '../src/core/credit-types.ts';
import { currencyOf } from '../src/core/currencies.ts';
import { PACKAGE_ROOT } from '../src/core/package-root.ts';

const FILE = join(PACKAGE_ROOT, 'console/src/format/currencies.ts');

const entries = FIAT_CREDIT_TYPES.flatMap(({ id }) => {
  const currency = currencyOf(id);
  if (currency === null) return [];
  const { code, storedPlaces, minorUnitPlaces } = currency;
  return [`  '${id}': ['${code}', ${minorUnitPlaces}, ${storedPlaces}],`];
});

writeFileSync(
  FILE,
  `/** The currencies of ISO 4217 by the id of their pricing unit. Written by \`npm run console:currencies\`. */

/** Code, decimal places of the minor unit, and n where amounts are sent in units of 10^-n. */
export type CurrencyFacts = readonly [code: string, places: number, sentPlaces: number];

export const CURRENCIES: Readonly<Record<string, CurrencyFacts>> = {
${entries.join('\n')}
};
`,
);

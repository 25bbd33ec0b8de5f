/** The currencies of ISO 4217 and their minor units, from the package dinero.js. */
import * as currencies from 'dinero.js/currencies';

/**
 * Two currencies divide a unit into five, which has no decimal place. ISO 4217 gives them two places, like most others.
 */
const PLACES_WITHOUT_DECIMAL_MINOR_UNIT = 2;

const PLACES_BY_CODE: ReadonlyMap<string, number> = new Map(
  Object.values(currencies).map(({ code, base, exponent }) => [
    code,
    base === 10 ? exponent : PLACES_WITHOUT_DECIMAL_MINOR_UNIT,
  ]),
);

/** Every code, from A to Z. */
export const CURRENCY_CODES: readonly string[] = [...PLACES_BY_CODE.keys()].sort();

/** Decimal places of the minor unit: 2 for euros, 0 for yen, 3 for dinars. Undefined for an unknown code. */
export function minorUnitPlacesOfCode(code: string): number | undefined {
  return PLACES_BY_CODE.get(code);
}

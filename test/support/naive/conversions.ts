/** Conversion of usage priced in custom units to the currency. */
import type { Charge, Conversion } from './charges.ts';

/** The value of one of each custom unit, in hundredths of the currency's denomination. */
export type NaiveWorths = ReadonlyMap<string, number>;

/** One conversion for each charge in a unit that has a worth. */
export function naiveConversions(charges: readonly Charge[], worths: NaiveWorths): Conversion[] {
  const conversions: Conversion[] = [];
  for (const { creditTypeId, at, total } of charges) {
    const worth = creditTypeId === null ? undefined : worths.get(creditTypeId);
    if (creditTypeId === null || worth === undefined) continue;
    conversions.push({ creditTypeId, at, quantity: total, total: total * worth });
  }
  return conversions;
}

/** The total of an invoice in hundred-millionths: charges in the currency, and conversions. */
export function naiveTotal(charges: readonly Charge[], currency: string, worths: NaiveWorths): number {
  let total = 0;
  for (const charge of charges) if (charge.creditTypeId === currency) total += charge.total * 100;
  for (const conversion of naiveConversions(charges, worths)) total += conversion.total;
  return total;
}

/** The address of a customer, as it stands on invoices. */
import { z } from 'zod';

const line = z.string().nullable();

export const billingAddress = z.object({
  line1: line,
  line2: line,
  city: line,
  postalCode: line,
  region: line,
  /** Two letters of ISO 3166-1. */
  country: line,
});
export type BillingAddress = z.output<typeof billingAddress>;

const REGIONS = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'code' });

/** The lines of a printed address; the country by its English name. */
export function addressLines({ line1, line2, city, postalCode, region, country }: BillingAddress): string[] {
  const place = [postalCode, city].filter((part) => part !== null).join(' ');
  const nation = country === null ? null : REGIONS.of(country);
  return [line1, line2, place, region, nation].flatMap((each) =>
    each === null || each === undefined || each === '' ? [] : [each],
  );
}

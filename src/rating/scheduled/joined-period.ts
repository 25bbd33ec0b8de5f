/**
 * Scheduled charges and commit purchases on usage invoices: an item joins the invoice of the billing period that ends
 * on its day, in UTC (docs/explanation/invoices.md, "Scheduled invoices").
 */
import { floorToDay, type Instant, type Interval } from '../../core/time.ts';
import { type PeriodTerms, periodContaining } from '../periods/billing-periods.ts';

/** The billing period that ends on the day of `at`; null if none does. */
export function periodEndingOnDayOf(terms: PeriodTerms, at: Instant): Interval | null {
  const day = floorToDay(at);
  const before = Math.max(day - 1, terms.contract.start);
  const period = periodContaining(terms, before);
  return period !== null && floorToDay(period.end) === day ? period : null;
}

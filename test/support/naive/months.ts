/** The month of an invoice, found among all months by comparing text as the API has it. */

export interface DatedInvoice {
  readonly issued_at: string;
  /** Absent: it bills no period. */
  readonly end_timestamp?: string | undefined;
}

/** `2026-01` to `2026-12` for 2026 and 2026. */
export function monthsOfYears(from: number, to: number): string[] {
  const years = Array.from({ length: to - from + 1 }, (_, index) => String(from + index));
  const numbers = ['01', '02', '03', '04', '05', '06', '07', '08', '09', '10', '11', '12'];
  return years.flatMap((year) => numbers.map((number) => `${year}-${number}`));
}

const MONTHS = monthsOfYears(2000, 2099);
const FIRSTS = MONTHS.map((month) => `${month}-01T00:00:00.000Z`);

/** Throws for an invoice that is in no month or in two of them. */
export function naiveMonth({ issued_at, end_timestamp }: DatedInvoice): string {
  const months = MONTHS.filter((_, index) => {
    const [first = '', next = ''] = [FIRSTS[index], FIRSTS[index + 1]];
    return end_timestamp === undefined
      ? issued_at >= first && issued_at < next
      : end_timestamp > first && end_timestamp <= next;
  });
  const [month] = months;
  if (month === undefined || months.length > 1) throw new Error(`months of an invoice: ${months.join(', ')}`);
  return month;
}

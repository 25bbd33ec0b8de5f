/** Schedules of when an amount can be used, and of when an amount is invoiced. */
import { z } from 'zod';
import type { Decimal } from '../decimal.ts';
import type { Instant } from '../time.ts';
import { exactText, instantValue, listOf, objectOf } from './values.ts';

/** An amount that can be drawn down from `startingAt` until `endingBefore`. Each has its own balance. */
export const accessSegment = objectOf({
  id: z.string(),
  amount: exactText,
  startingAt: instantValue,
  endingBefore: instantValue,
});
export type AccessSegment = z.output<typeof accessSegment>;

/** Segments in the order in which they were sent. */
export const accessSchedule = objectOf({ creditTypeId: z.string(), segments: listOf(accessSegment) });
export type AccessSchedule = z.output<typeof accessSchedule>;

/** `amount` is `unitPrice` × `quantity`. */
const invoiceItem = objectOf({
  id: z.string(),
  timestamp: instantValue,
  unitPrice: exactText,
  quantity: exactText,
  amount: exactText,
});
export type InvoiceItem = z.output<typeof invoiceItem>;

/** Items in the order of their timestamps. */
export const invoiceSchedule = objectOf({
  creditTypeId: z.string(),
  /** Commits only: the amounts are recorded, but not invoiced. */
  doNotInvoice: z.boolean(),
  items: listOf(invoiceItem),
});

interface AccessSegmentInput {
  readonly amount: Decimal;
  readonly startingAt: Instant;
  readonly endingBefore: Instant;
}

export interface AccessScheduleInput {
  /** Null: US cents. */
  readonly creditTypeId: string | null;
  readonly segments: readonly AccessSegmentInput[];
}

/** An amount, or a unit price with a quantity; null: omitted. */
export interface AmountInput {
  readonly amount: Decimal | null;
  readonly unitPrice: Decimal | null;
  readonly quantity: Decimal | null;
}

interface InvoiceItemInput extends AmountInput {
  readonly timestamp: Instant;
}

export const AMOUNT_DISTRIBUTIONS = ['DIVIDED', 'DIVIDED_ROUNDED', 'EACH'] as const;
export const SCHEDULE_FREQUENCIES = ['WEEKLY', 'MONTHLY', 'QUARTERLY', 'SEMI_ANNUAL', 'ANNUAL'] as const;
export type ScheduleFrequency = (typeof SCHEDULE_FREQUENCIES)[number];

export interface RecurringScheduleInput extends AmountInput {
  readonly startingAt: Instant;
  readonly endingBefore: Instant;
  readonly frequency: ScheduleFrequency;
  readonly amountDistribution: (typeof AMOUNT_DISTRIBUTIONS)[number];
}

/** One of `items` and `recurring` is given. */
export interface InvoiceScheduleInput {
  /** Null: US cents. */
  readonly creditTypeId: string | null;
  readonly doNotInvoice: boolean;
  readonly items: readonly InvoiceItemInput[] | null;
  readonly recurring: RecurringScheduleInput | null;
}

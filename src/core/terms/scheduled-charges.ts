/** Amounts that are invoiced on given dates, independent of usage. */
import { z } from 'zod';
import { type InvoiceScheduleInput, invoiceSchedule } from './schedules.ts';
import { instantValue, objectOf } from './values.ts';

export const scheduledCharge = objectOf({
  id: z.string(),
  contractId: z.string(),
  /** A FIXED product. */
  productId: z.string(),
  name: z.string().nullable(),
  schedule: invoiceSchedule,
  createdAt: instantValue,
  createdBy: z.string(),
  archivedAt: instantValue.nullable(),
});
export type ScheduledCharge = z.output<typeof scheduledCharge>;

/** A charge as a client describes it. Null: not given. */
export type ScheduledChargeInput = Omit<
  ScheduledCharge,
  'id' | 'contractId' | 'schedule' | 'createdAt' | 'createdBy' | 'archivedAt'
> & {
  readonly schedule: InvoiceScheduleInput;
  readonly customFields: Readonly<Record<string, string>>;
};

/** Amounts that are invoiced on given dates, independent of usage: charges, and discounts with negative amounts. */
import { z } from 'zod';
import { type InvoiceScheduleInput, invoiceSchedule } from './schedules.ts';
import { instantValue, objectOf } from './values.ts';

export const SCHEDULED_CHARGE_KINDS = ['CHARGE', 'DISCOUNT'] as const;

export const scheduledCharge = objectOf({
  id: z.string(),
  contractId: z.string(),
  /** The amounts of a DISCOUNT are positive, and its lines negative. */
  kind: z.enum(SCHEDULED_CHARGE_KINDS).default('CHARGE'),
  /** A FIXED product. */
  productId: z.string(),
  name: z.string().nullable(),
  /** Set for a charge that was added to a usage invoice. */
  description: z.string().nullable().default(null),
  schedule: invoiceSchedule,
  /** Whether it joins a usage invoice although the contract has its charges on separate invoices. */
  onUsageInvoice: z.boolean().default(false),
  createdAt: instantValue,
  createdBy: z.string(),
  archivedAt: instantValue.nullable(),
});
export type ScheduledCharge = z.output<typeof scheduledCharge>;

/** A charge as a client describes it. Null: omitted. */
export type ScheduledChargeInput = Pick<ScheduledCharge, 'productId' | 'name'> & {
  readonly schedule: InvoiceScheduleInput;
  readonly customFields: Readonly<Record<string, string>>;
};

/** Scheduled charges and discounts on the wire; charges also as templates and patches. */

import type { TermNames } from '../../../billing/contracts/term-names.ts';
import { customFieldsOf } from '../../../core/custom-fields.ts';
import type { ScheduledCharge } from '../../../core/terms/scheduled-charges.ts';
import { answered, described, optional, patched } from '../description.ts';
import { customFields, id, instant, product, text } from '../kinds.ts';
import { record } from '../record.ts';
import {
  invoiceSchedule,
  invoiceSchedulePatch,
  invoiceScheduleV2,
  relativeInvoiceSchedule,
} from './schedules.ts';

const plain = {
  id: answered(id),
  productId: described('A FIXED product.', product),
  name: described('Shown on invoices.', optional(text)),
  customFields,
};

const archivedAt = answered(optional(instant));

export const scheduledCharge = record(
  { ...plain, schedule: invoiceSchedule, archivedAt },
  { id: 'ScheduledCharge' },
);

/** v2 edits. */
export const scheduledChargeV2 = {
  ...scheduledCharge,
  input: record({ ...plain, schedule: invoiceScheduleV2 }, { id: { sent: 'ScheduledChargeInputV2' } }).input,
};

export const discount = record(
  { ...plain, schedule: described('Amounts by which invoices are reduced: not negative.', invoiceSchedule) },
  { id: 'Discount' },
);

/** v2 edits. */
export const discountV2 = {
  ...discount,
  input: record({ ...plain, schedule: invoiceScheduleV2 }, { id: { sent: 'DiscountInputV2' } }).input,
};

export function isDiscount({ kind }: ScheduledCharge): boolean {
  return kind === 'DISCOUNT';
}

export const scheduledChargeTemplate = record(
  { ...plain, schedule: relativeInvoiceSchedule },
  { id: 'ScheduledChargeTemplate' },
);

export const scheduledChargePatch = record(
  {
    id: { ...id, sentAs: 'scheduled_charge_id' },
    ...patched({ name: optional(text), invoiceSchedule: invoiceSchedulePatch }),
  },
  { id: { sent: 'UpdateScheduledChargeInput', answered: 'ScheduledChargeUpdate' } },
);

/** A charge or a discount with all data that answers show. */
export function chargeView(from: ScheduledCharge, names: TermNames) {
  return { ...from, customFields: customFieldsOf(names.customFields, from.id) };
}

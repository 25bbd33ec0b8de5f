/** How scheduled charges look on the wire. */
import { z } from 'zod';
import { customFieldsOf } from '../../../core/custom-fields.ts';
import type { ScheduledCharge, ScheduledChargeInput } from '../../../core/terms/scheduled-charges.ts';
import { formatInstant } from '../../../core/time.ts';
import { customFields, timestamp, uuid } from '../fields.ts';
import {
  invoiceScheduleFromWire,
  invoiceScheduleInput,
  invoiceScheduleInputV2,
  invoiceScheduleOutput,
  invoiceScheduleToWire,
} from './schedule-schemas.ts';
import { given, namedProduct, productToWire, type TermNames } from './term-fields.ts';

const common = {
  product_id: uuid.meta({ description: 'A FIXED product.' }),
  name: z.string().min(1).nullish().meta({ description: 'Shown on invoices.' }),
  custom_fields: customFields.nullish(),
};

export const scheduledChargeInput = z
  .object({ ...common, schedule: invoiceScheduleInput })
  .meta({ id: 'ScheduledChargeInput' });

/** Of v2 edits. */
export const scheduledChargeInputV2 = z
  .object({ ...common, schedule: invoiceScheduleInputV2 })
  .meta({ id: 'ScheduledChargeInputV2' });

export const scheduledChargeOutput = z
  .object({
    id: uuid,
    product: namedProduct,
    name: z.string().optional(),
    schedule: invoiceScheduleOutput,
    custom_fields: customFields,
    archived_at: timestamp.optional(),
  })
  .meta({ id: 'ScheduledCharge' });

export function scheduledChargeFromWire(
  wire: z.output<typeof scheduledChargeInput> | z.output<typeof scheduledChargeInputV2>,
): ScheduledChargeInput {
  return {
    productId: wire.product_id,
    name: wire.name ?? null,
    schedule: invoiceScheduleFromWire(wire.schedule),
    customFields: wire.custom_fields ?? {},
  };
}

export function scheduledChargeToWire(
  from: ScheduledCharge,
  names: TermNames,
): z.input<typeof scheduledChargeOutput> {
  return {
    id: from.id,
    product: productToWire(from.productId, names),
    ...given('name', from.name),
    schedule: invoiceScheduleToWire(from.schedule, names),
    custom_fields: customFieldsOf(names.customFields, from.id),
    ...given('archived_at', from.archivedAt === null ? null : formatInstant(from.archivedAt)),
  };
}

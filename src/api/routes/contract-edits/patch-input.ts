/** What a client sends to change terms that exist. */
import { z } from 'zod';
import type {
  AccessSchedulePatch,
  ApplicabilityPatch,
  CommitPatch,
  InvoiceSchedulePatch,
  RecurringCommitPatch,
  ScheduledChargePatch,
} from '../../../core/terms/patches.ts';
import { exactNumber, hourAlignedTimestamp, timestamp, uuid } from '../../wire/fields.ts';
import {
  applicabilityFromWire,
  applicabilityInput,
  fraction,
  hierarchyAccessFromWire,
  hierarchyAccessInput,
  priority,
  rateTarget,
  roundingFromWire,
  roundingInput,
} from '../../wire/terms/term-fields.ts';

/** Ten years of days: more items in one schedule are a mistake. */
const ITEMS_MAX = 3_660;

const removedItems = z
  .array(z.object({ id: uuid }))
  .max(ITEMS_MAX)
  .nullish();

const accessSchedulePatch = z
  .object({
    add_schedule_items: z
      .array(
        z.object({
          amount: exactNumber({ min: '0' }),
          starting_at: hourAlignedTimestamp,
          ending_before: hourAlignedTimestamp,
        }),
      )
      .max(ITEMS_MAX)
      .nullish(),
    update_schedule_items: z
      .array(
        z.object({
          id: uuid,
          amount: exactNumber({ min: '0' }).nullish(),
          starting_at: hourAlignedTimestamp.nullish(),
          ending_before: hourAlignedTimestamp.nullish(),
        }),
      )
      .max(ITEMS_MAX)
      .nullish(),
    remove_schedule_items: removedItems,
  })
  .meta({ id: 'UpdateAccessScheduleInput' });

const amounts = {
  amount: exactNumber().nullish(),
  quantity: exactNumber().nullish(),
  unit_price: exactNumber().nullish(),
};

const invoiceSchedulePatch = z
  .object({
    add_schedule_items: z
      .array(z.object({ timestamp, ...amounts }))
      .max(ITEMS_MAX)
      .nullish(),
    update_schedule_items: z
      .array(z.object({ id: uuid, timestamp: timestamp.nullish(), ...amounts }))
      .max(ITEMS_MAX)
      .nullish(),
    remove_schedule_items: removedItems,
  })
  .meta({ id: 'UpdateInvoiceScheduleInput' });

/** What can be changed of commits and of credits. */
const balancePatch = {
  name: z.string().min(1).nullish(),
  description: z.string().nullish(),
  access_schedule: accessSchedulePatch.nullish(),
  rollover_fraction: fraction.nullish(),
  ...applicabilityInput,
  product_id: uuid.nullish(),
  hierarchy_configuration: hierarchyAccessInput.nullish(),
  priority: priority.nullish().meta({ description: 'Null: the default, 100.' }),
  rate_type: rateTarget.nullish(),
};

export const commitPatchInput = z
  .object({ commit_id: uuid, ...balancePatch, invoice_schedule: invoiceSchedulePatch.nullish() })
  .meta({ id: 'UpdateCommitInput' });

export const creditPatchInput = z
  .object({ credit_id: uuid, ...balancePatch })
  .meta({ id: 'UpdateCreditInput' });

const recurringAmount = z.object({
  unit_price: exactNumber({ min: '0' }).nullish(),
  quantity: exactNumber({ min: '0' }).nullish(),
});

const recurringPatch = {
  access_amount: recurringAmount.nullish(),
  ending_before: hourAlignedTimestamp.nullish().meta({ description: 'Null: until the contract ends.' }),
  rate_type: rateTarget.nullish().meta({ description: 'Of what is made from now on.' }),
};

export const recurringCommitPatchInput = z
  .object({
    recurring_commit_id: uuid,
    ...recurringPatch,
    invoice_amount: recurringAmount.nullish(),
    proration_rounding: z
      .object({ access: roundingInput.nullish(), invoice: roundingInput.nullish() })
      .nullish(),
  })
  .meta({ id: 'UpdateRecurringCommitInput' });

export const recurringCreditPatchInput = z
  .object({
    recurring_credit_id: uuid,
    ...recurringPatch,
    proration_rounding: z.object({ access: roundingInput.nullish() }).nullish(),
  })
  .meta({ id: 'UpdateRecurringCreditInput' });

export const scheduledChargePatchInput = z
  .object({
    scheduled_charge_id: uuid,
    name: z.string().min(1).nullish(),
    invoice_schedule: invoiceSchedulePatch.nullish(),
  })
  .meta({ id: 'UpdateScheduledChargeInput' });

export function commitPatchFromWire(wire: z.output<typeof commitPatchInput>): CommitPatch {
  return {
    ...balancePatchFromWire(wire),
    id: wire.commit_id,
    invoiceSchedule: wire.invoice_schedule == null ? undefined : invoicePatchFromWire(wire.invoice_schedule),
  };
}

export function creditPatchFromWire(wire: z.output<typeof creditPatchInput>): CommitPatch {
  return { ...balancePatchFromWire(wire), id: wire.credit_id };
}

function balancePatchFromWire(wire: z.output<z.ZodObject<typeof balancePatch>>) {
  const { access_schedule: access, hierarchy_configuration: hierarchy } = wire;
  return {
    name: wire.name,
    description: wire.description,
    productId: wire.product_id ?? undefined,
    priority: wire.priority,
    rateType: wire.rate_type ?? undefined,
    rolloverFraction: wire.rollover_fraction,
    accessSchedule: access == null ? undefined : accessPatchFromWire(access),
    ...applicabilityPatchFromWire(wire),
    hierarchyAccess: hierarchy === undefined ? undefined : hierarchyAccessFromWire(hierarchy),
  };
}

export function applicabilityPatchFromWire(
  wire: z.output<z.ZodObject<typeof applicabilityInput>>,
): ApplicabilityPatch {
  const { specifiers } = applicabilityFromWire(wire);
  return {
    productIds: wire.applicable_product_ids,
    productTags: wire.applicable_product_tags,
    specifiers: wire.specifiers == null ? wire.specifiers : specifiers,
  };
}

function accessPatchFromWire(wire: z.output<typeof accessSchedulePatch>): AccessSchedulePatch {
  return {
    add: (wire.add_schedule_items ?? []).map((item) => ({
      amount: item.amount,
      startingAt: item.starting_at,
      endingBefore: item.ending_before,
    })),
    update: (wire.update_schedule_items ?? []).map((item) => ({
      id: item.id,
      amount: item.amount ?? undefined,
      startingAt: item.starting_at ?? undefined,
      endingBefore: item.ending_before ?? undefined,
    })),
    remove: (wire.remove_schedule_items ?? []).map((item) => item.id),
  };
}

function invoicePatchFromWire(wire: z.output<typeof invoiceSchedulePatch>): InvoiceSchedulePatch {
  return {
    add: (wire.add_schedule_items ?? []).map((item) => ({
      timestamp: item.timestamp,
      ...amountsFromWire(item),
    })),
    update: (wire.update_schedule_items ?? []).map((item) => ({
      id: item.id,
      timestamp: item.timestamp ?? undefined,
      ...amountsFromWire(item),
    })),
    remove: (wire.remove_schedule_items ?? []).map((item) => item.id),
  };
}

function amountsFromWire(wire: z.output<z.ZodObject<typeof amounts>>) {
  return {
    amount: wire.amount ?? undefined,
    unitPrice: wire.unit_price ?? undefined,
    quantity: wire.quantity ?? undefined,
  };
}

export function recurringCommitPatchFromWire(
  wire: z.output<typeof recurringCommitPatchInput>,
): RecurringCommitPatch {
  const { invoice_amount: invoice, proration_rounding: rounding } = wire;
  return {
    ...recurringPatchFromWire(wire),
    id: wire.recurring_commit_id,
    invoiceAmount: invoice == null ? undefined : recurringAmountFromWire(invoice),
    prorationRounding:
      rounding == null
        ? rounding
        : {
            access: roundingPatchFromWire(rounding.access),
            invoice: roundingPatchFromWire(rounding.invoice),
          },
  };
}

export function recurringCreditPatchFromWire(
  wire: z.output<typeof recurringCreditPatchInput>,
): RecurringCommitPatch {
  const { proration_rounding: rounding } = wire;
  return {
    ...recurringPatchFromWire(wire),
    id: wire.recurring_credit_id,
    prorationRounding: rounding == null ? rounding : { access: roundingPatchFromWire(rounding.access) },
  };
}

function recurringPatchFromWire(wire: z.output<z.ZodObject<typeof recurringPatch>>) {
  return {
    accessAmount: wire.access_amount == null ? undefined : recurringAmountFromWire(wire.access_amount),
    endingBefore: wire.ending_before,
    rateType: wire.rate_type ?? undefined,
  };
}

function recurringAmountFromWire(wire: z.output<typeof recurringAmount>) {
  return { unitPrice: wire.unit_price ?? undefined, quantity: wire.quantity ?? undefined };
}

/** Left out is left alone; null takes the rounding away. */
export function roundingPatchFromWire(wire: z.output<typeof roundingInput> | null | undefined) {
  return wire === undefined ? undefined : roundingFromWire(wire);
}

export function scheduledChargePatchFromWire(
  wire: z.output<typeof scheduledChargePatchInput>,
): ScheduledChargePatch {
  const { invoice_schedule: schedule } = wire;
  return {
    id: wire.scheduled_charge_id,
    name: wire.name,
    invoiceSchedule: schedule == null ? undefined : invoicePatchFromWire(schedule),
  };
}

/** How changes of terms look in the edit history. */
import { z } from 'zod';
import type {
  AccessSchedulePatch,
  ApplicabilityPatch,
  CommitPatch,
  InvoiceSchedulePatch,
  RecurringCommitPatch,
  ScheduledChargePatch,
} from '../../../core/terms/patches.ts';
import { formatInstant, type Instant } from '../../../core/time.ts';
import { exactValue, timestamp, uuid } from '../../wire/fields.ts';
import {
  applicabilityToWire,
  hierarchyAccessOutput,
  hierarchyAccessToWire,
  roundingOutput,
  roundingToWire,
  usageSpecifierOutput,
} from '../../wire/terms/term-fields.ts';

const removedItems = z.array(z.object({ id: uuid })).optional();

const accessPatchOutput = z
  .object({
    add_schedule_items: z
      .array(z.object({ amount: exactValue, starting_at: timestamp, ending_before: timestamp }))
      .optional(),
    update_schedule_items: z
      .array(
        z.object({
          id: uuid,
          amount: exactValue.optional(),
          starting_at: timestamp.optional(),
          ending_before: timestamp.optional(),
        }),
      )
      .optional(),
    remove_schedule_items: removedItems,
  })
  .meta({ id: 'AccessScheduleUpdate' });

const amounts = {
  amount: exactValue.optional(),
  quantity: exactValue.optional(),
  unit_price: exactValue.optional(),
};

const invoicePatchOutput = z
  .object({
    add_schedule_items: z.array(z.object({ timestamp, ...amounts })).optional(),
    update_schedule_items: z
      .array(z.object({ id: uuid, timestamp: timestamp.optional(), ...amounts }))
      .optional(),
    remove_schedule_items: removedItems,
  })
  .meta({ id: 'InvoiceScheduleUpdate' });

export const applicabilityPatchOutput = {
  applicable_product_ids: z.array(uuid).nullable().optional(),
  applicable_product_tags: z.array(z.string()).nullable().optional(),
  specifiers: z.array(usageSpecifierOutput).nullable().optional(),
};

const rateType = z.enum(['LIST_RATE', 'COMMIT_RATE']).optional();

const balancePatchOutput = {
  id: uuid,
  name: z.string().nullable().optional(),
  description: z.string().nullable().optional(),
  access_schedule: accessPatchOutput.optional(),
  rollover_fraction: exactValue.nullable().optional(),
  ...applicabilityPatchOutput,
  product_id: uuid.optional(),
  hierarchy_configuration: hierarchyAccessOutput.nullable().optional(),
  priority: exactValue.nullable().optional(),
  rate_type: rateType,
};

export const creditPatchOutput = z.object(balancePatchOutput).meta({ id: 'CreditUpdate' });
export const commitPatchOutput = z
  .object({ ...balancePatchOutput, invoice_schedule: invoicePatchOutput.optional() })
  .meta({ id: 'CommitUpdate' });

const amountPatchOutput = z.object({ unit_price: exactValue.optional(), quantity: exactValue.optional() });
const rounding = roundingOutput.nullable().optional();

export const recurringPatchOutput = z
  .object({
    id: uuid,
    access_amount: amountPatchOutput.optional(),
    invoice_amount: amountPatchOutput.optional(),
    ending_before: timestamp.nullable().optional(),
    rate_type: rateType,
    proration_rounding: z.object({ access: rounding, invoice: rounding }).nullable().optional(),
  })
  .meta({ id: 'RecurringCommitUpdate' });

export const scheduledChargePatchOutput = z
  .object({
    id: uuid,
    name: z.string().nullable().optional(),
    invoice_schedule: invoicePatchOutput.optional(),
  })
  .meta({ id: 'ScheduledChargeUpdate' });

/** Members that are undefined are not written. */
export function commitPatchToWire(from: CommitPatch): z.input<typeof commitPatchOutput> {
  const { accessSchedule, invoiceSchedule, hierarchyAccess } = from;
  return {
    id: from.id,
    name: from.name,
    description: from.description,
    access_schedule: accessSchedule && accessPatchToWire(accessSchedule),
    invoice_schedule: invoiceSchedule && invoicePatchToWire(invoiceSchedule),
    rollover_fraction: from.rolloverFraction,
    ...applicabilityPatchToWire(from),
    product_id: from.productId,
    hierarchy_configuration: hierarchyAccess && hierarchyAccessToWire(hierarchyAccess),
    priority: from.priority,
    rate_type: from.rateType,
  };
}

export function applicabilityPatchToWire({ productIds, productTags, specifiers }: ApplicabilityPatch) {
  const nothing = { productIds: [], productTags: [] };
  return {
    applicable_product_ids: productIds && [...productIds],
    applicable_product_tags: productTags && [...productTags],
    specifiers: specifiers && (applicabilityToWire({ ...nothing, specifiers }).specifiers ?? []),
  };
}

function accessPatchToWire(from: AccessSchedulePatch): z.input<typeof accessPatchOutput> {
  return {
    add_schedule_items: ifAny(
      from.add.map((item) => ({
        amount: item.amount,
        starting_at: formatInstant(item.startingAt),
        ending_before: formatInstant(item.endingBefore),
      })),
    ),
    update_schedule_items: ifAny(
      from.update.map((item) => ({
        id: item.id,
        amount: item.amount,
        starting_at: instantToWire(item.startingAt) ?? undefined,
        ending_before: instantToWire(item.endingBefore) ?? undefined,
      })),
    ),
    remove_schedule_items: ifAny(from.remove.map((id) => ({ id }))),
  };
}

function invoicePatchToWire(from: InvoiceSchedulePatch): z.input<typeof invoicePatchOutput> {
  return {
    add_schedule_items: ifAny(
      from.add.map((item) => ({ timestamp: formatInstant(item.timestamp), ...amountsToWire(item) })),
    ),
    update_schedule_items: ifAny(
      from.update.map((item) => ({
        id: item.id,
        timestamp: instantToWire(item.timestamp) ?? undefined,
        ...amountsToWire(item),
      })),
    ),
    remove_schedule_items: ifAny(from.remove.map((id) => ({ id }))),
  };
}

function amountsToWire({ amount, quantity, unitPrice }: Omit<InvoiceSchedulePatch['update'][number], 'id'>) {
  return { amount, quantity, unit_price: unitPrice };
}

export function recurringPatchToWire(from: RecurringCommitPatch): z.input<typeof recurringPatchOutput> {
  const { accessAmount, invoiceAmount, prorationRounding: roundings } = from;
  const amountToWire = (amount: typeof accessAmount) =>
    amount && { unit_price: amount.unitPrice, quantity: amount.quantity };
  return {
    id: from.id,
    access_amount: amountToWire(accessAmount),
    invoice_amount: amountToWire(invoiceAmount),
    ending_before: instantToWire(from.endingBefore),
    rate_type: from.rateType,
    proration_rounding: roundings && {
      access: roundings.access && roundingToWire(roundings.access),
      invoice: roundings.invoice && roundingToWire(roundings.invoice),
    },
  };
}

export function scheduledChargePatchToWire(
  from: ScheduledChargePatch,
): z.input<typeof scheduledChargePatchOutput> {
  return {
    id: from.id,
    name: from.name,
    invoice_schedule: from.invoiceSchedule && invoicePatchToWire(from.invoiceSchedule),
  };
}

/** Null stays null: something was taken away. */
export function instantToWire(at: Instant | null | undefined): string | null | undefined {
  return at == null ? at : formatInstant(at);
}

/** A group without members is not shown. */
export function ifAny<Item>(list: Item[]): Item[] | undefined {
  return list.length === 0 ? undefined : list;
}

/** How a client describes the term templates of a package. */
import { z } from 'zod';
import type {
  RelativeCommit,
  RelativeOverride,
  RelativeRecurringCommit,
  RelativeScheduledCharge,
  RelativeSubscription,
} from '../../../billing/packages/relative-terms.ts';
import { INVOICE_PLACEMENTS } from '../../../core/terms/subscriptions.ts';
import { customFields, enumIn, exactNumber, uuid, wholeNumber } from '../../wire/fields.ts';
import { overrideTermFromWire, overrideTermInput } from '../../wire/terms/override-schemas.ts';
import { recurringTermFromWire, recurringTermInput } from '../../wire/terms/recurring-commit-schemas.ts';
import {
  duration,
  offset,
  rangeFromWire,
  rangeInput,
  relativeAccessScheduleFromWire,
  relativeAccessScheduleInput,
  relativeCommitInvoiceScheduleInput,
  relativeInvoiceScheduleFromWire,
  relativeInvoiceScheduleInput,
} from '../../wire/terms/relative-schemas.ts';
import { subscriptionTermFromWire, subscriptionTermInput } from '../../wire/terms/subscription-schemas.ts';
import {
  applicabilityFromWire,
  applicabilityInput,
  fraction,
  priority,
  rateTarget,
} from '../../wire/terms/term-fields.ts';

/** Far above the 1,000 seats that may hold balances of their own. */
const SEATS_MAX = 100_000;

/** What commits and credits have in common. */
const balanceInput = {
  name: z.string().min(1).nullish().meta({ description: 'Shown on invoices.' }),
  description: z.string().nullish(),
  product_id: uuid.meta({ description: 'A FIXED product, under whose name it is shown.' }),
  access_schedule: relativeAccessScheduleInput,
  priority: priority.nullish(),
  rate_type: rateTarget.nullish().meta({ description: 'Default: LIST_RATE.' }),
  ...applicabilityInput,
  custom_fields: customFields.nullish(),
};

export const creditTemplateInput = z.object(balanceInput).meta({ id: 'CreditTemplateInput' });

export const commitTemplateInput = z
  .object({
    ...balanceInput,
    type: enumIn(['PREPAID', 'POSTPAID']),
    invoice_schedule: relativeCommitInvoiceScheduleInput
      .nullish()
      .meta({ description: 'Required for POSTPAID. A PREPAID commit without one costs nothing.' }),
    rollover_fraction: fraction.nullish(),
    temporary_id: z
      .string()
      .min(1)
      .nullish()
      .meta({ description: 'By which overrides of the same package name this commit.' }),
  })
  .meta({ id: 'CommitTemplateInput' });

/** Which contracts of a hierarchy may use a balance is not a matter of packages. */
const { hierarchy_configuration: _, proration_rounding: __, ...recurringInput } = recurringTermInput;
const { access: accessRounding, invoice: invoiceRounding } = recurringTermInput.proration_rounding
  .unwrap()
  .unwrap().shape;

export const recurringCreditTemplateInput = z
  .object({
    ...recurringInput,
    ...rangeInput,
    proration_rounding: z.object({ access: accessRounding }).nullish(),
  })
  .meta({ id: 'RecurringCreditTemplateInput' });

export const recurringCommitTemplateInput = z
  .object({
    ...recurringInput,
    ...rangeInput,
    proration_rounding: z.object({ access: accessRounding, invoice: invoiceRounding }).nullish(),
    invoice_amount: z
      .object({
        unit_price: exactNumber({ min: '0' }),
        quantity: exactNumber({ min: '0' }),
        credit_type_id: uuid,
      })
      .nullish()
      .meta({ description: 'Left out: the commits cost nothing.' }),
  })
  .meta({ id: 'RecurringCommitTemplateInput' });

export const overrideTemplateInput = z
  .object({
    ...overrideTermInput,
    override_specifiers: overrideTermInput.override_specifiers.unwrap().unwrap(),
    ...rangeInput,
  })
  .meta({ id: 'OverrideTemplateInput' });

export const scheduledChargeTemplateInput = z
  .object({
    product_id: uuid.meta({ description: 'A FIXED product.' }),
    name: z.string().min(1).nullish().meta({ description: 'Shown on invoices.' }),
    schedule: relativeInvoiceScheduleInput,
    custom_fields: customFields.nullish(),
  })
  .meta({ id: 'ScheduledChargeTemplateInput' });

export const subscriptionTemplateInput = z
  .object({
    ...subscriptionTermInput,
    starting_at_offset: offset.nullish().meta({ description: 'Default: the contract’s start.' }),
    duration: duration.nullish().meta({ description: 'Default: until the contract ends.' }),
    seat_config: z
      .object({
        seat_group_key: z.string().min(1),
        initial_unassigned_seats: wholeNumber(0, SEATS_MAX).nullish(),
      })
      .nullish()
      .meta({ description: 'With SEAT_BASED.' }),
    billing_cycle_config: z
      .object({
        invoice_placement: enumIn(INVOICE_PLACEMENTS)
          .nullish()
          .meta({ description: 'Default: ON_USAGE_INVOICE.' }),
      })
      .nullish(),
  })
  .meta({ id: 'SubscriptionTemplateInput' });

export function commitTemplateFromWire(wire: z.output<typeof commitTemplateInput>): RelativeCommit {
  return {
    ...balanceFromWire(wire),
    type: wire.type,
    rolloverFraction: wire.rollover_fraction ?? null,
    invoiceSchedule:
      wire.invoice_schedule == null ? null : relativeInvoiceScheduleFromWire(wire.invoice_schedule),
    temporaryId: wire.temporary_id ?? null,
  };
}

export function creditTemplateFromWire(wire: z.output<typeof creditTemplateInput>): RelativeCommit {
  return {
    ...balanceFromWire(wire),
    type: 'CREDIT',
    rolloverFraction: null,
    invoiceSchedule: null,
    temporaryId: null,
  };
}

function balanceFromWire(wire: z.output<z.ZodObject<typeof balanceInput>>) {
  return {
    name: wire.name ?? null,
    description: wire.description ?? null,
    productId: wire.product_id,
    priority: wire.priority ?? null,
    rateType: wire.rate_type ?? null,
    accessSchedule: relativeAccessScheduleFromWire(wire.access_schedule),
    applicability: applicabilityFromWire(wire),
    customFields: wire.custom_fields ?? {},
  };
}

export function recurringCommitTemplateFromWire(
  wire: z.output<typeof recurringCommitTemplateInput>,
): RelativeRecurringCommit {
  const { invoice_amount: amount } = wire;
  return {
    ...recurringFromWire(wire),
    kind: 'COMMIT',
    invoiceAmount:
      amount == null
        ? null
        : { unitPrice: amount.unit_price, quantity: amount.quantity, creditTypeId: amount.credit_type_id },
  };
}

export function recurringCreditTemplateFromWire(
  wire: z.output<typeof recurringCreditTemplateInput>,
): RelativeRecurringCommit {
  return { ...recurringFromWire(wire), kind: 'CREDIT', invoiceAmount: null };
}

function recurringFromWire(
  wire: z.output<typeof recurringCommitTemplateInput> | z.output<typeof recurringCreditTemplateInput>,
) {
  const { hierarchyAccess: _none, ...term } = recurringTermFromWire(wire);
  return { ...term, ...rangeFromWire(wire) };
}

export function overrideTemplateFromWire(wire: z.output<typeof overrideTemplateInput>): RelativeOverride {
  return { ...overrideTermFromWire(wire), ...rangeFromWire(wire) };
}

export function scheduledChargeTemplateFromWire(
  wire: z.output<typeof scheduledChargeTemplateInput>,
): RelativeScheduledCharge {
  return {
    productId: wire.product_id,
    name: wire.name ?? null,
    schedule: relativeInvoiceScheduleFromWire(wire.schedule),
    customFields: wire.custom_fields ?? {},
  };
}

export function subscriptionTemplateFromWire(
  wire: z.output<typeof subscriptionTemplateInput>,
): RelativeSubscription {
  const { seat_config: seats, ...rest } = wire;
  return {
    ...subscriptionTermFromWire(rest),
    startingAtOffset: wire.starting_at_offset ?? null,
    duration: wire.duration ?? null,
    invoicePlacement: wire.billing_cycle_config?.invoice_placement ?? null,
    seatConfig:
      seats == null
        ? null
        : {
            seatGroupKey: seats.seat_group_key,
            initialUnassignedSeats: seats.initial_unassigned_seats ?? null,
          },
  };
}

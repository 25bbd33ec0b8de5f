/** How subscriptions look on the wire. */
import { z } from 'zod';
import { BILLING_FREQUENCIES } from '../../../core/catalogue.ts';
import { customFieldsOf } from '../../../core/custom-fields.ts';
import type { Contract } from '../../../core/terms/contract.ts';
import {
  COLLECTION_SCHEDULES,
  INVOICE_BEHAVIORS,
  INVOICE_PLACEMENTS,
  QUANTITY_MODES,
  type Subscription,
  type SubscriptionInput,
} from '../../../core/terms/subscriptions.ts';
import { formatInstant, type Instant, type Interval } from '../../../core/time.ts';
import {
  type SubscriptionPeriods,
  subscriptionAnchor,
  subscriptionPeriods,
} from '../../../rating/periods/subscription-periods.ts';
import { quantitySegments } from '../../../rating/subscriptions/quantities.ts';
import {
  customFields,
  enumIn,
  exactNumber,
  exactValue,
  hourAlignedTimestamp,
  timestamp,
  uuid,
  wholeNumber,
} from '../fields.ts';
import {
  given,
  namedProduct,
  productToWire,
  roundingFromWire,
  roundingInput,
  roundingOutput,
  roundingToWire,
  type TermNames,
} from './term-fields.ts';

/** Far above the 1,000 seats that may hold balances of their own. */
const SEATS_MAX = 100_000;

/** Everything but the dates: packages have these fields too, with relative dates. */
export const subscriptionTermInput = {
  subscription_rate: z
    .object({ billing_frequency: enumIn(BILLING_FREQUENCIES), product_id: uuid })
    .meta({ description: 'A rate of a SUBSCRIPTION product on the rate card.' }),
  name: z.string().nullish(),
  description: z.string().nullish(),
  collection_schedule: enumIn(COLLECTION_SCHEDULES),
  proration: z.object({
    is_prorated: z.boolean().nullish().meta({ description: 'Default: false.' }),
    invoice_behavior: enumIn(INVOICE_BEHAVIORS)
      .nullish()
      .meta({ description: 'Default: BILL_IMMEDIATELY with ADVANCE, else BILL_ON_NEXT_COLLECTION_DATE.' }),
    rounding: roundingInput.nullish(),
  }),
  initial_quantity: exactNumber({ min: '0' }).nullish().meta({ description: 'With QUANTITY_ONLY.' }),
  quantity_management_mode: enumIn(QUANTITY_MODES).nullish().meta({ description: 'Default: QUANTITY_ONLY.' }),
  seat_config: z
    .object({
      seat_group_key: z.string().min(1),
      initial_seat_ids: z.array(z.string().min(1)).max(SEATS_MAX),
      initial_unassigned_seats: wholeNumber(0, SEATS_MAX).nullish(),
    })
    .nullish()
    .meta({ description: 'With SEAT_BASED.' }),
  custom_fields: customFields.nullish(),
  temporary_id: z
    .string()
    .min(1)
    .nullish()
    .meta({ description: 'By which recurring terms of the same request name it.' }),
};

export const subscriptionInput = z
  .object({
    ...subscriptionTermInput,
    starting_at: hourAlignedTimestamp.nullish().meta({ description: 'Default: the contract’s start.' }),
    ending_before: hourAlignedTimestamp.nullish().meta({ description: 'Default: the contract’s end.' }),
    billing_cycle_config: z
      .object({
        anchor_date: hourAlignedTimestamp.nullish(),
        invoice_placement: enumIn(INVOICE_PLACEMENTS)
          .nullish()
          .meta({ description: 'Default: ON_USAGE_INVOICE.' }),
      })
      .nullish(),
  })
  .meta({ id: 'SubscriptionInput' });

const periodOutput = z.object({ starting_at: timestamp, ending_before: timestamp });

export const subscriptionOutput = z
  .object({
    id: uuid,
    subscription_rate: z.object({ billing_frequency: z.enum(BILLING_FREQUENCIES), product: namedProduct }),
    name: z.string().optional(),
    description: z.string().optional(),
    collection_schedule: z.enum(COLLECTION_SCHEDULES),
    proration: z.object({
      is_prorated: z.boolean(),
      invoice_behavior: z.enum(INVOICE_BEHAVIORS),
      rounding: roundingOutput.optional(),
    }),
    quantity_schedule: z
      .array(z.object({ quantity: exactValue, starting_at: timestamp, ending_before: timestamp.optional() }))
      .meta({ description: 'The present quantity and those that are scheduled.' }),
    billing_periods: z.object({
      previous: periodOutput.optional(),
      current: periodOutput.optional(),
      next: periodOutput.optional(),
    }),
    quantity_management_mode: z.enum(QUANTITY_MODES),
    seat_config: z.object({ seat_group_key: z.string() }).optional(),
    starting_at: timestamp,
    ending_before: timestamp.optional(),
    fiat_credit_type_id: uuid.optional(),
    billing_cycle_config: z.object({
      anchor_date: timestamp.meta({ description: 'The billing periods are counted from here.' }),
      invoice_placement: z.enum(INVOICE_PLACEMENTS),
    }),
    custom_fields: customFields,
  })
  .meta({ id: 'Subscription' });

export function subscriptionFromWire(wire: z.output<typeof subscriptionInput>): SubscriptionInput {
  return {
    ...subscriptionTermFromWire(wire),
    startingAt: wire.starting_at ?? null,
    endingBefore: wire.ending_before ?? null,
    anchorDate: wire.billing_cycle_config?.anchor_date ?? null,
    invoicePlacement: wire.billing_cycle_config?.invoice_placement ?? null,
  };
}

/** Everything but the dates. */
export function subscriptionTermFromWire(wire: z.output<z.ZodObject<typeof subscriptionTermInput>>) {
  const { seat_config: seats, proration } = wire;
  return {
    productId: wire.subscription_rate.product_id,
    billingFrequency: wire.subscription_rate.billing_frequency,
    name: wire.name ?? null,
    description: wire.description ?? null,
    collectionSchedule: wire.collection_schedule,
    isProrated: proration.is_prorated ?? null,
    invoiceBehavior: proration.invoice_behavior ?? null,
    prorationRounding: roundingFromWire(proration.rounding),
    initialQuantity: wire.initial_quantity ?? null,
    quantityManagementMode: wire.quantity_management_mode ?? null,
    seatConfig:
      seats == null
        ? null
        : {
            seatGroupKey: seats.seat_group_key,
            initialSeatIds: seats.initial_seat_ids,
            initialUnassignedSeats: seats.initial_unassigned_seats ?? null,
          },
    customFields: wire.custom_fields ?? {},
    temporaryId: wire.temporary_id ?? null,
  };
}

export interface SubscriptionContext {
  readonly contract: Contract;
  readonly names: TermNames;
  readonly now: Instant;
  /** The currency of the contract's rate card. */
  readonly fiatCreditTypeId: string | null;
}

export function subscriptionToWire(
  from: Subscription,
  context: SubscriptionContext,
): z.input<typeof subscriptionOutput> {
  return {
    id: from.id,
    subscription_rate: {
      billing_frequency: from.billingFrequency,
      product: productToWire(from.productId, context.names),
    },
    ...given('name', from.name),
    ...given('description', from.description),
    collection_schedule: from.collectionSchedule,
    proration: {
      is_prorated: from.isProrated,
      invoice_behavior: from.invoiceBehavior,
      ...given('rounding', from.prorationRounding === null ? null : roundingToWire(from.prorationRounding)),
    },
    quantity_schedule: quantityScheduleToWire(from, context.now),
    billing_periods: periodsToWire(subscriptionPeriods(context.contract, from, context.now)),
    quantity_management_mode: from.quantityManagementMode,
    ...given('seat_config', from.seatGroupKey === null ? null : { seat_group_key: from.seatGroupKey }),
    starting_at: formatInstant(from.startingAt),
    ...given('ending_before', from.endingBefore === null ? null : formatInstant(from.endingBefore)),
    ...given('fiat_credit_type_id', context.fiatCreditTypeId),
    billing_cycle_config: {
      anchor_date: formatInstant(subscriptionAnchor(context.contract, from)),
      invoice_placement: from.invoicePlacement,
    },
    custom_fields: customFieldsOf(context.names.customFields, from.id),
  };
}

function quantityScheduleToWire(from: Subscription, now: Instant) {
  const segments = quantitySegments(from);
  const open = segments.filter(({ interval }) => interval.end === null || interval.end > now);
  return open.map(({ interval, quantity }) => ({
    quantity,
    starting_at: formatInstant(interval.start),
    ...given('ending_before', interval.end === null ? null : formatInstant(interval.end)),
  }));
}

function periodsToWire({ previous, current, next }: SubscriptionPeriods) {
  return {
    ...given('previous', periodToWire(previous)),
    ...given('current', periodToWire(current)),
    ...given('next', periodToWire(next)),
  };
}

function periodToWire(period: Interval | null): z.input<typeof periodOutput> | null {
  if (period === null) return null;
  return { starting_at: formatInstant(period.start), ending_before: formatInstant(period.end) };
}

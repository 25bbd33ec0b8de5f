/** How changes of subscriptions and threshold settings look in the edit history. */
import { z } from 'zod';
import type {
  PrepaidBalanceThresholdPatch,
  SeatUpdates,
  SpendThresholdPatch,
  SubscriptionPatch,
} from '../../../core/terms/patches.ts';
import { formatInstant } from '../../../core/time.ts';
import { exactValue, timestamp, uuid } from '../../wire/fields.ts';
import { paymentGateOutput, paymentGateToWire } from '../../wire/terms/payment-gate-schemas.ts';
import { roundingOutput, roundingToWire } from '../../wire/terms/term-fields.ts';
import { applicabilityPatchOutput, applicabilityPatchToWire, ifAny, instantToWire } from './patch-output.ts';

const seatsOutput = z.array(z.object({ seat_ids: z.array(z.string()), starting_at: timestamp })).optional();
const seatCountsOutput = z.array(z.object({ quantity: z.int(), starting_at: timestamp })).optional();

export const subscriptionPatchOutput = z
  .object({
    id: uuid,
    ending_before: timestamp.nullable().optional(),
    quantity_management_mode_update: z
      .object({
        quantity_management_mode: z.literal('SEAT_BASED'),
        seat_config: z.object({ seat_group_key: z.string() }),
      })
      .optional(),
    quantity_updates: z
      .array(
        z.object({
          quantity: exactValue.optional(),
          quantity_delta: exactValue.optional(),
          starting_at: timestamp,
        }),
      )
      .optional(),
    seat_updates: z
      .object({
        add_seat_ids: seatsOutput,
        remove_seat_ids: seatsOutput,
        add_unassigned_seats: seatCountsOutput,
        remove_unassigned_seats: seatCountsOutput,
      })
      .optional(),
    proration_rounding: roundingOutput.nullable().optional(),
  })
  .meta({ id: 'SubscriptionsUpdate' });

export function subscriptionPatchToWire(from: SubscriptionPatch): z.input<typeof subscriptionPatchOutput> {
  const { seatGroupKey, seatUpdates } = from;
  return {
    id: from.id,
    ending_before: instantToWire(from.endingBefore),
    quantity_management_mode_update:
      seatGroupKey === undefined
        ? undefined
        : { quantity_management_mode: 'SEAT_BASED', seat_config: { seat_group_key: seatGroupKey } },
    quantity_updates: ifAny(
      from.quantityUpdates.map(({ quantity, quantityDelta, startingAt }) => ({
        quantity: quantity ?? undefined,
        quantity_delta: quantityDelta ?? undefined,
        starting_at: formatInstant(startingAt),
      })),
    ),
    seat_updates: seatUpdates && seatUpdatesToWire(seatUpdates),
    proration_rounding: from.prorationRounding && roundingToWire(from.prorationRounding),
  };
}

function seatUpdatesToWire(from: SeatUpdates) {
  const seats = (list: SeatUpdates['add']) =>
    ifAny(
      list.map(({ seatIds, startingAt }) => ({
        seat_ids: [...seatIds],
        starting_at: formatInstant(startingAt),
      })),
    );
  const counts = (list: SeatUpdates['addUnassigned']) =>
    ifAny(list.map(({ quantity, startingAt }) => ({ quantity, starting_at: formatInstant(startingAt) })));
  return {
    add_seat_ids: seats(from.add),
    remove_seat_ids: seats(from.remove),
    add_unassigned_seats: counts(from.addUnassigned),
    remove_unassigned_seats: counts(from.removeUnassigned),
  };
}

const thresholdCommitPatchOutput = {
  product_id: uuid.optional(),
  name: z.string().nullable().optional(),
  description: z.string().nullable().optional(),
  priority: exactValue.nullable().optional(),
};

const thresholdPatchOutput = {
  is_enabled: z.boolean().optional(),
  threshold_amount: exactValue.optional(),
  payment_gate_config: paymentGateOutput.optional(),
  discount_configuration: z
    .object({
      payment_fraction: exactValue.nullable().optional(),
      cap: z.object({ spend_tracker_alias: z.string(), amount: exactValue }).nullable().optional(),
    })
    .nullable()
    .optional(),
};

export const spendThresholdPatchOutput = z
  .object({ ...thresholdPatchOutput, commit: z.object(thresholdCommitPatchOutput).optional() })
  .meta({ id: 'SpendThresholdConfigurationUpdate' });

const customFieldFilter = z.object({ entity: z.string(), key: z.string(), value: z.string() });

export const prepaidBalanceThresholdPatchOutput = z
  .object({
    ...thresholdPatchOutput,
    recharge_to_amount: exactValue.optional(),
    custom_credit_type_id: uuid.nullable().optional(),
    commit: z.object({ ...thresholdCommitPatchOutput, ...applicabilityPatchOutput }).optional(),
    threshold_balance_specifiers: z
      .array(z.object({ exclude: z.array(z.object({ custom_field_filters: z.array(customFieldFilter) })) }))
      .nullable()
      .optional(),
  })
  .meta({ id: 'PrepaidBalanceThresholdConfigurationUpdate' });

export function spendThresholdPatchToWire(
  from: SpendThresholdPatch,
): z.input<typeof spendThresholdPatchOutput> {
  return { ...settingsToWire(from), commit: from.commit && thresholdCommitToWire(from.commit) };
}

export function prepaidBalanceThresholdPatchToWire(
  from: PrepaidBalanceThresholdPatch,
): z.input<typeof prepaidBalanceThresholdPatchOutput> {
  const { commit, balanceSpecifiers } = from;
  return {
    ...settingsToWire(from),
    recharge_to_amount: from.rechargeToAmount,
    custom_credit_type_id: from.customCreditTypeId,
    commit: commit && { ...thresholdCommitToWire(commit), ...applicabilityPatchToWire(commit) },
    threshold_balance_specifiers:
      balanceSpecifiers == null
        ? balanceSpecifiers
        : balanceSpecifiers.map(({ exclude }) => ({
            exclude: exclude.map((one) => ({ custom_field_filters: [...one.customFieldFilters] })),
          })),
  };
}

function settingsToWire({ paymentGate, discount, ...from }: Omit<SpendThresholdPatch, 'commit'>) {
  return {
    is_enabled: from.isEnabled,
    threshold_amount: from.thresholdAmount,
    payment_gate_config: paymentGate && paymentGateToWire(paymentGate),
    discount_configuration: discount && {
      payment_fraction: discount.paymentFraction,
      cap: discount.cap && {
        spend_tracker_alias: discount.cap.spendTrackerAlias,
        amount: discount.cap.amount,
      },
    },
  };
}

function thresholdCommitToWire(from: NonNullable<SpendThresholdPatch['commit']>) {
  return {
    product_id: from.productId,
    name: from.name,
    description: from.description,
    priority: from.priority,
  };
}

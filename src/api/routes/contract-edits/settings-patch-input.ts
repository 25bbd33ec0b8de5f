/** What a client sends to change subscriptions and threshold settings. */
import { z } from 'zod';
import type {
  PrepaidBalanceThresholdPatch,
  SeatUpdates,
  SpendThresholdPatch,
  SubscriptionPatch,
} from '../../../core/terms/patches.ts';
import { enumIn, exactNumber, hourAlignedTimestamp, uuid, wholeNumber } from '../../wire/fields.ts';
import { paymentGateFromWire, paymentGateInput } from '../../wire/terms/payment-gate-schemas.ts';
import { applicabilityInput, priority, roundingInput } from '../../wire/terms/term-fields.ts';
import {
  balanceSpecifiersFromWire,
  balanceSpecifiersInput,
  noProductFilters,
} from '../../wire/terms/threshold-schemas.ts';
import { applicabilityPatchFromWire, roundingPatchFromWire } from './patch-input.ts';

/** More changes in one call are a mistake. */
const UPDATES_MAX = 1_000;
const SEATS_MAX = 100_000;

const seatList = z
  .array(
    z.object({
      seat_ids: z.array(z.string().min(1)).min(1).max(SEATS_MAX),
      starting_at: hourAlignedTimestamp,
    }),
  )
  .max(UPDATES_MAX)
  .nullish();

const seatCountList = z
  .array(z.object({ quantity: wholeNumber(1, SEATS_MAX), starting_at: hourAlignedTimestamp }))
  .max(UPDATES_MAX)
  .nullish();

const seatUpdatesInput = z
  .object({
    add_seat_ids: seatList.meta({ description: 'They take unassigned seats first.' }),
    remove_seat_ids: seatList.meta({ description: 'Unknown ids are ignored.' }),
    add_unassigned_seats: seatCountList,
    remove_unassigned_seats: seatCountList.meta({ description: 'As far as there are any.' }),
  })
  .meta({ id: 'SubscriptionSeatUpdateInput', description: 'Removals count first.' });

export const subscriptionPatchInput = z
  .object({
    subscription_id: uuid,
    ending_before: hourAlignedTimestamp.nullish().meta({ description: 'Null: until the contract ends.' }),
    quantity_management_mode_update: z
      .object({
        quantity_management_mode: enumIn(['SEAT_BASED']),
        seat_config: z.object({ seat_group_key: z.string().min(1) }),
      })
      .nullish()
      .meta({ description: 'The present quantity becomes unassigned seats.' }),
    quantity_updates: z
      .array(
        z.object({
          quantity: exactNumber({ min: '0' }).nullish(),
          quantity_delta: exactNumber().nullish(),
          starting_at: hourAlignedTimestamp,
        }),
      )
      .max(UPDATES_MAX)
      .nullish()
      .meta({ description: 'Those of one date count in the order sent.' }),
    seat_updates: seatUpdatesInput.nullish(),
    proration_rounding: roundingInput.nullish(),
  })
  .meta({ id: 'UpdateSubscriptionInput' });

export function subscriptionPatchFromWire(wire: z.output<typeof subscriptionPatchInput>): SubscriptionPatch {
  return {
    id: wire.subscription_id,
    endingBefore: wire.ending_before,
    seatGroupKey: wire.quantity_management_mode_update?.seat_config.seat_group_key,
    quantityUpdates: (wire.quantity_updates ?? []).map((update) => ({
      startingAt: update.starting_at,
      quantity: update.quantity ?? null,
      quantityDelta: update.quantity_delta ?? null,
    })),
    seatUpdates: wire.seat_updates == null ? undefined : seatUpdatesFromWire(wire.seat_updates),
    prorationRounding: roundingPatchFromWire(wire.proration_rounding),
  };
}

function seatUpdatesFromWire(wire: z.output<typeof seatUpdatesInput>): SeatUpdates {
  return {
    add: (wire.add_seat_ids ?? []).map(seatsFromWire),
    remove: (wire.remove_seat_ids ?? []).map(seatsFromWire),
    addUnassigned: (wire.add_unassigned_seats ?? []).map(seatCountFromWire),
    removeUnassigned: (wire.remove_unassigned_seats ?? []).map(seatCountFromWire),
  };
}

function seatsFromWire(wire: { readonly seat_ids: readonly string[]; readonly starting_at: number }) {
  return { seatIds: wire.seat_ids, startingAt: wire.starting_at };
}

function seatCountFromWire(wire: { readonly quantity: number; readonly starting_at: number }) {
  return { quantity: wire.quantity, startingAt: wire.starting_at };
}

const thresholdCommitPatch = {
  product_id: uuid.nullish(),
  name: z.string().min(1).nullish(),
  description: z.string().nullish(),
  priority: priority.nullish(),
};

const thresholdPatch = {
  is_enabled: z.boolean().nullish(),
  threshold_amount: exactNumber().nullish(),
  payment_gate_config: paymentGateInput.nullish(),
  discount_configuration: z
    .object({
      payment_fraction: exactNumber({ max: '1' }).nullish(),
      cap: z.object({ spend_tracker_alias: z.string().min(1), amount: exactNumber() }).nullish(),
    })
    .nullish()
    .meta({ description: 'Null, or a payment_fraction of null: no discount.' }),
};

export const spendThresholdPatchInput = z
  .object({ ...thresholdPatch, commit: z.object({ ...thresholdCommitPatch, ...noProductFilters }).nullish() })
  .meta({ id: 'UpdateSpendThresholdConfiguration' });

export const prepaidBalanceThresholdPatchInput = z
  .object({
    ...thresholdPatch,
    recharge_to_amount: exactNumber().nullish(),
    custom_credit_type_id: uuid.nullish(),
    commit: z.object({ ...thresholdCommitPatch, ...applicabilityInput }).nullish(),
    threshold_balance_specifiers: balanceSpecifiersInput.nullish(),
  })
  .meta({ id: 'UpdatePrepaidBalanceThresholdConfiguration' });

export function spendThresholdPatchFromWire(
  wire: z.output<typeof spendThresholdPatchInput>,
): SpendThresholdPatch {
  return {
    ...thresholdPatchFromWire(wire),
    commit: wire.commit == null ? undefined : thresholdCommitPatchFromWire(wire.commit),
  };
}

export function prepaidBalanceThresholdPatchFromWire(
  wire: z.output<typeof prepaidBalanceThresholdPatchInput>,
): PrepaidBalanceThresholdPatch {
  const { commit, threshold_balance_specifiers: specifiers } = wire;
  return {
    ...thresholdPatchFromWire(wire),
    rechargeToAmount: wire.recharge_to_amount ?? undefined,
    customCreditTypeId: wire.custom_credit_type_id,
    commit:
      commit == null
        ? undefined
        : { ...thresholdCommitPatchFromWire(commit), ...applicabilityPatchFromWire(commit) },
    balanceSpecifiers: specifiers == null ? specifiers : balanceSpecifiersFromWire(specifiers),
  };
}

function thresholdPatchFromWire(wire: z.output<z.ZodObject<typeof thresholdPatch>>) {
  const { payment_gate_config: gate, discount_configuration: discount } = wire;
  return {
    isEnabled: wire.is_enabled ?? undefined,
    thresholdAmount: wire.threshold_amount ?? undefined,
    paymentGate: gate == null ? undefined : paymentGateFromWire(gate),
    discount: discount == null ? discount : discountPatchFromWire(discount),
  };
}

function discountPatchFromWire(
  wire: NonNullable<z.output<typeof thresholdPatch.discount_configuration>>,
): NonNullable<SpendThresholdPatch['discount']> {
  const { payment_fraction: paymentFraction, cap } = wire;
  return {
    paymentFraction,
    cap: cap == null ? cap : { spendTrackerAlias: cap.spend_tracker_alias, amount: cap.amount },
  };
}

function thresholdCommitPatchFromWire(wire: z.output<z.ZodObject<typeof thresholdCommitPatch>>) {
  return {
    productId: wire.product_id ?? undefined,
    name: wire.name,
    description: wire.description,
    priority: wire.priority,
  };
}

/** Subscriptions on the wire, also as templates and patches. */

import type { TermNames } from '../../../billing/contracts/term-names.ts';
import { BILLING_FREQUENCIES } from '../../../core/catalogue.ts';
import { customFieldsOf } from '../../../core/custom-fields.ts';
import type { Contract } from '../../../core/terms/contract.ts';
import {
  COLLECTION_SCHEDULES,
  INVOICE_BEHAVIORS,
  INVOICE_PLACEMENTS,
  QUANTITY_MODES,
  type Subscription,
} from '../../../core/terms/subscriptions.ts';
import type { Instant, Interval } from '../../../core/time.ts';
import { subscriptionAnchor, subscriptionPeriods } from '../../../rating/periods/subscription-periods.ts';
import { seatSegments } from '../../../rating/quantities/subscription-quantities.ts';
import {
  answered,
  called,
  decided,
  described,
  list,
  noted,
  optional,
  optionalMany,
  patched,
  patchOf,
  sent,
} from '../description.ts';
import {
  anyText,
  customFields,
  end,
  exact,
  hour,
  id,
  instant,
  oneOf,
  product,
  text,
  truth,
  whole,
} from '../kinds.ts';
import { inside, insideIfAny, record, reshaped, within } from '../record.ts';
import { duration, offset } from './relative-dates.ts';
import { rounding } from './scope.ts';

/** Maximum of one list or number. The number of seats of a subscription is configured. */
const SEATS_MAX = 100_000;
/** More changes in one call are a mistake. */
const UPDATES_MAX = 1_000;

const seats = {
  seatGroupKey: text,
  initialUnassignedSeats: optional(whole(0, SEATS_MAX)),
};

/** The fields that all forms share: all but dates and seats. */
const plain = {
  id: answered(id),
  subscriptionRate: described(
    'A rate of a SUBSCRIPTION product on the rate card.',
    inside({ billingFrequency: oneOf(BILLING_FREQUENCIES), productId: product }),
  ),
  name: optional(anyText),
  description: optional(anyText),
  collectionSchedule: oneOf(COLLECTION_SCHEDULES),
  proration: inside({
    isProrated: described('Default: false.', decided(truth)),
    invoiceBehavior: described(
      'Default: BILL_IMMEDIATELY with ADVANCE, else BILL_ON_NEXT_COLLECTION_DATE.',
      decided(oneOf(INVOICE_BEHAVIORS)),
    ),
    prorationRounding: called('rounding', optional(rounding)),
  }),
  initialQuantity: described('With QUANTITY_ONLY.', optional(exact({ min: '0' }))),
  quantityManagementMode: described('Default: QUANTITY_ONLY.', decided(oneOf(QUANTITY_MODES))),
  fiatCreditTypeId: answered(optional(id)),
  customFields,
  temporaryId: sent(
    described('A name by which recurring terms of the same request refer to it.', optional(text)),
  ),
};

const invoicePlacement = described('Default: ON_USAGE_INVOICE.', decided(oneOf(INVOICE_PLACEMENTS)));

const billingCycle = {
  anchorDate: noted('The billing periods are counted from here.', decided(hour)),
  invoicePlacement,
};

const period = optional(record({ startingAt: instant, endingBefore: instant }));

export const subscription = record(
  {
    ...plain,
    initialQuantity: sent(plain.initialQuantity),
    seatConfig: sent(
      described(
        'With SEAT_BASED.',
        optional(record({ ...seats, initialSeatIds: list(text, { max: SEATS_MAX }) })),
      ),
    ),
    seatGroupKey: answered(called('seat_config', optional(within('seat_group_key', anyText)))),
    startingAt: described('Default: the contract’s start.', decided(hour)),
    endingBefore: described('Default: the contract’s end.', optional(end)),
    billingCycleConfig: { ...insideIfAny(billingCycle), output: inside(billingCycle).output },
    quantitySchedule: answered(
      noted(
        'The current and the scheduled quantities.',
        list(record({ quantity: exact(), startingAt: instant, endingBefore: optional(instant) })),
      ),
    ),
    billingPeriods: answered(record({ previous: period, current: period, next: period })),
  },
  { id: 'Subscription' },
);

export const subscriptionTemplate = record(
  {
    ...plain,
    seatConfig: described('With SEAT_BASED.', optional(record(seats))),
    startingAtOffset: described('Default: the contract’s start.', optional(offset)),
    duration: described('Default: until the contract ends.', optional(duration)),
    billingCycleConfig: { ...insideIfAny({ invoicePlacement }), output: inside({ invoicePlacement }).output },
  },
  { id: 'SubscriptionTemplate' },
);

const seatList = optionalMany(
  list(record({ seatIds: list(text, { min: 1, max: SEATS_MAX }), startingAt: hour }), { max: UPDATES_MAX }),
  [],
);
const seatCountList = optionalMany(
  list(record({ quantity: whole(1, SEATS_MAX), startingAt: hour }), { max: UPDATES_MAX }),
  [],
);

const seatUpdates = record(
  {
    add: called('add_seat_ids', described('They take unassigned seats first.', seatList)),
    remove: called('remove_seat_ids', described('Unknown ids are ignored.', seatList)),
    addUnassigned: called('add_unassigned_seats', seatCountList),
    removeUnassigned: called('remove_unassigned_seats', described('As far as there are any.', seatCountList)),
  },
  { id: { sent: 'SubscriptionSeatUpdateInput' }, description: 'Removals count first.' },
);

/** Switches a subscription to seats, which the group key identifies. */
const seatBased = reshaped(
  record({ quantityManagementMode: oneOf(['SEAT_BASED']), seatConfig: within('seat_group_key', text) }),
  ({ seatConfig }) => seatConfig,
  (seatConfig: string) => ({ quantityManagementMode: 'SEAT_BASED' as const, seatConfig }),
);

const quantityChange = record({
  quantity: optional(exact({ min: '0' })),
  quantityDelta: optional(exact()),
  startingAt: hour,
});

export const subscriptionPatch = record(
  {
    id: { ...id, sentAs: 'subscription_id' },
    endingBefore: described('Null if it runs until the contract ends.', patchOf(optional(end))),
    seatGroupKey: called(
      'quantity_management_mode_update',
      described('The present quantity becomes unassigned seats.', patchOf(seatBased)),
    ),
    quantityUpdates: described(
      'Changes of one date apply in the order sent.',
      optionalMany(list(quantityChange, { max: UPDATES_MAX }), []),
    ),
    ...patched({ seatUpdates, prorationRounding: optional(rounding) }),
  },
  { id: { sent: 'UpdateSubscriptionInput', answered: 'SubscriptionsUpdate' } },
);

export interface SubscriptionContext {
  readonly contract: Contract;
  readonly names: TermNames;
  readonly now: Instant;
  /** The currency of the contract's rate card. */
  readonly fiatCreditTypeId: string | null;
}

/** A subscription with all data that answers show. */
export function subscriptionView(from: Subscription, context: SubscriptionContext) {
  const { contract, names, now, fiatCreditTypeId } = context;
  const open = seatSegments(from).filter(({ interval: { end } }) => end === null || end > now);
  const { previous, current, next } = subscriptionPeriods(contract, from, now);
  return {
    ...from,
    fiatCreditTypeId,
    customFields: customFieldsOf(names.customFields, from.id),
    anchorDate: subscriptionAnchor(contract, from),
    quantitySchedule: open.map(({ interval, quantity }) => ({
      quantity,
      startingAt: interval.start,
      endingBefore: interval.end,
    })),
    billingPeriods: { previous: rangeOf(previous), current: rangeOf(current), next: rangeOf(next) },
  };
}

function rangeOf(period: Interval | null) {
  return period && { startingAt: period.start, endingBefore: period.end };
}

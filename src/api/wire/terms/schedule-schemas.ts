/** How access schedules and invoice schedules look on the wire. */
import { z } from 'zod';
import {
  type AccessSchedule,
  type AccessScheduleInput,
  AMOUNT_DISTRIBUTIONS,
  type InvoiceSchedule,
  type InvoiceScheduleInput,
  SCHEDULE_FREQUENCIES,
} from '../../../core/terms/schedules.ts';
import { formatInstant } from '../../../core/time.ts';
import {
  creditType,
  enumIn,
  exactNumber,
  exactValue,
  hourAlignedTimestamp,
  timestamp,
  uuid,
} from '../fields.ts';
import { creditTypeToWire, given, type TermNames } from './term-fields.ts';

/** Ten years of days: more items in one schedule are a mistake. */
const ITEMS_MAX = 3_660;

const creditTypeId = uuid.nullish().meta({ description: 'Pricing unit. Default: US cents.' });

export const accessScheduleInput = z
  .object({
    credit_type_id: creditTypeId,
    schedule_items: z
      .array(
        z.object({
          amount: exactNumber({ min: '0' }),
          starting_at: hourAlignedTimestamp,
          ending_before: hourAlignedTimestamp,
        }),
      )
      .min(1)
      .max(ITEMS_MAX),
  })
  .meta({ id: 'ScheduleDurationInput' });

export const accessScheduleOutput = z
  .object({
    credit_type: creditType,
    schedule_items: z.array(
      z.object({ id: uuid, amount: exactValue, starting_at: timestamp, ending_before: timestamp }),
    ),
  })
  .meta({ id: 'ScheduleDuration' });

export function accessScheduleFromWire(wire: z.output<typeof accessScheduleInput>): AccessScheduleInput {
  return {
    creditTypeId: wire.credit_type_id ?? null,
    segments: wire.schedule_items.map((item) => ({
      amount: item.amount,
      startingAt: item.starting_at,
      endingBefore: item.ending_before,
    })),
  };
}

export function accessScheduleToWire(
  from: AccessSchedule,
  names: TermNames,
): z.input<typeof accessScheduleOutput> {
  return {
    credit_type: creditTypeToWire(from.creditTypeId, names),
    schedule_items: from.segments.map((segment) => ({
      id: segment.id,
      amount: segment.amount,
      starting_at: formatInstant(segment.startingAt),
      ending_before: formatInstant(segment.endingBefore),
    })),
  };
}

/** An amount, or a unit price with a quantity. */
const amountInput = {
  amount: exactNumber().nullish(),
  unit_price: exactNumber().nullish(),
  quantity: exactNumber().nullish(),
};

/** Create calls know no WEEKLY; edits do. */
const CREATE_FREQUENCIES = ['MONTHLY', 'QUARTERLY', 'SEMI_ANNUAL', 'ANNUAL'] as const;

function invoiceScheduleOf<Frequency extends (typeof SCHEDULE_FREQUENCIES)[number]>(
  frequencies: readonly [Frequency, ...Frequency[]],
) {
  return z.object({
    credit_type_id: creditTypeId,
    schedule_items: z
      .array(z.object({ timestamp, ...amountInput }))
      .max(ITEMS_MAX)
      .nullish()
      .meta({ description: 'Each with an amount, or a unit_price and a quantity.' }),
    recurring_schedule: z
      .object({
        starting_at: timestamp,
        ending_before: timestamp,
        frequency: enumIn(frequencies),
        amount_distribution: enumIn(AMOUNT_DISTRIBUTIONS),
        ...amountInput,
      })
      .nullish()
      .meta({ description: 'Instead of schedule_items, into which it is expanded.' }),
    do_not_invoice: z
      .boolean()
      .nullish()
      .meta({ description: 'Commits only: the amounts are on record, no invoice is made.' }),
  });
}

export const invoiceScheduleInput = invoiceScheduleOf(CREATE_FREQUENCIES).meta({
  id: 'SchedulePointInTimeInput',
});

/** Of the v2 operations. */
export const invoiceScheduleInputV2 = invoiceScheduleOf(SCHEDULE_FREQUENCIES).meta({
  id: 'SchedulePointInTimeInputV2',
});

export const invoiceScheduleOutput = z
  .object({
    credit_type: creditType,
    schedule_items: z.array(
      z.object({
        id: uuid,
        amount: exactValue,
        unit_price: exactValue,
        quantity: exactValue,
        timestamp,
      }),
    ),
    do_not_invoice: z.boolean().optional(),
  })
  .meta({ id: 'SchedulePointInTime' });

export function invoiceScheduleFromWire(wire: z.output<typeof invoiceScheduleInputV2>): InvoiceScheduleInput {
  const { schedule_items: items, recurring_schedule: recurring } = wire;
  return {
    creditTypeId: wire.credit_type_id ?? null,
    doNotInvoice: wire.do_not_invoice ?? false,
    items: items?.map((item) => ({ timestamp: item.timestamp, ...amountFromWire(item) })) ?? null,
    recurring:
      recurring == null
        ? null
        : {
            startingAt: recurring.starting_at,
            endingBefore: recurring.ending_before,
            frequency: recurring.frequency,
            amountDistribution: recurring.amount_distribution,
            ...amountFromWire(recurring),
          },
  };
}

function amountFromWire(wire: z.output<z.ZodObject<typeof amountInput>>) {
  return {
    amount: wire.amount ?? null,
    unitPrice: wire.unit_price ?? null,
    quantity: wire.quantity ?? null,
  };
}

/** `do_not_invoice` is shown where it is set. */
export function invoiceScheduleToWire(
  from: InvoiceSchedule,
  names: TermNames,
): z.input<typeof invoiceScheduleOutput> {
  return {
    credit_type: creditTypeToWire(from.creditTypeId, names),
    schedule_items: from.items.map((item) => ({
      id: item.id,
      amount: item.amount,
      unit_price: item.unitPrice,
      quantity: item.quantity,
      timestamp: formatInstant(item.timestamp),
    })),
    ...given('do_not_invoice', from.doNotInvoice ? true : null),
  };
}

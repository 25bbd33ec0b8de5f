/** How relative dates and the schedules made of them look on the wire. */
import { z } from 'zod';
import type {
  RelativeAccessScheduleInput,
  RelativeInvoiceScheduleInput,
} from '../../../billing/packages/relative-terms.ts';
import { RELATIVE_UNITS, type RelativeDate, type RelativeUnit } from '../../../core/relative-time.ts';
import type { CommitTemplate, RelativeInvoiceSchedule } from '../../../core/terms/packages.ts';
import { creditType, exactNumber, exactValue, uuid, wholeNumber } from '../fields.ts';
import { creditTypeToWire, given, type TermNames } from './term-fields.ts';

/** Ten years of days, as in contracts. */
const ITEMS_MAX = 3_660;

/** A century in each unit: more is a mistake. */
const VALUE_MAX: Readonly<Record<RelativeUnit, number>> = {
  DAYS: 36_525,
  WEEKS: 5_218,
  MONTHS: 1_200,
  YEARS: 100,
};

const unit = z.preprocess(
  (value) => (typeof value === 'string' ? value.toUpperCase() : value),
  z.enum(RELATIVE_UNITS).meta({ description: 'In any letter case.' }),
);

function relativeDateFrom(least: number) {
  return z.object({ unit, value: wholeNumber(least, VALUE_MAX.DAYS) }).superRefine((date, context) => {
    const most = VALUE_MAX[date.unit];
    if (date.value <= most) return;
    context.addIssue({ code: 'custom', path: ['value'], message: `must be at most ${most} ${date.unit}` });
  });
}

/** From the start of the contract. */
export const offset = relativeDateFrom(0).meta({ id: 'RelativeDateInput' });

/** From the start of whatever lasts so long. */
export const duration = relativeDateFrom(1).meta({ id: 'RelativeDurationInput' });

export const relativeDateOutput = z
  .object({ unit: z.enum(RELATIVE_UNITS), value: z.int() })
  .meta({ id: 'RelativeDate' });

export function relativeDateToWire({ unit: name, value }: RelativeDate): z.input<typeof relativeDateOutput> {
  return { unit: name, value };
}

/** The members of a term that starts and may end. */
export const rangeInput = { starting_at_offset: offset, duration: duration.nullish() };

export const rangeOutput = {
  starting_at_offset: relativeDateOutput,
  duration: relativeDateOutput.optional(),
};

export function rangeFromWire(wire: z.output<z.ZodObject<typeof rangeInput>>) {
  return { startingAtOffset: wire.starting_at_offset, duration: wire.duration ?? null };
}

export function rangeToWire(from: {
  readonly startingAtOffset: RelativeDate;
  readonly duration: RelativeDate | null;
}) {
  return {
    starting_at_offset: relativeDateToWire(from.startingAtOffset),
    ...given('duration', from.duration === null ? null : relativeDateToWire(from.duration)),
  };
}

const creditTypeId = uuid.nullish().meta({ description: 'Pricing unit. Default: US cents.' });

export const relativeAccessScheduleInput = z
  .object({
    credit_type_id: creditTypeId,
    schedule_items: z
      .array(z.object({ amount: exactNumber({ min: '0' }), starting_at_offset: offset, duration }))
      .min(1)
      .max(ITEMS_MAX),
  })
  .meta({ id: 'RelativeScheduleDurationInput' });

export const relativeAccessScheduleOutput = z
  .object({
    credit_type: creditType,
    schedule_items: z.array(
      z.object({
        id: uuid,
        amount: exactValue,
        starting_at_offset: relativeDateOutput,
        duration: relativeDateOutput,
      }),
    ),
  })
  .meta({ id: 'RelativeScheduleDuration' });

export function relativeAccessScheduleFromWire(
  wire: z.output<typeof relativeAccessScheduleInput>,
): RelativeAccessScheduleInput {
  return {
    creditTypeId: wire.credit_type_id ?? null,
    segments: wire.schedule_items.map((item) => ({
      amount: item.amount,
      startingAtOffset: item.starting_at_offset,
      duration: item.duration,
    })),
  };
}

export function relativeAccessScheduleToWire(
  from: CommitTemplate['accessSchedule'],
  names: TermNames,
): z.input<typeof relativeAccessScheduleOutput> {
  return {
    credit_type: creditTypeToWire(from.creditTypeId, names),
    schedule_items: from.segments.map((segment) => ({
      id: segment.id,
      amount: segment.amount,
      starting_at_offset: relativeDateToWire(segment.startingAtOffset),
      duration: relativeDateToWire(segment.duration),
    })),
  };
}

const invoiceSchedule = {
  credit_type_id: creditTypeId,
  schedule_items: z
    .array(
      z.object({
        date_offset: offset,
        amount: exactNumber().nullish(),
        unit_price: exactNumber().nullish(),
        quantity: exactNumber().nullish(),
      }),
    )
    .min(1)
    .max(ITEMS_MAX)
    .meta({ description: 'Each with a unit_price and a quantity, or an amount.' }),
};

/** Of scheduled charges. */
export const relativeInvoiceScheduleInput = z
  .object(invoiceSchedule)
  .meta({ id: 'RelativeSchedulePointInTimeInput' });

export const relativeCommitInvoiceScheduleInput = z
  .object({
    ...invoiceSchedule,
    do_not_invoice: z
      .boolean()
      .nullish()
      .meta({ description: 'The amounts are on record, no invoice is made.' }),
  })
  .meta({ id: 'RelativeCommitInvoiceScheduleInput' });

export const relativeInvoiceScheduleOutput = z
  .object({
    credit_type: creditType,
    schedule_items: z.array(
      z.object({ id: uuid, unit_price: exactValue, quantity: exactValue, date_offset: relativeDateOutput }),
    ),
  })
  .meta({ id: 'RelativeSchedulePointInTime' });

export const relativeCommitInvoiceScheduleOutput = z
  .object({ ...relativeInvoiceScheduleOutput.shape, do_not_invoice: z.boolean() })
  .meta({ id: 'RelativeCommitInvoiceSchedule' });

export function relativeInvoiceScheduleFromWire(
  wire: z.output<typeof relativeInvoiceScheduleInput> & {
    readonly do_not_invoice?: boolean | null | undefined;
  },
): RelativeInvoiceScheduleInput {
  return {
    creditTypeId: wire.credit_type_id ?? null,
    doNotInvoice: wire.do_not_invoice ?? false,
    items: wire.schedule_items.map((item) => ({
      dateOffset: item.date_offset,
      amount: item.amount ?? null,
      unitPrice: item.unit_price ?? null,
      quantity: item.quantity ?? null,
    })),
  };
}

export function relativeInvoiceScheduleToWire(
  from: RelativeInvoiceSchedule,
  names: TermNames,
): z.input<typeof relativeInvoiceScheduleOutput> {
  return {
    credit_type: creditTypeToWire(from.creditTypeId, names),
    schedule_items: from.items.map((item) => ({
      id: item.id,
      unit_price: item.unitPrice,
      quantity: item.quantity,
      date_offset: relativeDateToWire(item.dateOffset),
    })),
  };
}

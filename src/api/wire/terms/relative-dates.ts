/** Dates relative to the start of a contract. */
import { z } from 'zod';
import { RELATIVE_UNITS, type RelativeUnit } from '../../../core/relative-time.ts';
import { kind, optional } from '../description.ts';
import { wholeNumber } from '../fields.ts';

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

function relativeDateFrom(least: number, id: string) {
  return z
    .strictObject({ unit, value: wholeNumber(least, VALUE_MAX.DAYS) })
    .superRefine((date, context) => {
      const most = VALUE_MAX[date.unit];
      if (date.value <= most) return;
      context.addIssue({ code: 'custom', path: ['value'], message: `must be at most ${most} ${date.unit}` });
    })
    .meta({ id });
}

const relativeDateOutput = z
  .object({ unit: z.enum(RELATIVE_UNITS), value: z.int() })
  .meta({ id: 'RelativeDate' });

/** Offset from the start of the contract. */
export const offset = kind(relativeDateFrom(0, 'RelativeDateInput'), relativeDateOutput);

/** Duration from the start of the term. */
export const duration = kind(relativeDateFrom(1, 'RelativeDurationInput'), relativeDateOutput);

/** Start and optional duration of a term. */
export const range = { startingAtOffset: offset, duration: optional(duration) };

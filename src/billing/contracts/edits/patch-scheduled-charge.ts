/** Changes of one scheduled charge. Pure. */
import type { FieldPath } from '../../../core/errors.ts';
import type { ScheduledChargePatch } from '../../../core/terms/patches.ts';
import type { ScheduledCharge } from '../../../core/terms/scheduled-charges.ts';
import { given } from '../../../core/terms/values.ts';
import { patchedItems } from './patch-schedules.ts';

/** Refuses (`invalid`) the first bad field; `path` is the place of the patch in the request. */
export function patchedScheduledCharge(
  charge: ScheduledCharge,
  { invoiceSchedule, ...plain }: ScheduledChargePatch,
  path: FieldPath,
): ScheduledCharge {
  const { schedule } = charge;
  return {
    ...charge,
    ...given(plain),
    schedule:
      invoiceSchedule === undefined
        ? schedule
        : { ...schedule, items: patchedItems(schedule.items, invoiceSchedule, [...path, 'invoiceSchedule']) },
  };
}

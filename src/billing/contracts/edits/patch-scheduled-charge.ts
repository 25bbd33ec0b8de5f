/** Changes of one scheduled charge. Pure. */
import type { FieldPath } from '../../../core/errors.ts';
import type { ScheduledChargePatch } from '../../../core/terms/patches.ts';
import type { ScheduledCharge } from '../../../core/terms/scheduled-charges.ts';
import { patchedItems } from './patch-schedules.ts';

/** Refuses (`invalid`) the first bad field; `path` is the place of the patch in the request. */
export function patchedScheduledCharge(
  charge: ScheduledCharge,
  { name, invoiceSchedule }: ScheduledChargePatch,
  path: FieldPath,
): ScheduledCharge {
  const { schedule } = charge;
  return {
    ...charge,
    name: name === undefined ? charge.name : name,
    schedule:
      invoiceSchedule === undefined
        ? schedule
        : { ...schedule, items: patchedItems(schedule.items, invoiceSchedule, [...path, 'invoiceSchedule']) },
  };
}

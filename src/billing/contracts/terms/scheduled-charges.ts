/** Validates and creates scheduled charges (docs/contracts.md, "Schedules"). Pure. */
import { type FieldPath, invalid } from '../../../core/errors.ts';
import { newId } from '../../../core/ids.ts';
import type { ScheduledCharge, ScheduledChargeInput } from '../../../core/terms/scheduled-charges.ts';
import type { Instant } from '../../../core/time.ts';
import { type ExpandedSchedule, expandSchedule } from './point-schedule.ts';
import { requireFixedProduct, type TermsContext } from './terms-context.ts';

/**
 * Creates the charge from the input. Refuses (`invalid`) the first bad field; `path` is the charge's place in
 * the request.
 */
export function buildScheduledCharge(
  input: ScheduledChargeInput,
  path: FieldPath,
  context: TermsContext,
  origin: {
    readonly id: string;
    readonly contractId: string;
    readonly createdAt: Instant;
    readonly createdBy: string;
  },
): ScheduledCharge {
  const { creditTypeId, items } = resolveCharge(input, path, context);
  const { customFields: _, ...described } = input;
  return {
    ...described,
    ...origin,
    schedule: { creditTypeId, doNotInvoice: false, items: items.map((item) => ({ id: newId(), ...item })) },
    archivedAt: null,
  };
}

function resolveCharge(
  input: ScheduledChargeInput,
  path: FieldPath,
  context: TermsContext,
): ExpandedSchedule {
  requireFixedProduct(context, input.productId, [...path, 'productId']);
  if (input.schedule.doNotInvoice) {
    throw invalid([...path, 'schedule', 'doNotInvoice'], 'is for invoice schedules of commits only');
  }
  return expandSchedule(input.schedule, [...path, 'schedule'], context);
}

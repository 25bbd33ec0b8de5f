/** Validates and creates scheduled charges and discounts (docs/explanation/contracts.md, "Schedules"). Pure. */
import { ZERO } from '../../../core/decimal.ts';
import { type FieldPath, invalid } from '../../../core/errors.ts';
import { newId } from '../../../core/ids.ts';
import type { ScheduledCharge, ScheduledChargeInput } from '../../../core/terms/scheduled-charges.ts';
import type { AmountInput } from '../../../core/terms/schedules.ts';
import type { Instant } from '../../../core/time.ts';
import { type ExpandedSchedule, expandSchedule } from './point-schedule.ts';
import { requireFixedProduct, type TermsContext } from './terms-context.ts';

/**
 * Creates the charge or the discount from the input. Refuses (`invalid`) the first invalid field; `path` is its place
 * in the request.
 */
export function buildScheduledCharge(
  input: ScheduledChargeInput,
  path: FieldPath,
  context: TermsContext,
  origin: {
    readonly id: string;
    readonly kind: ScheduledCharge['kind'];
    readonly contractId: string;
    readonly createdAt: Instant;
    readonly createdBy: string;
  },
): ScheduledCharge {
  if (origin.kind === 'DISCOUNT') requireReduction(input, path);
  const { creditTypeId, items } = resolveCharge(input, path, context);
  const { customFields: _, ...described } = input;
  return {
    ...described,
    ...origin,
    schedule: { creditTypeId, doNotInvoice: false, items: items.map((item) => ({ id: newId(), ...item })) },
    description: null,
    onUsageInvoice: false,
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

/** A discount with a negative amount would be a charge. */
function requireReduction({ schedule }: ScheduledChargeInput, path: FieldPath): void {
  if (schedule.recurring !== null) {
    requirePositive(schedule.recurring, [...path, 'schedule', 'recurring']);
  }
  for (const [index, item] of (schedule.items ?? []).entries()) {
    requirePositive(item, [...path, 'schedule', 'items', index]);
  }
}

function requirePositive(amounts: AmountInput, path: FieldPath): void {
  for (const name of ['amount', 'unitPrice', 'quantity'] as const) {
    if (amounts[name]?.lt(ZERO)) {
      throw invalid([...path, name], 'must not be negative: a discount reduces the invoice by it');
    }
  }
}

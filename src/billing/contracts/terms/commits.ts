/** Validates and creates commits and credits (docs/explanation/contracts.md, "Commits and credits"). Pure. */
import { isFiat } from '../../../core/credit-types.ts';
import { decimal, ONE, sum, ZERO } from '../../../core/decimal.ts';
import { type FieldPath, invalid } from '../../../core/errors.ts';
import { newId } from '../../../core/ids.ts';
import { type Commit, type CommitInput, DEFAULT_PRIORITY } from '../../../core/terms/commits.ts';
import type { AccessScheduleInput } from '../../../core/terms/schedules.ts';
import type { Instant } from '../../../core/time.ts';
import { validateApplicability, validateHierarchyAccess } from './applicability.ts';
import { refusePaymentGate } from './payment-gates.ts';
import { type ExpandedSchedule, expandSchedule, totalOf } from './point-schedule.ts';
import {
  type BalanceContext,
  requireCreditType,
  requireEndAfterStart,
  requireFixedProduct,
} from './terms-context.ts';

/** Owner, creator and creation time of a commit. */
export interface CommitOrigin {
  readonly id: string;
  readonly customerId: string;
  readonly contractId: string | null;
  readonly createdAt: Instant;
  readonly createdBy: string | null;
}

/**
 * Creates the commit from the input. Refuses (`invalid`) the first invalid field; `path` is the commit's place in the
 * request.
 */
export function buildCommit(
  input: CommitInput,
  path: FieldPath,
  context: BalanceContext,
  origin: CommitOrigin,
): Commit {
  const { access, accessCreditTypeId, invoice } = resolveSchedules(input, path, context);
  const { customFields: _, temporaryId: __, ...described } = input;
  return {
    ...described,
    ...origin,
    priority: input.priority ?? decimal(DEFAULT_PRIORITY),
    rateType: input.rateType ?? 'LIST_RATE',
    accessSchedule: {
      creditTypeId: accessCreditTypeId,
      segments: access.segments.map((segment) => ({ id: newId(), ...segment })),
    },
    invoiceSchedule:
      invoice === null
        ? null
        : {
            creditTypeId: invoice.creditTypeId,
            doNotInvoice: input.invoiceSchedule?.doNotInvoice ?? false,
            items: invoice.items.map((item) => ({ id: newId(), ...item })),
          },
    invoiceContractId: null,
    applicableContractIds: [],
    recurringCommitId: null,
    rolledOverFrom: null,
    uniquenessKey: null,
    archivedAt: null,
  };
}

interface Schedules {
  readonly access: AccessScheduleInput;
  readonly accessCreditTypeId: string;
  readonly invoice: ExpandedSchedule | null;
}

function resolveSchedules(input: CommitInput, path: FieldPath, context: BalanceContext): Schedules {
  requireFixedProduct(context, input.productId, [...path, 'productId']);
  const { accessSchedule: access, invoiceSchedule } = input;
  if (access === null) throw invalid([...path, 'accessSchedule'], 'is required');
  const accessCreditTypeId = validateAccessSchedule(access, [...path, 'accessSchedule'], context);
  const invoice =
    invoiceSchedule === null ? null : expandSchedule(invoiceSchedule, [...path, 'invoiceSchedule'], context);
  const wrongItem = invoice?.items.find((item) => item.amount.lt(ZERO));
  if (wrongItem !== undefined) throw invalid([...path, 'invoiceSchedule'], 'amounts must not be negative');
  if (input.type === 'POSTPAID') checkPostpaid(access, accessCreditTypeId, invoice, input, path);
  if (invoice !== null) requireFiat(invoice.creditTypeId, [...path, 'invoiceSchedule', 'creditTypeId']);
  const { rolloverFraction } = input;
  if (rolloverFraction !== null && (rolloverFraction.lt(ZERO) || rolloverFraction.gt(ONE))) {
    throw invalid([...path, 'rolloverFraction'], 'must be from 0 to 1');
  }
  validateApplicability(input.applicability, [...path, 'applicability'], context);
  validateHierarchyAccess(input.hierarchyAccess, path);
  if (input.paymentGate !== null) {
    refusePaymentGate(input.paymentGate, [...path, 'paymentGate'], context);
  }
  return { access, accessCreditTypeId, invoice };
}

/** Refuses (`invalid`) a schedule without items and items that do not end after they start. Returns its unit. */
function validateAccessSchedule(
  schedule: AccessScheduleInput,
  path: FieldPath,
  context: BalanceContext,
): string {
  if (schedule.segments.length === 0) throw invalid([...path, 'segments'], 'must have at least 1 item');
  for (const [index, segment] of schedule.segments.entries()) {
    const field = [...path, 'segments', index];
    requireEndAfterStart(segment, field);
    if (segment.amount.lt(ZERO)) throw invalid([...field, 'amount'], 'must not be negative');
  }
  return requireCreditType(context, schedule.creditTypeId, [...path, 'creditTypeId']);
}

/** Access may be in custom units; invoices are in a currency. */
function requireFiat(creditTypeId: string, field: FieldPath): void {
  if (!isFiat(creditTypeId)) throw invalid(field, 'must be a fiat currency');
}

/** One segment, one invoice item (the true-up), and the same amount of one currency in both. */
function checkPostpaid(
  access: AccessScheduleInput,
  accessCreditTypeId: string,
  invoice: ExpandedSchedule | null,
  input: CommitInput,
  path: FieldPath,
): void {
  if (access.segments.length !== 1) {
    throw invalid([...path, 'accessSchedule', 'segments'], 'must have exactly 1 item for POSTPAID commits');
  }
  if (invoice === null) throw invalid([...path, 'invoiceSchedule'], 'is required for POSTPAID commits');
  if (input.invoiceSchedule?.doNotInvoice) {
    throw invalid([...path, 'invoiceSchedule', 'doNotInvoice'], 'is for PREPAID commits only');
  }
  if (invoice.items.length !== 1) {
    throw invalid([...path, 'invoiceSchedule', 'items'], 'must have exactly 1 item for POSTPAID commits');
  }
  requireFiat(accessCreditTypeId, [...path, 'accessSchedule', 'creditTypeId']);
  if (invoice.creditTypeId !== accessCreditTypeId) {
    const field = [...path, 'invoiceSchedule', 'creditTypeId'];
    throw invalid(field, 'must be the currency of the access schedule for POSTPAID commits');
  }
  const committed = sum(access.segments.map((segment) => segment.amount));
  if (!totalOf(invoice.items).eq(committed)) {
    throw invalid(
      [...path, 'invoiceSchedule', 'items', 0, 'amount'],
      `must equal the access amount ${committed.toString()} for POSTPAID commits`,
    );
  }
}

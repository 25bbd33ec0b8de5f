/** Changes of one commit or credit. Pure. */
import { USD_CENTS } from '../../../core/credit-types.ts';
import { decimal, sum, ZERO } from '../../../core/decimal.ts';
import { type FieldPath, invalid } from '../../../core/errors.ts';
import type { Applicability } from '../../../core/terms/applicability.ts';
import { type Commit, DEFAULT_PRIORITY } from '../../../core/terms/commits.ts';
import type { ApplicabilityPatch, CommitPatch, InvoiceSchedulePatch } from '../../../core/terms/patches.ts';
import { given } from '../../../core/terms/values.ts';
import { validateApplicability, validateHierarchyAccess } from '../terms/applicability.ts';
import { type BalanceContext, requireFixedProduct } from '../terms/terms-context.ts';
import { patchedAccess, patchedItems } from './patch-schedules.ts';

/** Refuses (`invalid`) the first invalid field; `path` is the place of the patch in the request. */
export function patchedCommit(
  commit: Commit,
  patch: CommitPatch,
  path: FieldPath,
  context: BalanceContext,
): Commit {
  const { priority, accessSchedule, invoiceSchedule, ...scoped } = patch;
  const { productIds, productTags, specifiers, ...plain } = scoped;
  const { productId, hierarchyAccess } = plain;
  if (productId !== undefined) requireFixedProduct(context, productId, [...path, 'productId']);
  if (hierarchyAccess !== undefined) validateHierarchyAccess(hierarchyAccess, path);
  const changed: Commit = {
    ...commit,
    ...given(plain),
    priority: priority === undefined ? commit.priority : (priority ?? decimal(DEFAULT_PRIORITY)),
    accessSchedule:
      accessSchedule === undefined
        ? commit.accessSchedule
        : patchedAccess(commit.accessSchedule, accessSchedule, [...path, 'accessSchedule']),
    invoiceSchedule:
      invoiceSchedule === undefined
        ? commit.invoiceSchedule
        : patchedInvoices(commit, invoiceSchedule, [...path, 'invoiceSchedule']),
    applicability: patchedApplicability(
      commit.applicability,
      { productIds, productTags, specifiers },
      [...path, 'applicability'],
      context,
    ),
  };
  if (accessSchedule !== undefined || invoiceSchedule !== undefined) checkPostpaid(changed, path);
  return changed;
}

/** Shared with thresholds, whose commits have a scope too. Null is the same as an empty list. */
export function patchedApplicability(
  from: Applicability,
  { productIds, productTags, specifiers }: ApplicabilityPatch,
  path: FieldPath,
  context: BalanceContext,
): Applicability {
  if (productIds === undefined && productTags === undefined && specifiers === undefined) return from;
  const changed: Applicability = {
    productIds: productIds === undefined ? from.productIds : (productIds ?? []),
    productTags: productTags === undefined ? from.productTags : (productTags ?? []),
    specifiers: specifiers === undefined ? from.specifiers : (specifiers ?? []),
  };
  validateApplicability(changed, path, context);
  return changed;
}

/** A free commit may get a price: its schedule is then in US cents, as at creation. */
function patchedInvoices(
  { invoiceSchedule: schedule }: Commit,
  patch: InvoiceSchedulePatch,
  path: FieldPath,
): Commit['invoiceSchedule'] {
  const items = patchedItems(schedule?.items ?? [], patch, path);
  if (items.some((item) => item.amount.lt(ZERO))) throw invalid(path, 'amounts must not be negative');
  if (schedule !== null) return { ...schedule, items };
  return items.length === 0 ? null : { creditTypeId: USD_CENTS.id, doNotInvoice: false, items };
}

/** One segment, one invoice item (the true-up), and the same amount in both. */
function checkPostpaid({ type, accessSchedule, invoiceSchedule }: Commit, path: FieldPath): void {
  if (type !== 'POSTPAID') return;
  const { segments } = accessSchedule;
  if (segments.length !== 1) {
    throw invalid([...path, 'accessSchedule'], 'must have exactly 1 item for POSTPAID commits');
  }
  const items = invoiceSchedule?.items ?? [];
  if (items.length !== 1) {
    throw invalid([...path, 'invoiceSchedule'], 'must have exactly 1 item for POSTPAID commits');
  }
  const committed = sum(segments.map((segment) => segment.amount));
  if (!sum(items.map((item) => item.amount)).eq(committed)) {
    throw invalid(
      [...path, 'invoiceSchedule'],
      `must equal the access amount ${committed.toString()} for POSTPAID commits`,
    );
  }
}

/** The total amount that a customer can use now. */
import { USD_CENTS } from '../../core/credit-types.ts';
import { type CustomFields, type CustomFieldsById, customFieldsOf } from '../../core/custom-fields.ts';
import { type Decimal, sum, ZERO } from '../../core/decimal.ts';
import { invalid, notFound } from '../../core/errors.ts';
import type { Commit } from '../../core/terms/commits.ts';
import { loadCommits } from '../../store/balances/commits.ts';
import { loadCreditTypes } from '../../store/credit-types/credit-types.ts';
import { loadCustomFields } from '../../store/custom-fields/custom-fields.ts';
import { customerExists } from '../../store/customers/customers.ts';
import type { BillingContext } from '../billing-context.ts';
import { balancesOf, withOwners } from './balances.ts';

/** Conditions that must all hold; null: omitted. */
interface BalanceFilter {
  readonly types: readonly Commit['type'][] | null;
  readonly ids: readonly string[] | null;
  /** Values that the commit or credit must all have. */
  readonly customFields: CustomFields | null;
}

export interface NetBalanceInput {
  readonly customerId: string;
  /** Null: US cents. */
  readonly creditTypeId: string | null;
  /** A balance counts if any of them matches. Empty: all count. */
  readonly filters: readonly BalanceFilter[];
  /** Whether deductions of drafts are ignored. */
  readonly finalizedOnly: boolean;
}

/**
 * The sum over the customer's commits and credits and those of its contracts; balances that a parent shares with its
 * children count for the parent. Refuses an unknown customer (`CustomerNotFound`) and an unknown pricing unit
 * (`invalid`).
 */
export async function netBalance(
  context: BillingContext,
  { customerId, filters, finalizedOnly, ...input }: NetBalanceInput,
): Promise<{ readonly balance: Decimal; readonly creditTypeId: string }> {
  const { db, clock } = context;
  const creditTypeId = input.creditTypeId ?? USD_CENTS.id;
  if (!(await customerExists(db, customerId))) {
    throw notFound('customer', customerId, 'CustomerNotFound');
  }
  if (!(await loadCreditTypes(db, [creditTypeId])).has(creditTypeId)) {
    throw invalid(['creditTypeId'], `pricing unit ${creditTypeId} not found`);
  }
  const commits = await loadCommits(db, { customerIds: [customerId], includeArchived: false });
  const inUnit = commits.filter(({ accessSchedule }) => accessSchedule.creditTypeId === creditTypeId);
  const fields = await loadCustomFields(
    db,
    filters.some(({ customFields }) => customFields !== null) ? inUnit.map(({ id }) => id) : [],
  );
  const counted = inUnit.filter((commit) => passes(commit, filters, fields));
  const balances = await balancesOf(context, await withOwners(db, counted), clock.now(), { finalizedOnly });
  return { balance: sum(counted.map(({ id }) => balances.get(id)?.balance ?? ZERO)), creditTypeId };
}

function passes({ id, type }: Commit, filters: readonly BalanceFilter[], fields: CustomFieldsById): boolean {
  if (filters.length === 0) return true;
  const own = customFieldsOf(fields, id);
  return filters.some(
    ({ types, ids, customFields }) =>
      (types === null || types.includes(type)) &&
      (ids === null || ids.includes(id)) &&
      Object.entries(customFields ?? {}).every(([key, value]) => own[key] === value),
  );
}

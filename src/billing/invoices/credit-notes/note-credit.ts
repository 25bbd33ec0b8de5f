/** The credit that a note with the settlement `credit_balance` creates for the customer. */
import type { Decimal } from '../../../core/decimal.ts';
import { invalid } from '../../../core/errors.ts';
import { newId } from '../../../core/ids.ts';
import { ANY_USAGE } from '../../../core/terms/applicability.ts';
import type { Commit, CommitInput } from '../../../core/terms/commits.ts';
import { floorToHour, type Instant } from '../../../core/time.ts';
import { publishCommitChanges } from '../../../notifications/lifecycle-messages.ts';
import { insertCommits } from '../../../store/balances/commits.ts';
import type { Transaction } from '../../../store/base/database.ts';
import { NO_TERMS_INPUT } from '../../contracts/terms/build-terms.ts';
import { buildCommit } from '../../contracts/terms/commits.ts';
import { namedIds } from '../../contracts/terms/named-ids.ts';
import { loadTermsContext, requireFixedProduct } from '../../contracts/terms/terms-context.ts';

/** The credit to create; null members: not given. */
export interface CreditOfNote {
  readonly productId: string | null;
  /** Default: the hour of the issue. */
  readonly startingAt: Instant | null;
  readonly endingBefore: Instant | null;
}

interface CreditOrigin {
  readonly customerId: string;
  readonly creditTypeId: string;
  readonly amount: Decimal;
  /** The number of the note; null: it has none yet. */
  readonly number: string | null;
  readonly createdAt: Instant;
  readonly createdBy: string;
}

/** Refuses (`invalid`) a credit without a product or an end, and whatever no credit of a customer may have. */
export async function buildCreditOfNote(
  tx: Transaction,
  { productId, startingAt, endingBefore }: CreditOfNote,
  { customerId, creditTypeId, amount, number, createdAt, createdBy }: CreditOrigin,
): Promise<Commit> {
  if (productId === null) throw invalid(['creditProductId'], 'is required for credit_balance');
  if (endingBefore === null) throw invalid(['creditEndingBefore'], 'is required for credit_balance');
  const start = startingAt ?? floorToHour(createdAt);
  if (endingBefore <= start) throw invalid(['creditEndingBefore'], 'must be after the credit starts');
  const input: CommitInput = {
    ...{
      name: number === null ? null : `Credit note ${number}`,
      description: null,
      productId,
      type: 'CREDIT',
    },
    ...{
      rateType: null,
      rolloverFraction: null,
      priority: null,
      invoiceSchedule: null,
      hierarchyAccess: null,
    },
    ...{ countsAsDiscounted: null, paymentGate: null, customFields: {}, temporaryId: null },
    applicability: ANY_USAGE,
    accessSchedule: { creditTypeId, segments: [{ amount, startingAt: start, endingBefore }] },
  };
  const named = namedIds({ ...NO_TERMS_INPUT, commits: [input] });
  const context = await loadTermsContext(tx, null, named, { contract: null, paymentProvider: undefined });
  const origin = { id: newId(), customerId, contractId: null, createdAt, createdBy };
  requireFixedProduct(context, productId, ['creditProductId']);
  return buildCommit(input, [], context, origin);
}

export async function storeCreditOfNote(tx: Transaction, credit: Commit): Promise<void> {
  await insertCommits(tx, [credit]);
  await publishCommitChanges(tx, [{ before: null, after: credit }], credit.createdAt);
}

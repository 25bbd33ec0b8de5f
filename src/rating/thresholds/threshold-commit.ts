/** The commit that a threshold buys (docs/explanation/thresholds.md, "The commit"). Pure. */
import { type Decimal, decimal, maximum, ZERO } from '../../core/decimal.ts';
import { ANY_USAGE } from '../../core/terms/applicability.ts';
import { type Commit, DEFAULT_PRIORITY } from '../../core/terms/commits.ts';
import type { Contract } from '../../core/terms/contract.ts';
import type { PrepaidBalanceThreshold, SpendThreshold } from '../../core/terms/thresholds.ts';
import type { Instant } from '../../core/time.ts';
import type { Price } from './discounted-price.ts';

/** 2100-01-01: the access of a commit must end, while a contract need not. */
const ACCESS_WITHOUT_END = Date.UTC(2100, 0, 1);

export interface ThresholdCommitInput {
  /** Ids of the commit, its access segment and its invoice item. */
  readonly ids: { readonly commit: string; readonly segment: string; readonly item: string };
  readonly contract: Pick<Contract, 'id' | 'customerId' | 'endingBefore'>;
  /** The commit is unrestricted if it names no products. */
  readonly commit: SpendThreshold['commit'] &
    Partial<Pick<PrepaidBalanceThreshold['commit'], 'applicability'>>;
  /** Used if the threshold names none. */
  readonly productName: string;
  readonly unit: { readonly access: string; readonly invoice: string };
  readonly startingAt: Instant;
  readonly now: Instant;
}

/**
 * The default priority, or that of the balances that are drawn down last. The amount of a spend threshold is the amount
 * that no other balance pays for, so its commit must not pay for charges that others can pay: with equal priority, it
 * is drawn down after them.
 */
export function priorityBehind(commits: readonly Pick<Commit, 'priority'>[]): Decimal {
  return commits.reduce((last, { priority }) => maximum(last, priority), decimal(DEFAULT_PRIORITY));
}

/** An inexhaustible commit, to find the amount that drafts would draw from it. Nothing is withheld. */
export function candidateCommit(input: ThresholdCommitInput): Commit {
  const price = { total: MORE_THAN_ANY_INVOICE, discounted: ZERO };
  return commitOf(input, MORE_THAN_ANY_INVOICE, price);
}

/** The candidate with its amount, price and payment gate. */
export function boughtCommit(
  input: ThresholdCommitInput,
  { amount, price, paymentGate }: { amount: Decimal; price: Price; paymentGate: Commit['paymentGate'] },
): Commit {
  return { ...commitOf(input, amount, price), paymentGate };
}

const MORE_THAN_ANY_INVOICE = decimal('1e60');

function commitOf(
  { ids, contract, commit, productName, unit, startingAt, now }: ThresholdCommitInput,
  amount: Decimal,
  price: Price,
): Commit {
  const endingBefore = contract.endingBefore ?? ACCESS_WITHOUT_END;
  const quantity = decimal('1');
  return {
    id: ids.commit,
    customerId: contract.customerId,
    contractId: contract.id,
    type: 'PREPAID',
    name: commit.name ?? productName,
    description: commit.description,
    productId: commit.productId,
    rateType: 'LIST_RATE',
    rolloverFraction: null,
    priority: commit.priority ?? decimal(DEFAULT_PRIORITY),
    accessSchedule: {
      creditTypeId: unit.access,
      segments: [{ id: ids.segment, amount, startingAt, endingBefore }],
    },
    invoiceSchedule: {
      creditTypeId: unit.invoice,
      doNotInvoice: false,
      items: [{ id: ids.item, timestamp: now, unitPrice: price.total, quantity, amount: price.total }],
    },
    invoiceContractId: null,
    applicability: commit.applicability ?? ANY_USAGE,
    applicableContractIds: [],
    hierarchyAccess: null,
    countsAsDiscounted: price.discounted.gt(ZERO),
    paymentGate: null,
    recurringCommitId: null,
    rolledOverFrom: null,
    uniquenessKey: null,
    createdAt: now,
    createdBy: null,
    archivedAt: null,
  };
}

/**
 * Commits and credits on the wire: requests, answers of v1 and v2, templates of packages, and patches of
 * edits. A plain field that all of these forms share is declared in `plain` only.
 */
import { z } from 'zod';
import type { TermNames } from '../../../billing/contracts/term-names.ts';
import { customFieldsOf } from '../../../core/custom-fields.ts';
import type { Decimal } from '../../../core/decimal.ts';
import type { Commit } from '../../../core/terms/commits.ts';
import { type Balance, ledgerEntryType } from '../../../core/terms/ledger.ts';
import type { RecurringCommit } from '../../../core/terms/recurring-commits.ts';
import {
  answered,
  called,
  decided,
  described,
  kind,
  list,
  noted,
  optional,
  optionalMany,
  patched,
  patchOf,
  sent,
} from '../description.ts';
import { enumIn } from '../fields.ts';
import { anyText, customFields, exact, id, instant, product, reference, text, truth } from '../kinds.ts';
import { beside, readAs, record, within } from '../record.ts';
import { paymentGate } from './payment-gate.ts';
import { subscriptionConfig } from './recurring-commits.ts';
import {
  accessSchedule,
  accessSchedulePatch,
  invoiceSchedule,
  invoiceSchedulePatch,
  invoiceScheduleV2,
  relativeAccessSchedule,
  relativeCommitInvoiceSchedule,
} from './schedules.ts';
import { applicability, fraction, hierarchyAccess, priority, rateTarget } from './scope.ts';

/** The plain fields that all forms share. */
export const plain = {
  name: described('Shown on invoices.', optional(text)),
  description: optional(anyText),
  productId: described('A FIXED product, whose name is shown.', product),
  priority: decided(priority),
  rateType: described('Default: LIST_RATE.', decided(rateTarget)),
};

const ledgerEntry = record(
  {
    type: anyText,
    amount: exact(),
    timestamp: instant,
    segmentId: optional(id),
    invoiceId: optional(id),
    contractId: optional(id),
    newContractId: optional(id),
    reason: optional(anyText),
  },
  { id: { answered: 'LedgerEntry' } },
);

/** Fields that commits and credits of contracts share. */
const common = {
  id: answered(id),
  contractId: answered(called('contract', optional(reference))),
  ...plain,
  rolloverFraction: optional(fraction),
  applicability: beside(applicability),
  applicableContractIds: answered(optionalMany(list(id), [])),
  hierarchyAccess: optional(hierarchyAccess),
  subscription: answered(optional(subscriptionConfig)),
  balance: answered(noted('With include_balance.', optional(exact()))),
  ledger: answered(optional(noted('With include_ledgers.', list(ledgerEntry)))),
  customFields,
  createdAt: answered(instant),
  createdBy: answered(optional(anyText)),
  archivedAt: answered(optional(instant)),
};

/** Credits are a separate type, which requests do not name. */
export const purchaseType = kind<'PREPAID' | 'POSTPAID', Commit['type']>(
  enumIn(['PREPAID', 'POSTPAID']),
  z.enum(['PREPAID', 'POSTPAID']),
);

const commitFields = {
  ...common,
  type: purchaseType,
  accessSchedule: described('Required.', decided(accessSchedule)),
  temporaryId: sent(described('By which overrides of the same request name this commit.', optional(text))),
  countsAsDiscounted: called('spend_tracker_attributes', optional(within('counts_as_discounted', truth))),
  invoiceContractId: answered(called('invoice_contract', optional(reference))),
  recurringCommitId: answered(optional(id)),
  rolledOverFrom: answered(optional(record({ commitId: id, contractId: id }))),
  costBasis: answered(noted('The price paid per unit of the granted amount.', optional(exact()))),
};

const noPaymentGate = kind(
  z
    .null('is for commits that an edit adds to a contract')
    .optional()
    .transform(() => null),
  z.never(),
);

const uniquenessKey = answered(optional(anyText));

export const commit = record(
  {
    ...commitFields,
    invoiceSchedule: optional(invoiceSchedule),
    paymentGate: described(
      'Not supported here: an edit can add a commit that is withheld until it is paid.',
      {
        ...optional(paymentGate),
        input: noPaymentGate.input,
      },
    ),
    uniquenessKey,
  },
  { id: { sent: 'CommitInput', answered: 'Commit' } },
);

/** v2: an edit can add a commit that is withheld until it is paid. */
export const commitV2 = record(
  { ...commitFields, invoiceSchedule: optional(invoiceScheduleV2), paymentGate: optional(paymentGate) },
  { id: { sent: 'CommitInputV2', answered: 'CommitV2' } },
);

const creditType = answered(kind<'CREDIT', Commit['type']>(z.literal('CREDIT'), z.literal('CREDIT')));

const creditFields = {
  ...common,
  type: creditType,
  accessSchedule,
  recurringCommitId: answered(called('recurring_credit_id', optional(id))),
  rolledOverFrom: answered(optional(record({ commitId: called('credit_id', id), contractId: id }))),
};

/** Values of the fields that credits do not have. */
export const OF_CREDITS = {
  type: 'CREDIT',
  invoiceSchedule: null,
  countsAsDiscounted: null,
  paymentGate: null,
  temporaryId: null,
} as const;

export const credit = readAs(
  record({ ...creditFields, uniquenessKey }, { id: { sent: 'CreditInput', answered: 'Credit' } }),
  (sent) => ({ ...sent, ...OF_CREDITS }),
);

export const creditV2 = record(creditFields, { id: { answered: 'CreditV2' } });

const templateFields = {
  id: answered(id),
  ...plain,
  accessSchedule: relativeAccessSchedule,
  applicability: beside(applicability),
  customFields,
};

export const commitTemplate = record(
  {
    ...templateFields,
    type: purchaseType,
    invoiceSchedule: described(
      'Required for POSTPAID. A PREPAID commit without an invoice schedule is free.',
      optional(relativeCommitInvoiceSchedule),
    ),
    rolloverFraction: optional(fraction),
    temporaryId: sent(described('By which overrides of the same package name this commit.', optional(text))),
  },
  { id: 'CommitTemplate' },
);

export const creditTemplate = readAs(
  record({ ...templateFields, type: creditType }, { id: 'CreditTemplate' }),
  (sent) => ({
    ...sent,
    ...OF_CREDITS,
    rolloverFraction: null,
  }),
);

/** Fields of the patches of commits and credits. */
export const patchFields = {
  ...patched({
    ...plain,
    productId: id,
    rateType: rateTarget,
    rolloverFraction: optional(fraction),
    ...applicability,
    hierarchyAccess: optional(hierarchyAccess),
    accessSchedule: accessSchedulePatch,
  }),
  priority: described('Null: the default, 100.', patchOf(optional(priority))),
};

export const commitPatch = record(
  {
    id: { ...id, sentAs: 'commit_id' },
    ...patchFields,
    ...patched({ invoiceSchedule: invoiceSchedulePatch }),
  },
  { id: { sent: 'UpdateCommitInput', answered: 'CommitUpdate' } },
);

export const creditPatch = record(
  { id: { ...id, sentAs: 'credit_id' }, ...patchFields },
  { id: { sent: 'UpdateCreditInput', answered: 'CreditUpdate' } },
);

/** Data that answers show besides the commit's own terms. */
export interface CommitContext {
  readonly names: TermNames;
  /** Recurring terms that may have created commits, by id. */
  readonly recurringCommits: ReadonlyMap<string, RecurringCommit>;
  /** By commit; null if balances were not requested. */
  readonly balances: ReadonlyMap<string, Balance> | null;
  readonly includeBalance: boolean;
  readonly includeLedgers: boolean;
  /** By commit; absent where it is unknown. */
  readonly costBases: ReadonlyMap<string, Decimal>;
}

/** A commit or credit with all data that answers show. */
export function commitView(from: Commit, context: CommitContext) {
  const { names, includeBalance, includeLedgers } = context;
  const balance = context.balances?.get(from.id);
  const ledger = balance?.ledger.map((entry) => ({ ...entry, type: ledgerEntryType(from.type, entry.kind) }));
  return {
    ...from,
    subscription: context.recurringCommits.get(from.recurringCommitId ?? '')?.subscription ?? null,
    balance: includeBalance ? (balance?.balance ?? null) : null,
    ledger: includeLedgers ? (ledger ?? null) : null,
    costBasis: context.costBases.get(from.id) ?? null,
    customFields: customFieldsOf(names.customFields, from.id),
  };
}

/** A commit, as opposed to a credit. */
export function isCommit({ type }: Commit): boolean {
  return type !== 'CREDIT';
}

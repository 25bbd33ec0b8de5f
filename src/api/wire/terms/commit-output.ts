/** How commits and credits look in answers: v1 and v2 differ in a few members. */
import { z } from 'zod';
import { customFieldsOf } from '../../../core/custom-fields.ts';
import type { Decimal } from '../../../core/decimal.ts';
import type { Commit } from '../../../core/terms/commits.ts';
import { type Balance, type LedgerEntry, ledgerEntryType } from '../../../core/terms/ledger.ts';
import type { RecurringCommit } from '../../../core/terms/recurring-commits.ts';
import { formatInstant } from '../../../core/time.ts';
import { customFields, exactValue, timestamp, uuid } from '../fields.ts';
import { paymentGateOutput, paymentGateToWire } from './payment-gate-schemas.ts';
import { subscriptionConfigToWire } from './recurring-commit-schemas.ts';
import {
  accessScheduleOutput,
  accessScheduleToWire,
  invoiceScheduleOutput,
  invoiceScheduleToWire,
} from './schedule-schemas.ts';
import {
  applicabilityOutput,
  applicabilityToWire,
  given,
  hierarchyAccessOutput,
  hierarchyAccessToWire,
  namedProduct,
  productToWire,
  type TermNames,
} from './term-fields.ts';

const ledgerOutput = z
  .array(
    z
      .object({
        type: z.string(),
        amount: exactValue,
        timestamp,
        segment_id: uuid.optional(),
        invoice_id: uuid.optional(),
        contract_id: uuid.optional(),
        new_contract_id: uuid.optional(),
        reason: z.string().optional(),
      })
      .meta({ id: 'LedgerEntry' }),
  )
  .meta({ description: 'With include_ledgers.' });

const subscriptionConfig = z.object({
  subscription_id: uuid,
  allocation: z.enum(['POOLED', 'INDIVIDUAL']),
  apply_seat_increase_config: z.object({ is_prorated: z.boolean() }),
});

const common = {
  id: uuid,
  contract: z.object({ id: uuid }).optional(),
  name: z.string().optional(),
  description: z.string().optional(),
  product: namedProduct,
  priority: exactValue,
  rate_type: z.enum(['LIST_RATE', 'COMMIT_RATE']),
  rollover_fraction: exactValue.optional(),
  access_schedule: accessScheduleOutput,
  ...applicabilityOutput,
  applicable_contract_ids: z.array(uuid).optional(),
  hierarchy_configuration: hierarchyAccessOutput.optional(),
  subscription_config: subscriptionConfig.optional(),
  balance: exactValue.optional().meta({ description: 'With include_balance.' }),
  ledger: ledgerOutput.optional(),
  custom_fields: customFields,
  created_at: timestamp,
  created_by: z.string().optional(),
  archived_at: timestamp.optional(),
};

const commitV2Shape = {
  ...common,
  type: z.enum(['PREPAID', 'POSTPAID']),
  invoice_schedule: invoiceScheduleOutput.optional(),
  invoice_contract: z.object({ id: uuid }).optional(),
  recurring_commit_id: uuid.optional(),
  rolled_over_from: z.object({ commit_id: uuid, contract_id: uuid }).optional(),
  cost_basis: exactValue.optional().meta({ description: 'What was paid for a unit of the granted amount.' }),
  spend_tracker_attributes: z.object({ counts_as_discounted: z.boolean() }).optional(),
  payment_gate_config: paymentGateOutput.optional(),
};

const creditV2Shape = {
  ...common,
  type: z.literal('CREDIT'),
  recurring_credit_id: uuid.optional(),
  rolled_over_from: z.object({ credit_id: uuid, contract_id: uuid }).optional(),
};

const uniquenessKey = { uniqueness_key: z.string().optional() };

export const commitOutputV2 = z.object(commitV2Shape).meta({ id: 'CommitV2' });
export const creditOutputV2 = z.object(creditV2Shape).meta({ id: 'CreditV2' });
export const commitOutput = z.object({ ...commitV2Shape, ...uniquenessKey }).meta({ id: 'Commit' });
export const creditOutput = z.object({ ...creditV2Shape, ...uniquenessKey }).meta({ id: 'Credit' });

/** What an answer shows besides the commit's own terms. */
export interface CommitContext {
  readonly names: TermNames;
  /** By id: the recurring terms that may have made commits. */
  readonly recurringCommits: ReadonlyMap<string, RecurringCommit>;
  /** By commit; null where balances were not asked for. */
  readonly balances: ReadonlyMap<string, Balance> | null;
  readonly includeBalance: boolean;
  readonly includeLedgers: boolean;
  /** By commit; absent where it cannot be told. */
  readonly costBases: ReadonlyMap<string, Decimal>;
}

/** `commit` must not be a credit. */
export function commitToWireV2(commit: Commit, context: CommitContext): z.input<typeof commitOutputV2> {
  const { invoiceSchedule, rolledOverFrom: source } = commit;
  return {
    ...commonToWire(commit, context),
    type: commit.type === 'POSTPAID' ? 'POSTPAID' : 'PREPAID',
    ...given(
      'invoice_schedule',
      invoiceSchedule === null ? null : invoiceScheduleToWire(invoiceSchedule, context.names),
    ),
    ...given('invoice_contract', commit.invoiceContractId === null ? null : { id: commit.invoiceContractId }),
    ...given('recurring_commit_id', commit.recurringCommitId),
    ...given(
      'rolled_over_from',
      source === null ? null : { commit_id: source.commitId, contract_id: source.contractId },
    ),
    ...given('cost_basis', context.costBases.get(commit.id)),
    ...given(
      'spend_tracker_attributes',
      commit.countsAsDiscounted === null ? null : { counts_as_discounted: commit.countsAsDiscounted },
    ),
    ...given(
      'payment_gate_config',
      commit.paymentGate === null ? null : paymentGateToWire(commit.paymentGate),
    ),
  };
}

/** `credit` must be a credit. */
export function creditToWireV2(credit: Commit, context: CommitContext): z.input<typeof creditOutputV2> {
  const { rolledOverFrom: source } = credit;
  return {
    ...commonToWire(credit, context),
    type: 'CREDIT',
    ...given('recurring_credit_id', credit.recurringCommitId),
    ...given(
      'rolled_over_from',
      source === null ? null : { credit_id: source.commitId, contract_id: source.contractId },
    ),
  };
}

export function commitToWire(commit: Commit, context: CommitContext): z.input<typeof commitOutput> {
  return { ...commitToWireV2(commit, context), ...given('uniqueness_key', commit.uniquenessKey) };
}

export function creditToWire(credit: Commit, context: CommitContext): z.input<typeof creditOutput> {
  return { ...creditToWireV2(credit, context), ...given('uniqueness_key', credit.uniquenessKey) };
}

function commonToWire(commit: Commit, context: CommitContext) {
  const { names, balances, includeBalance, includeLedgers } = context;
  const balance = balances?.get(commit.id);
  const recurring = context.recurringCommits.get(commit.recurringCommitId ?? '');
  return {
    id: commit.id,
    ...given('contract', commit.contractId === null ? null : { id: commit.contractId }),
    ...given('name', commit.name),
    ...given('description', commit.description),
    product: productToWire(commit.productId, names),
    priority: commit.priority,
    rate_type: commit.rateType,
    ...given('rollover_fraction', commit.rolloverFraction),
    access_schedule: accessScheduleToWire(commit.accessSchedule, names),
    ...applicabilityToWire(commit.applicability),
    ...given('applicable_contract_ids', [...commit.applicableContractIds]),
    ...given(
      'hierarchy_configuration',
      commit.hierarchyAccess === null ? null : hierarchyAccessToWire(commit.hierarchyAccess),
    ),
    ...given('subscription_config', subscriptionConfigToWire(recurring?.subscription ?? null)),
    ...(includeBalance && balance !== undefined ? { balance: balance.balance } : {}),
    ...(includeLedgers && balance !== undefined
      ? { ledger: balance.ledger.map((entry) => ledgerEntryToWire(commit, entry)) }
      : {}),
    custom_fields: customFieldsOf(names.customFields, commit.id),
    created_at: formatInstant(commit.createdAt),
    ...given('created_by', commit.createdBy),
    ...given('archived_at', commit.archivedAt === null ? null : formatInstant(commit.archivedAt)),
  };
}

function ledgerEntryToWire(commit: Commit, entry: LedgerEntry) {
  return {
    type: ledgerEntryType(commit.type, entry.kind),
    amount: entry.amount,
    timestamp: formatInstant(entry.timestamp),
    ...given('segment_id', entry.segmentId),
    ...given('invoice_id', entry.invoiceId),
    ...given('contract_id', entry.contractId),
    ...given('new_contract_id', entry.newContractId),
    ...given('reason', entry.reason),
  };
}

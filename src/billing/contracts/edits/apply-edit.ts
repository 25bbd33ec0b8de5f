/**
 * Computes the contract after an edit. The order is fixed: end date and header, archiving and removals,
 * updates, additions.
 */
import { conflict, type FieldPath, invalid, words } from '../../../core/errors.ts';
import type { ContractTerms, FullContract } from '../../../core/terms/contract.ts';
import {
  type ContractChanges,
  type HeaderChanges,
  NO_REMOVALS,
  NO_UPDATES,
  type Removals,
  type Updates,
} from '../../../core/terms/contract-edits.ts';
import type { PaymentProvider } from '../../../core/terms/payment-gate.ts';
import type { Subscription } from '../../../core/terms/subscriptions.ts';
import type { Instant } from '../../../core/time.ts';
import type { Transaction } from '../../../store/base/database.ts';
import { findRateCard } from '../../../store/rate-cards/rate-cards.ts';
import {
  type BillingConfigurationLookup,
  matchBillingConfiguration,
} from '../../billing-providers/match-configuration.ts';
import { checkEndDate } from '../contract-changes.ts';
import type { ContractChange } from '../settle-contract.ts';
import { spendLimitOf } from '../spend-limit.ts';
import { type BuiltTerms, buildTerms, NO_TERMS_INPUT, type TermsInput } from '../terms/build-terms.ts';
import { fieldsOfTerms } from '../terms/fields-of-terms.ts';
import { namedIds } from '../terms/named-ids.ts';
import { checkSeatLimit } from '../terms/seat-limit.ts';
import { loadTermsContext, type NamedIds } from '../terms/terms-context.ts';
import { withEndDate } from '../terms/truncate-terms.ts';
import { namedByUpdated, namedByUpdates } from './named-by-updates.ts';
import { removeTerms, requireUsedTrackers } from './remove-terms.ts';
import { updateTerms } from './update-terms.ts';

export interface ContractEditInput {
  readonly header: HeaderChanges;
  /** Whether a new end may precede the end of finalized invoices. */
  readonly allowEndingBeforeFinalizedInvoice: boolean;
  readonly billingConfiguration: BillingConfigurationLookup | null;
  readonly removals: Removals;
  readonly updates: Updates;
  readonly additions: TermsInput;
}

export const NO_EDIT: ContractEditInput = {
  header: {},
  allowEndingBeforeFinalizedInvoice: true,
  billingConfiguration: null,
  removals: NO_REMOVALS,
  updates: NO_UPDATES,
  additions: NO_TERMS_INPUT,
};

export interface EditOrigin {
  /** The path of the lists of additions in the request. */
  readonly additionsAt: FieldPath;
  readonly editedBy: string;
  readonly now: Instant;
  readonly paymentProvider: PaymentProvider | undefined;
  /** Maximum seats of one subscription; undefined: the default. */
  readonly seatsMax?: number | undefined;
}

/** Refuses (`invalid`) the first invalid field. Reads the objects that the edit names, and writes nothing. */
export async function applyEdit(
  tx: Transaction,
  full: FullContract,
  input: ContractEditInput,
  origin: EditOrigin,
): Promise<ContractChange> {
  const { header, removals, updates, additions } = input;
  const ended = await withHeader(tx, full, input, origin.now);
  const configurationId = await billingConfigurationOf(tx, full, input);
  const { rateCardId } = ended.contract;
  const card = rateCardId === null ? null : await findRateCard(tx, rateCardId);
  const contract = {
    ...ended.contract,
    billingConfigurationId: configurationId ?? ended.contract.billingConfigurationId,
    ...(header.spendLimit === undefined
      ? {}
      : { spendLimit: await spendLimitOf(tx, header.spendLimit, card, ['header', 'spendLimit']) }),
  };
  const loaded = await loadTermsContext(tx, card, namedInAll(input, full.terms), {
    contract,
    paymentProvider: origin.paymentProvider,
  });
  const removed = removeTerms(ended.terms, removals, origin.now);
  const updated = updateTerms(removed, updates, { contract, loaded, now: origin.now });
  const built = await buildTerms(additions, {
    contract,
    loaded,
    path: origin.additionsAt,
    existing: updated,
    createdAt: origin.now,
    createdBy: origin.editedBy,
  });
  const after = { contract, terms: withAdditions(updated, built, origin.additionsAt) };
  requireUsedTrackers(after.terms, removals);
  const { subscriptions } = after.terms;
  checkSeatLimit(full.terms.subscriptions, subscriptions, origin.seatsMax, (one) =>
    seatsPath(one, built, updates, origin.additionsAt),
  );
  return {
    after,
    changes: {
      ...header,
      ...removals,
      ...updates,
      ...addedChanges(built),
      addBillingConfigurationId: configurationId,
    },
    newFields: fieldsOfTerms(additions, built, origin.additionsAt),
  };
}

/** The path at which the edit sets the number of seats of the subscription. */
function seatsPath(
  { id }: Subscription,
  built: BuiltTerms,
  { updateSubscriptions }: Updates,
  additionsAt: FieldPath,
): FieldPath {
  const added = built.subscriptions.findIndex((one) => one.id === id);
  if (added !== -1) return [...additionsAt, 'subscriptions', added, 'seatConfig'];
  const index = updateSubscriptions.findIndex((one) => one.id === id);
  const field = updateSubscriptions[index]?.seatUpdates === undefined ? 'seatGroupKey' : 'seatUpdates';
  return ['updates', 'updateSubscriptions', index, field];
}

async function withHeader(
  tx: Transaction,
  full: FullContract,
  { header, allowEndingBeforeFinalizedInvoice }: ContractEditInput,
  now: Instant,
): Promise<FullContract> {
  const { name, netPaymentTermsDays, endingBefore } = header;
  let ended = full;
  if (endingBefore !== undefined) {
    const path = ['header', 'endingBefore'];
    await checkEndDate(tx, full, { endingBefore, allowEndingBeforeFinalizedInvoice }, path);
    ended = withEndDate(full, endingBefore, now);
  }
  return {
    terms: ended.terms,
    contract: {
      ...ended.contract,
      ...(name === undefined ? {} : { name }),
      ...(netPaymentTermsDays === undefined ? {} : { netPaymentTermsDays }),
    },
  };
}

/** A configuration can be set once; it is in force from the start of the current period. */
async function billingConfigurationOf(
  tx: Transaction,
  { contract }: FullContract,
  { billingConfiguration: lookup }: ContractEditInput,
): Promise<string | null> {
  if (lookup === null) return null;
  if (contract.billingConfigurationId !== null) {
    throw conflict('the contract has a billing provider configuration already, which cannot be replaced', [
      'billingConfigurationId',
    ]);
  }
  return (await matchBillingConfiguration(tx, contract.customerId, lookup, ['billingConfiguration'])).id;
}

function namedInAll({ additions, updates }: ContractEditInput, terms: ContractTerms): NamedIds {
  const all = [namedIds(additions), namedByUpdates(updates), namedByUpdated(terms, updates)];
  return {
    productIds: all.flatMap((one) => one.productIds),
    creditTypeIds: all.flatMap((one) => one.creditTypeIds),
    balanceIds: all.flatMap((one) => one.balanceIds),
  };
}

const UPDATES = {
  spendThreshold: 'updateSpendThreshold',
  prepaidBalanceThreshold: 'updatePrepaidBalanceThreshold',
} as const;

/** A contract has at most one threshold of each kind: an existing one can be updated, not added again. */
function withAdditions(terms: ContractTerms, built: BuiltTerms, path: FieldPath): ContractTerms {
  const { spendThreshold, prepaidBalanceThreshold } = built;
  const refuseSecond = (name: keyof typeof UPDATES) => {
    throw invalid([...path, name], words`the contract has one already: use ${['updates', UPDATES[name]]}`);
  };
  if (spendThreshold !== null && terms.spendThreshold !== null) {
    refuseSecond('spendThreshold');
  }
  if (prepaidBalanceThreshold !== null && terms.prepaidBalanceThreshold !== null) {
    refuseSecond('prepaidBalanceThreshold');
  }
  return {
    commits: [...terms.commits, ...built.commits],
    recurringCommits: [...terms.recurringCommits, ...built.recurringCommits],
    overrides: [...terms.overrides, ...built.overrides],
    scheduledCharges: [...terms.scheduledCharges, ...built.scheduledCharges],
    professionalServices: [...terms.professionalServices, ...built.professionalServices],
    subscriptions: [...terms.subscriptions, ...built.subscriptions],
    spendTrackers: [...terms.spendTrackers, ...built.spendTrackers],
    spendThreshold: spendThreshold ?? terms.spendThreshold,
    prepaidBalanceThreshold: prepaidBalanceThreshold ?? terms.prepaidBalanceThreshold,
    usageFilters: terms.usageFilters,
  };
}

function addedChanges(built: BuiltTerms): Partial<ContractChanges> {
  return {
    addCommits: built.commits,
    addRecurringCommits: built.recurringCommits,
    addOverrides: built.overrides,
    addScheduledCharges: built.scheduledCharges,
    addProfessionalServices: built.professionalServices,
    addSubscriptions: built.subscriptions,
    addSpendTrackers: built.spendTrackers,
    addSpendThreshold: built.spendThreshold,
    addPrepaidBalanceThreshold: built.prepaidBalanceThreshold,
  };
}

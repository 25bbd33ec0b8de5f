/** Creates a contract from explicit terms (docs/explanation/contracts.md). */
import type { StatementSchedule } from '../../core/catalogue.ts';
import { assert, invalid, keyUsed, Refusal, words } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import type {
  Contract,
  ContractTerms,
  FullContract,
  HierarchyInput,
  SpendLimit,
  TransitionInput,
  UsageFilter,
} from '../../core/terms/contract.ts';
import type { MultiplierPrioritization } from '../../core/terms/overrides.ts';
import type { Instant } from '../../core/time.ts';
import type { Transaction } from '../../store/base/database.ts';
import { sentTogether } from '../../store/base/sent-together.ts';
import { contractWithKey, hasContracts, insertContract } from '../../store/contracts/contracts.ts';
import type { RateCard } from '../../store/rate-cards/rate-cards.ts';
import type { BillingContext } from '../billing-context.ts';
import {
  type BillingConfigurationLookup,
  matchBillingConfiguration,
} from '../billing-providers/match-configuration.ts';
import { requireActiveCustomer } from '../customers/active-customer.ts';
import { checkUsageFilter } from '../products/usage-filters.ts';
import { resolveHierarchy } from './hierarchy.ts';
import { type RateCardReference, resolveRateCard } from './rate-card-of-contract.ts';
import { settleContracts } from './settle-contract.ts';
import { spendLimitOf } from './spend-limit.ts';
import { buildNewTerms, type TermsInput } from './terms/build-terms.ts';
import { fieldsOfTerms } from './terms/fields-of-terms.ts';
import { namedIds } from './terms/named-ids.ts';
import { checkSeatLimit } from './terms/seat-limit.ts';
import { loadTermsContext } from './terms/terms-context.ts';
import { type Renewal, renewContract } from './transitions.ts';

export interface CreateContractInput extends RateCardReference {
  readonly customerId: string;
  /** The package of the terms. */
  readonly packageId: string | null;
  readonly name: string | null;
  readonly startingAt: Instant;
  readonly endingBefore: Instant | null;
  readonly statementSchedule: StatementSchedule;
  readonly invoiceGenerationStartingAt: Instant | null;
  readonly netPaymentTermsDays: number | null;
  readonly spendLimit: SpendLimit | null;
  readonly multiplierPrioritization: MultiplierPrioritization;
  readonly scheduledChargesOnUsageInvoices: boolean;
  readonly billingConfiguration: BillingConfigurationLookup | null;
  readonly hierarchy: HierarchyInput | null;
  readonly transition: TransitionInput | null;
  /** `startingAt` null: the contract's start. */
  readonly usageFilter: (Omit<UsageFilter, 'startingAt'> & { readonly startingAt: Instant | null }) | null;
  readonly terms: TermsInput;
  readonly uniquenessKey: string | null;
  readonly customFields: Readonly<Record<string, string>>;
  readonly createdBy: string;
}

/**
 * Maximum contracts of one customer, ended ones included. Lists of invoices and contracts of a customer read all of
 * them. Customers with more keep them and get no further one.
 */
const CONTRACTS_MAX = 1_000;

/**
 * Refuses an unknown customer or rate card (`not_found`), invalid terms (`invalid`, naming the field), a uniqueness key
 * that was used before, a customer with the maximum number of contracts, and a custom field value of another object
 * (`conflict`). Nothing is stored then.
 */
export async function createContract(
  context: BillingContext,
  input: CreateContractInput,
): Promise<FullContract> {
  return context.db.transaction((tx) => createContractIn(tx, context, input));
}

/** `createContract` within a larger transaction. */
export async function createContractIn(
  tx: Transaction,
  context: Omit<BillingContext, 'db'>,
  input: CreateContractInput,
): Promise<FullContract> {
  checkDates(input);
  const now = context.clock.now();
  const [, , card] = await sentTogether(
    () => requireActiveCustomer(tx, input.customerId),
    () => requireRoomForContract(tx, input.customerId),
    () => resolveRateCard(tx, input, input.startingAt),
  );
  const contract = await headerOf(tx, input, card, now);
  const usageFilter = await usageFilterOf(tx, contract, input);
  const loaded = await loadTermsContext(tx, card, namedIds(input.terms), {
    contract,
    paymentProvider: context.paymentProvider,
  });
  const terms: ContractTerms = {
    ...(await buildNewTerms(input.terms, { contract, loaded, createdAt: now, createdBy: input.createdBy })),
    usageFilters: usageFilter === null ? [] : [usageFilter],
  };
  checkSeatLimit([], terms.subscriptions, context.seatsMax, ({ id }) => [
    ...['terms', 'subscriptions', terms.subscriptions.findIndex((one) => one.id === id), 'seatConfig'],
  ]);
  if (!(await insertContract(tx, contract))) {
    throw keyUsed(await contractWithKey(tx, contract.uniquenessKey ?? ''));
  }
  const renewal =
    input.transition === null ? NO_RENEWAL : await renewContract(tx, contract, input.transition, now);
  const after = { contract, terms: { ...terms, commits: [...terms.commits, ...renewal.rollovers] } };
  const newFields = [
    { entity: 'contract' as const, entityId: contract.id, fields: input.customFields, path: [] },
    ...fieldsOfTerms(input.terms, terms, ['terms']),
  ];
  const created = { before: null, after, changes: {}, newFields };
  const changes = [created, ...renewal.ended];
  const settled = await settleContracts(tx, context, changes, { now, changedBy: input.createdBy });
  const [stored] = settled.states;
  assert(stored !== undefined, 'a contract that is created is stored');
  return stored;
}

async function requireRoomForContract(tx: Transaction, customerId: string): Promise<void> {
  if (!(await hasContracts(tx, customerId, CONTRACTS_MAX))) return;
  const most = CONTRACTS_MAX.toLocaleString('en');
  throw new Refusal('conflict', `a customer has at most ${most} contracts that are not archived`);
}

const NO_RENEWAL: Renewal = { rollovers: [], ended: [] };

async function headerOf(
  tx: Transaction,
  input: CreateContractInput,
  card: RateCard | null,
  now: Instant,
): Promise<Contract> {
  const { customerId, billingConfiguration: lookup } = input;
  const path = ['billingConfiguration'];
  const configuration = lookup && (await matchBillingConfiguration(tx, customerId, lookup, path));
  return {
    id: newId(),
    customerId,
    packageId: input.packageId,
    name: input.name,
    rateCardId: card?.id ?? null,
    startingAt: input.startingAt,
    endingBefore: input.endingBefore,
    statementSchedule: input.statementSchedule,
    invoiceGenerationStartingAt: input.invoiceGenerationStartingAt,
    netPaymentTermsDays: input.netPaymentTermsDays,
    spendLimit: await spendLimitOf(tx, input.spendLimit, card, ['spendLimit']),
    multiplierPrioritization: input.multiplierPrioritization,
    scheduledChargesOnUsageInvoices: input.scheduledChargesOnUsageInvoices,
    billingConfigurationId: configuration?.id ?? null,
    ...(await resolveHierarchy(tx, input.hierarchy)),
    uniquenessKey: input.uniquenessKey,
    createdAt: now,
    createdBy: input.createdBy,
    archivedAt: null,
  };
}

function checkDates({ startingAt, endingBefore, statementSchedule }: CreateContractInput): void {
  const { day, anchor } = statementSchedule;
  if (endingBefore !== null && endingBefore <= startingAt) {
    throw invalid(['endingBefore'], words`must be after ${['startingAt']}`);
  }
  const field = ['statementSchedule', 'anchor'];
  if (day === 'CUSTOM_DATE' && anchor === null) throw invalid(field, 'is required with day CUSTOM_DATE');
  if (day !== 'CUSTOM_DATE' && anchor !== null) throw invalid(field, 'is for day CUSTOM_DATE only');
}

async function usageFilterOf(
  tx: Transaction,
  contract: Contract,
  { usageFilter }: CreateContractInput,
): Promise<UsageFilter | null> {
  if (usageFilter === null) return null;
  const filter = { ...usageFilter, startingAt: usageFilter.startingAt ?? contract.startingAt };
  await checkUsageFilter(tx, contract, filter, ['usageFilter']);
  return filter;
}

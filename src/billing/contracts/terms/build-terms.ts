/**
 * Validates the terms of a request and creates the terms of a contract from them, with new ids in place of
 * temporary ids. Used to create contracts, to edit them and to provision packages. Pure; loaded data is in the
 * context.
 */
import { type FieldPath, invalid } from '../../../core/errors.ts';
import { newId } from '../../../core/ids.ts';
import { mapInChunks } from '../../../core/in-chunks.ts';
import type { CommitInput } from '../../../core/terms/commits.ts';
import type { Contract, ContractTerms } from '../../../core/terms/contract.ts';
import type { OverrideInput } from '../../../core/terms/overrides.ts';
import type { ProfessionalServiceInput } from '../../../core/terms/professional-services.ts';
import type { RecurringCommitInput } from '../../../core/terms/recurring-commits.ts';
import type { ScheduledCharge, ScheduledChargeInput } from '../../../core/terms/scheduled-charges.ts';
import type { SubscriptionInput } from '../../../core/terms/subscriptions.ts';
import type {
  PrepaidBalanceThreshold,
  SpendThreshold,
  SpendTracker,
} from '../../../core/terms/thresholds.ts';
import type { Instant } from '../../../core/time.ts';
import { buildCommit } from './commits.ts';
import { checkOverrideLimits } from './override-limits.ts';
import { buildOverride } from './overrides.ts';
import { buildProfessionalService } from './professional-services.ts';
import { buildRecurringCommit, refuseSecondDaily, validateRecurringCommit } from './recurring-commits.ts';
import { buildScheduledCharge } from './scheduled-charges.ts';
import { buildSubscription, validateSubscription } from './subscriptions.ts';
import type { LoadedContext, TermsContext } from './terms-context.ts';
import {
  validatePrepaidBalanceThreshold,
  validateSpendThreshold,
  validateSpendTrackers,
} from './thresholds.ts';

export interface TermsInput {
  readonly commits: readonly CommitInput[];
  readonly credits: readonly CommitInput[];
  readonly recurringCommits: readonly RecurringCommitInput[];
  readonly recurringCredits: readonly RecurringCommitInput[];
  readonly overrides: readonly OverrideInput[];
  readonly scheduledCharges: readonly ScheduledChargeInput[];
  readonly discounts: readonly ScheduledChargeInput[];
  readonly professionalServices: readonly ProfessionalServiceInput[];
  readonly subscriptions: readonly SubscriptionInput[];
  readonly spendTrackers: readonly SpendTracker[];
  readonly spendThreshold: SpendThreshold | null;
  readonly prepaidBalanceThreshold: PrepaidBalanceThreshold | null;
}

export const NO_TERMS_INPUT: TermsInput = {
  commits: [],
  credits: [],
  recurringCommits: [],
  recurringCredits: [],
  overrides: [],
  scheduledCharges: [],
  discounts: [],
  professionalServices: [],
  subscriptions: [],
  spendTrackers: [],
  spendThreshold: null,
  prepaidBalanceThreshold: null,
};

/** Existing terms that new ones may refer to. */
type ExistingTerms = Pick<
  ContractTerms,
  'commits' | 'recurringCommits' | 'overrides' | 'subscriptions' | 'spendTrackers'
>;

export interface BuildTerms {
  readonly contract: Pick<
    Contract,
    'id' | 'customerId' | 'startingAt' | 'endingBefore' | 'multiplierPrioritization'
  >;
  readonly loaded: LoadedContext;
  /** The path of the lists in the request. */
  readonly path: FieldPath;
  readonly existing: ExistingTerms;
  readonly createdAt: Instant;
  readonly createdBy: string;
}

/** Everything but usage filters. */
export type BuiltTerms = Omit<ContractTerms, 'usageFilters'>;

const NO_TERMS: ExistingTerms = {
  commits: [],
  recurringCommits: [],
  overrides: [],
  subscriptions: [],
  spendTrackers: [],
};

/** The terms of a new contract. */
export function buildNewTerms(
  input: TermsInput,
  build: Omit<BuildTerms, 'existing' | 'path'>,
): Promise<BuiltTerms> {
  return buildTerms(input, { ...build, existing: NO_TERMS, path: ['terms'] });
}

/**
 * The terms that `input` adds to those in `existing`. Refuses (`invalid`) the first invalid field of the first invalid
 * term. Other requests are served between parts of many overrides.
 */
export async function buildTerms(input: TermsInput, build: BuildTerms): Promise<BuiltTerms> {
  const given = assignIds(input, build);
  const context = contextOf(given, build);
  const { contract, path: listsAt, createdAt, createdBy } = build;
  const origin = { contractId: contract.id, createdAt, createdBy };
  for (const { input: one, path } of given.subscriptions) validateSubscription(one, path, context);
  for (const { input: one, path } of given.recurring) validateRecurringCommit(one, path, context);
  refuseSecondDaily([
    ...build.existing.recurringCommits.map((one) => ({
      input: { ...one, temporaryId: null },
      path: [...listsAt, 'recurringCommits'],
    })),
    ...given.recurring,
  ]);
  validateSpendTrackers(
    input.spendTrackers,
    [...listsAt, 'spendTrackers'],
    context,
    build.existing.spendTrackers,
  );
  checkThresholds(input, context, build);
  const overrides = await mapInChunks(input.overrides, (one, index) =>
    buildOverride(one, [...listsAt, 'overrides', index], context, {
      id: newId(),
      contractId: contract.id,
      createdAt,
    }),
  );
  checkOverrideLimits(build.existing.overrides, overrides, [...listsAt, 'overrides']);
  const charges = (list: 'scheduledCharges' | 'discounts', kind: ScheduledCharge['kind']) =>
    input[list].map((one, index) =>
      buildScheduledCharge(one, [...listsAt, list, index], context, { ...origin, kind, id: newId() }),
    );
  return {
    subscriptions: given.subscriptions.map(({ input: one, id }) =>
      buildSubscription(one, context, { ...origin, id }),
    ),
    recurringCommits: given.recurring.map(({ input: one, id }) =>
      buildRecurringCommit(one, context, { ...origin, id }),
    ),
    commits: given.commits.map(({ input: one, path, id }) =>
      buildCommit(one, path, context, { ...origin, id, customerId: contract.customerId }),
    ),
    overrides,
    scheduledCharges: [...charges('scheduledCharges', 'CHARGE'), ...charges('discounts', 'DISCOUNT')],
    professionalServices: input.professionalServices.map((one, index) =>
      buildProfessionalService(one, [...listsAt, 'professionalServices', index], context, {
        ...origin,
        id: newId(),
      }),
    ),
    spendTrackers: input.spendTrackers,
    spendThreshold: input.spendThreshold,
    prepaidBalanceThreshold: input.prepaidBalanceThreshold,
  };
}

function checkThresholds(
  input: TermsInput,
  context: TermsContext,
  { existing, path: listsAt }: BuildTerms,
): void {
  const trackers = [...existing.spendTrackers, ...input.spendTrackers];
  if (input.spendThreshold !== null) {
    const path = [...listsAt, 'spendThreshold'];
    validateSpendThreshold(input.spendThreshold, path, context, trackers);
  }
  if (input.prepaidBalanceThreshold !== null) {
    const path = [...listsAt, 'prepaidBalanceThreshold'];
    validatePrepaidBalanceThreshold(input.prepaidBalanceThreshold, path, context, trackers);
  }
}

interface Given<Input> {
  readonly input: Input;
  readonly id: string;
  readonly path: FieldPath;
}

interface GivenTerms {
  /** Commits first, then credits. */
  readonly commits: readonly Given<CommitInput>[];
  readonly recurring: readonly Given<RecurringCommitInput>[];
  readonly subscriptions: readonly Given<SubscriptionInput>[];
}

function assignIds(input: TermsInput, { path: listsAt }: BuildTerms): GivenTerms {
  const located = <Input>(list: readonly Input[], name: keyof TermsInput): Given<Input>[] =>
    list.map((one, index) => ({ input: one, id: newId(), path: [...listsAt, name, index] }));
  return {
    commits: [...located(input.commits, 'commits'), ...located(input.credits, 'credits')],
    recurring: [
      ...located(input.recurringCommits, 'recurringCommits'),
      ...located(input.recurringCredits, 'recurringCredits'),
    ],
    subscriptions: located(input.subscriptions, 'subscriptions'),
  };
}

/** Objects that are referenced by id can also be referenced by temporary id, if the request defines one. */
function contextOf(given: GivenTerms, { contract, loaded, existing }: BuildTerms): TermsContext {
  refuseRepeatedTemporaryIds([...given.commits, ...given.recurring]);
  refuseRepeatedTemporaryIds(given.subscriptions);
  const named = (terms: readonly Given<{ readonly temporaryId: string | null }>[]) =>
    terms.flatMap(({ input, id }): [string, string][] => [
      [id, id],
      ...(input.temporaryId === null ? [] : [[input.temporaryId, id] as [string, string]]),
    ]);
  const known = (terms: readonly { readonly id: string }[]) =>
    terms.map(({ id }): [string, string] => [id, id]);
  const loadedCommits = [...loaded.knownBalanceIds].map((id): [string, string] => [id, id]);
  const commits = [...loadedCommits, ...known(existing.commits), ...named(given.commits)];
  const recurring = [...known(existing.recurringCommits), ...named(given.recurring)];
  return {
    ...loaded,
    contract,
    multiplierPrioritization: contract.multiplierPrioritization,
    subscriptions: new Map([
      ...existing.subscriptions.map(({ id, quantityManagementMode }) => {
        return [id, { id, quantityManagementMode }] as const;
      }),
      ...given.subscriptions.flatMap(({ input, id }) => {
        const quantityManagementMode = input.quantityManagementMode ?? ('QUANTITY_ONLY' as const);
        return input.temporaryId === null
          ? []
          : [[input.temporaryId, { id, quantityManagementMode }] as const];
      }),
    ]),
    commitIds: new Map(commits),
    recurringCommitIds: new Map(recurring),
    balanceIds: new Map([...commits, ...recurring]),
  };
}

function refuseRepeatedTemporaryIds(terms: readonly Given<{ readonly temporaryId: string | null }>[]): void {
  const seen = new Set<string>();
  for (const { input, path } of terms) {
    const { temporaryId } = input;
    if (temporaryId === null) continue;
    if (seen.has(temporaryId)) {
      throw invalid([...path, 'temporaryId'], `repeats ${JSON.stringify(temporaryId)}`);
    }
    seen.add(temporaryId);
  }
}

/** All terms of a contract, of the additions of an edit, or of a package. */

import type { AccumulatedSpend } from '../../../billing/thresholds/spend-trackers.ts';
import type { Commit } from '../../../core/terms/commits.ts';
import type { ContractTerms } from '../../../core/terms/contract.ts';
import { defaulted, type Kind, list, named, optional, optionalMany } from '../description.ts';
import {
  type CommitContext,
  commit,
  commitTemplate,
  commitV2,
  commitView,
  credit,
  creditTemplate,
  creditV2,
  isCommit,
} from './commits.ts';
import { override, overrideTemplate, overrideV2 } from './overrides.ts';
import { professionalService, professionalServiceView } from './professional-services.ts';
import {
  recurringCommit,
  recurringCommitTemplate,
  recurringCredit,
  recurringCreditTemplate,
} from './recurring-commits.ts';
import {
  chargeView,
  discount,
  discountV2,
  isDiscount,
  scheduledCharge,
  scheduledChargeTemplate,
  scheduledChargeV2,
} from './scheduled-charges.ts';
import {
  type SubscriptionContext,
  subscription,
  subscriptionTemplate,
  subscriptionView,
} from './subscriptions.ts';
import {
  prepaidBalanceThreshold,
  spendThreshold,
  spendTracker,
  spendTrackerTemplate,
  spendTrackerView,
} from './thresholds.ts';

/** Far above any contract. Keeps the transaction of one call within seconds. */
export const TERMS_MAX = 1_000;
export const OVERRIDES_MAX = 5_000;

/** A list that answers leave out if it is empty. */
export function many<Sent, Stored>(of: Kind<Sent, Stored>, max = TERMS_MAX) {
  return optionalMany(list(of, { max }), []);
}

/** A list that is always in answers. */
function all<Sent, Stored>(of: Kind<Sent, Stored>, max = TERMS_MAX) {
  return defaulted(list(of, { max }), []);
}

const thresholds = {
  spendThreshold: optional(spendThreshold),
  prepaidBalanceThreshold: optional(prepaidBalanceThreshold),
};

export const contractTerms = {
  commits: all(commit),
  credits: all(credit),
  recurringCommits: many(recurringCommit),
  recurringCredits: many(recurringCredit),
  overrides: all(override, OVERRIDES_MAX),
  scheduledCharges: all(scheduledCharge),
  discounts: many(discount),
  professionalServices: many(professionalService),
  subscriptions: many(subscription),
  spendTrackers: many(spendTracker),
  ...thresholds,
};

export const contractTermsV2 = {
  ...contractTerms,
  commits: all(commitV2),
  credits: all(creditV2),
  overrides: all(overrideV2),
};

/** Additions of v2 edits. */
export const addedTerms = {
  commits: many(commitV2),
  credits: many({ ...creditV2, input: credit.input }),
  recurringCommits: many(recurringCommit),
  recurringCredits: many(recurringCredit),
  overrides: many(overrideV2, OVERRIDES_MAX),
  scheduledCharges: many(scheduledChargeV2),
  discounts: many(discountV2),
  professionalServices: named({ answeredAs: 'pro_services' }, many(professionalService)),
  subscriptions: many(subscription),
  spendTrackers: many(spendTracker),
  ...thresholds,
};

export const packageTerms = {
  commits: all(commitTemplate),
  credits: all(creditTemplate),
  recurringCommits: all(recurringCommitTemplate),
  recurringCredits: all(recurringCreditTemplate),
  overrides: all(overrideTemplate, OVERRIDES_MAX),
  scheduledCharges: all(scheduledChargeTemplate),
  subscriptions: all(subscriptionTemplate),
  spendTrackers: all(spendTrackerTemplate),
  ...thresholds,
};

/** Data that answers show besides the terms themselves. */
export type TermsContext = SubscriptionContext &
  Omit<CommitContext, 'recurringCommits'> & {
    /** By alias of a spend tracker. */
    readonly spends: ReadonlyMap<string, AccumulatedSpend>;
  };

/** Terms with all data that answers show. */
export function termsView(terms: ContractTerms, context: TermsContext) {
  const { commits, recurringCommits } = terms;
  const byId = new Map(recurringCommits.map((one) => [one.id, one]));
  const charges = terms.scheduledCharges.map((one) => chargeView(one, context.names));
  const balance = (one: Commit) => commitView(one, { ...context, recurringCommits: byId });
  return {
    ...terms,
    commits: commits.filter(isCommit).map(balance),
    credits: commits.filter((one) => !isCommit(one)).map(balance),
    recurringCommits: recurringCommits.filter(({ kind }) => kind === 'COMMIT'),
    recurringCredits: recurringCommits.filter(({ kind }) => kind === 'CREDIT'),
    overrides: terms.overrides,
    scheduledCharges: charges.filter((one) => !isDiscount(one)),
    discounts: charges.filter(isDiscount),
    professionalServices: terms.professionalServices.map((one) =>
      professionalServiceView(one, context.names),
    ),
    subscriptions: terms.subscriptions.map((one) => subscriptionView(one, context)),
    spendTrackers: terms.spendTrackers.map((one) => spendTrackerView(one, context.spends.get(one.alias))),
  };
}

/** Terms as an edit added them, without balances. */
export function addedTermsView(terms: ContractTerms, context: SubscriptionContext) {
  const none = { balances: null, includeBalance: false, includeLedgers: false };
  const nothing = { costBases: new Map(), spends: new Map() };
  return termsView(terms, { ...context, ...none, ...nothing });
}

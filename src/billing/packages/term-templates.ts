/**
 * Creates the templates of a package from the terms of a request, and converts templates back to the input of a
 * contract. A template has the values that the same input gives a contract's term: defaults are set when the
 * package is created, and temporary ids are replaced by template ids. Pure.
 */
import { type CustomFields, type CustomFieldsById, customFieldsOf } from '../../core/custom-fields.ts';
import { assert } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import type { Commit } from '../../core/terms/commits.ts';
import { describedRate } from '../../core/terms/overrides.ts';
import {
  type CommitTemplate,
  type OverrideTemplate,
  type RecurringCommitTemplate,
  type RelativeInvoiceSchedule,
  type TermTemplates,
  termTemplates,
} from '../../core/terms/packages.ts';
import type { BuiltTerms } from '../contracts/terms/build-terms.ts';
import { resolveAmount } from '../contracts/terms/point-schedule.ts';
import type {
  RelativeCommit,
  RelativeInvoiceScheduleInput,
  RelativeOverride,
  RelativeRecurringCommit,
  RelativeSubscription,
  RelativeTerms,
} from './relative-terms.ts';

/**
 * `built` are the terms that `given` produces for any one contract, in the same order. Parsing drops the members that
 * only a contract's term has, and gives the templates the form in which the store returns them.
 */
export function termTemplatesOf(given: RelativeTerms, built: BuiltTerms): TermTemplates {
  const isCredit = ({ type }: Commit) => type === 'CREDIT';
  const { commits, recurringCommits } = built;
  const templates = {
    ...built,
    commits: join(
      given.commits,
      commits.filter((one) => !isCredit(one)),
      relativeCommit,
    ),
    credits: join(given.credits, commits.filter(isCredit), relativeCommit),
    recurringCommits: join(
      given.recurringCommits,
      recurringCommits.filter(({ kind }) => kind === 'COMMIT'),
      relativeRange,
    ),
    recurringCredits: join(
      given.recurringCredits,
      recurringCommits.filter(({ kind }) => kind === 'CREDIT'),
      relativeRange,
    ),
    overrides: join(given.overrides, built.overrides, relativeRange),
    scheduledCharges: join(given.scheduledCharges, built.scheduledCharges, (one, { schedule }) => ({
      schedule: relativeInvoiceSchedule(one.schedule, schedule.creditTypeId),
    })),
    subscriptions: join(given.subscriptions, built.subscriptions, relativeSubscription),
  };
  return termTemplates.parse(JSON.parse(JSON.stringify(templates)));
}

/** Each built term with its dates replaced by relative ones. */
function join<Given, Term extends object, Relative extends object>(
  given: readonly Given[],
  terms: readonly Term[],
  relative: (given: Given, term: Term) => Relative,
): (Omit<Term, keyof Relative> & Relative)[] {
  assert(given.length === terms.length, 'every described term has been built');
  return given.map((one, index) => {
    const term = terms[index];
    assert(term !== undefined, 'every described term has been built');
    return { ...term, ...relative(one, term) };
  });
}

function relativeRange({ startingAtOffset, duration }: RelativeRecurringCommit | RelativeOverride) {
  return { startingAtOffset, duration };
}

function relativeCommit({ accessSchedule, invoiceSchedule }: RelativeCommit, commit: Commit) {
  const invoiceUnit = commit.invoiceSchedule?.creditTypeId;
  return {
    accessSchedule: {
      creditTypeId: commit.accessSchedule.creditTypeId,
      segments: accessSchedule.segments.map((segment) => ({ id: newId(), ...segment })),
    },
    invoiceSchedule:
      invoiceSchedule === null || invoiceUnit === undefined
        ? null
        : relativeInvoiceSchedule(invoiceSchedule, invoiceUnit),
  };
}

/** The amounts have been checked already, each under its own path. */
function relativeInvoiceSchedule(
  { doNotInvoice, items }: RelativeInvoiceScheduleInput,
  creditTypeId: string,
): RelativeInvoiceSchedule {
  return {
    creditTypeId,
    doNotInvoice,
    items: items.map((item) => {
      const { unitPrice, quantity } = resolveAmount(item, ['items']);
      return { id: newId(), dateOffset: item.dateOffset, unitPrice, quantity };
    }),
  };
}

function relativeSubscription(given: RelativeSubscription) {
  const { initialQuantity, seatConfig, startingAtOffset, duration } = given;
  return { initialQuantity, seatConfig, startingAtOffset, duration };
}

/**
 * The description of the templates. Their ids are the temporary ids, by which they still name one another.
 * `customFields` are those of the templates.
 */
export function relativeTermsOf(templates: TermTemplates, customFields: CustomFieldsById): RelativeTerms {
  const fieldsOf = ({ id }: { readonly id: string }) => customFieldsOf(customFields, id);
  const { spendTrackers, spendThreshold, prepaidBalanceThreshold } = templates;
  return {
    commits: templates.commits.map((one) => describeCommit(one, fieldsOf(one))),
    credits: templates.credits.map((one) => describeCommit(one, fieldsOf(one))),
    recurringCommits: templates.recurringCommits.map(describeRecurring),
    recurringCredits: templates.recurringCredits.map(describeRecurring),
    overrides: templates.overrides.map(describeOverride),
    scheduledCharges: templates.scheduledCharges.map(({ id, schedule, ...rest }) => ({
      ...rest,
      schedule: describeInvoiceSchedule(schedule),
      customFields: fieldsOf({ id }),
    })),
    subscriptions: templates.subscriptions.map(({ id, ...rest }) => ({
      ...rest,
      temporaryId: id,
      customFields: fieldsOf({ id }),
    })),
    spendTrackers,
    spendThreshold,
    prepaidBalanceThreshold,
  };
}

function describeCommit(
  { id, invoiceSchedule, accessSchedule, ...rest }: CommitTemplate,
  customFields: CustomFields,
): RelativeCommit {
  const { creditTypeId, segments } = accessSchedule;
  return {
    ...rest,
    customFields,
    temporaryId: id,
    accessSchedule: { creditTypeId, segments: segments.map(({ id: _, ...segment }) => segment) },
    invoiceSchedule: invoiceSchedule === null ? null : describeInvoiceSchedule(invoiceSchedule),
  };
}

function describeInvoiceSchedule({ items, ...rest }: RelativeInvoiceSchedule): RelativeInvoiceScheduleInput {
  return { ...rest, items: items.map(({ id: _, ...item }) => ({ ...item, amount: null })) };
}

function describeRecurring({ id, ...rest }: RecurringCommitTemplate): RelativeRecurringCommit {
  return { ...rest, temporaryId: id };
}

/** An empty member of a template was not given. */
function describeOverride({ id: _, tiers, overwriteRate, ...rest }: OverrideTemplate): RelativeOverride {
  return {
    ...rest,
    tiers: tiers.length === 0 ? null : tiers,
    overwriteRate: overwriteRate === null ? null : describedRate(overwriteRate),
    target: rest.isCommitSpecific ? rest.target : null,
  };
}

/** The ids of the templates that can have custom fields. */
export function templateIdsWithFields(templates: TermTemplates): string[] {
  const { commits, credits, scheduledCharges, subscriptions } = templates;
  return [...commits, ...credits, ...scheduledCharges, ...subscriptions].map(({ id }) => id);
}

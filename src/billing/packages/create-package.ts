/** Creates packages (docs/explanation/packages.md). */
import type { ObjectFields } from '../../core/custom-fields.ts';
import { ZERO } from '../../core/decimal.ts';
import { invalid, keyUsed, namesNothing, words } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { addRelative, type RelativeDate } from '../../core/relative-time.ts';
import type { HeaderTemplate, Package, TermTemplates } from '../../core/terms/packages.ts';
import type { PaymentProvider } from '../../core/terms/payment-gate.ts';
import type { Instant } from '../../core/time.ts';
import type { Transaction } from '../../store/base/database.ts';
import { insertPackage, type NewPackageAlias, packageWithKey } from '../../store/contracts/packages.ts';
import { loadAliasAssignments } from '../../store/rate-cards/rate-cards.ts';
import type { BillingContext } from '../billing-context.ts';
import { resolveRateCard } from '../contracts/rate-card-of-contract.ts';
import { checkSpendLimitUnit, spendLimitOf } from '../contracts/spend-limit.ts';
import { type BuiltTerms, buildNewTerms, type TermsInput } from '../contracts/terms/build-terms.ts';
import { located } from '../contracts/terms/fields-of-terms.ts';
import { namedIds } from '../contracts/terms/named-ids.ts';
import {
  type CardFacts,
  type LoadedContext,
  loadTermsContext,
  subscriptionRateKey,
} from '../contracts/terms/terms-context.ts';
import { storeCustomFields } from '../custom-fields/store-fields.ts';
import { checkAliases } from '../rate-cards/rate-cards.ts';
import { type RelativeTerms, resolveTerms } from './relative-terms.ts';
import { termTemplatesOf } from './term-templates.ts';

export interface CreatePackageInput {
  readonly name: string;
  readonly uniquenessKey: string | null;
  readonly aliases: readonly NewPackageAlias[];
  readonly header: HeaderTemplate;
  readonly terms: RelativeTerms;
  readonly createdBy: string;
}

/**
 * Terms are checked as those of a contract that starts here. Any start would do, and it must be the same
 * for all packages: whether a package is sound does not depend on the day of its creation.
 */
const NOMINAL_START = Date.UTC(2024, 0, 1);

/**
 * Refuses an unknown rate card (`not_found`), terms that no contract could have (`invalid`, naming the
 * field), a uniqueness key that was used before and the value of a custom field that another object holds
 * (`conflict`); nothing is stored then. An alias that another package holds is taken over.
 */
export async function createPackage(
  context: Pick<BillingContext, 'db' | 'clock' | 'paymentProvider'>,
  input: CreatePackageInput,
): Promise<Package> {
  checkAliases(input.aliases);
  checkOffsets(input);
  return context.db.transaction(async (tx) => {
    const built = await buildNominalTerms(tx, input, context.paymentProvider);
    const created: Package = {
      id: newId(),
      name: input.name,
      uniquenessKey: input.uniquenessKey,
      header: input.header,
      terms: termTemplatesOf(input.terms, built),
      createdAt: context.clock.now(),
      createdBy: input.createdBy,
      archivedAt: null,
    };
    if (!(await insertPackage(tx, created, input.aliases))) {
      throw keyUsed(await packageWithKey(tx, created.uniquenessKey ?? ''));
    }
    await storeCustomFields(tx, fieldsOfTemplates(input.terms, created.terms));
    return created;
  });
}

/** The contract's own rules would say the same of dates that a package does not have. */
function checkOffsets({ header, terms }: CreatePackageInput): void {
  const { duration } = header;
  if (duration === null) return;
  const at = (date: RelativeDate): Instant => addRelative(NOMINAL_START, date);
  for (const list of ['recurringCommits', 'recurringCredits', 'subscriptions'] as const) {
    for (const [index, { startingAtOffset }] of terms[list].entries()) {
      if (startingAtOffset === null || at(startingAtOffset) < at(duration)) continue;
      throw invalid(
        ['terms', list, index, 'startingAtOffset'],
        'must lie before the end of the duration of the package',
      );
    }
  }
}

async function buildNominalTerms(
  tx: Transaction,
  input: CreatePackageInput,
  paymentProvider: PaymentProvider | undefined,
): Promise<BuiltTerms> {
  const { header } = input;
  const terms = resolveTerms(input.terms, NOMINAL_START, addRelative);
  return await buildNewTerms(terms, {
    contract: {
      id: newId(),
      customerId: newId(),
      startingAt: NOMINAL_START,
      endingBefore: header.duration === null ? null : addRelative(NOMINAL_START, header.duration),
      multiplierPrioritization: header.multiplierPrioritization,
    },
    loaded: await loadContext(tx, header, terms, paymentProvider),
    createdAt: NOMINAL_START,
    createdBy: input.createdBy,
  });
}

async function loadContext(
  tx: Transaction,
  header: HeaderTemplate,
  terms: TermsInput,
  paymentProvider: PaymentProvider | undefined,
): Promise<LoadedContext> {
  const { rateCardId, rateCardAlias } = header;
  if (rateCardId !== null && rateCardAlias !== null) {
    throw invalid(['rateCardAlias'], words`cannot be combined with ${['rateCardId']}`);
  }
  const named = namedIds(terms);
  const card = await resolveRateCard(tx, { rateCardId, rateCardAlias: null }, NOMINAL_START);
  const limitAt = ['spendLimit'];
  if (rateCardAlias === null) await spendLimitOf(tx, header.spendLimit, card, limitAt);
  else if (header.spendLimit !== null) await checkSpendLimitUnit(tx, header.spendLimit, limitAt);
  const loaded = await loadTermsContext(tx, card, named, { contract: null, paymentProvider });
  if (rateCardAlias === null) return loaded;
  const assignments = await loadAliasAssignments(tx, [rateCardAlias]);
  if (assignments.length === 0) {
    const text = `no rate card has the alias ${JSON.stringify(rateCardAlias)}`;
    throw namesNothing(['rateCardAlias'], text);
  }
  return { ...loaded, card: cardOfAnyKind(terms, loaded) };
}

/**
 * Which card an alias will mean is not known before a contract starts: the card that has and converts
 * whatever the terms name. A contract's own card is checked when the contract is created.
 */
function cardOfAnyKind(terms: TermsInput, { products, creditTypes }: LoadedContext): CardFacts {
  const subscribed = [
    ...terms.subscriptions,
    ...terms.overrides.flatMap((override) => override.specifiers),
  ].flatMap(({ productId, billingFrequency }) =>
    productId === null || billingFrequency === null ? [] : [subscriptionRateKey(productId, billingFrequency)],
  );
  return {
    id: 'unknown',
    fiatCreditTypeId: 'unknown',
    conversions: new Map([...creditTypes.keys()].map((id) => [id, ZERO])),
    productIds: new Set(products.keys()),
    subscriptionRates: new Set(subscribed),
  };
}

/** The fields of the templates of a package, which were created from `given` in its order. */
function fieldsOfTemplates(given: RelativeTerms, made: TermTemplates): ObjectFields[] {
  return [
    ...located('package_commit', given.commits, made.commits, ['terms', 'commits']),
    ...located('package_credit', given.credits, made.credits, ['terms', 'credits']),
    ...located('package_scheduled_charge', given.scheduledCharges, made.scheduledCharges, [
      'terms',
      'scheduledCharges',
    ]),
    ...located('package_subscription', given.subscriptions, made.subscriptions, ['terms', 'subscriptions']),
  ];
}

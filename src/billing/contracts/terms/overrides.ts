/** Validates and creates overrides (docs/explanation/contracts.md, "Overrides"). Pure. */
import { ZERO } from '../../../core/decimal.ts';
import { type FieldPath, invalid, words } from '../../../core/errors.ts';
import type { Override, OverrideInput, OverrideTier } from '../../../core/terms/overrides.ts';
import type { Instant } from '../../../core/time.ts';
import { checkPrice, givenMode } from '../../rate-cards/rate-terms.ts';
import { checkTargets, resolveSpecifier } from './override-targets.ts';
import {
  requireCreditType,
  requireEndAfterStart,
  requireProduct,
  type TermsContext,
} from './terms-context.ts';

/**
 * Creates the override from the input and replaces temporary ids by ids. Refuses (`invalid`) the first invalid field;
 * `path` is the override's place in the request.
 */
export function buildOverride(
  input: OverrideInput,
  path: FieldPath,
  context: TermsContext,
  origin: { readonly id: string; readonly contractId: string; readonly createdAt: Instant },
): Override {
  return { ...input, ...origin, ...resolveOverride(input, path, context) };
}

interface Resolved extends Pick<Override, 'type' | 'overwriteRate' | 'tiers' | 'target' | 'specifiers'> {
  readonly tiersMode: Override['tiersMode'];
}

function resolveOverride(input: OverrideInput, path: FieldPath, context: TermsContext): Resolved {
  const type = typeOf(input, path);
  requireEndAfterStart(input, path);
  refuseForeignFields({ ...input, type }, path);
  checkPriority(input, type, path, context);
  checkTargets(input, type, path, context);
  if (input.target !== null && !input.isCommitSpecific) {
    throw invalid([...path, 'target'], 'is for commit-specific overrides only');
  }
  if (type === 'MULTIPLIER' && input.multiplier?.lt(ZERO)) {
    throw invalid([...path, 'multiplier'], 'must not be negative');
  }
  return {
    type,
    overwriteRate: type === 'OVERWRITE' ? resolveOverwriteRate(input, path, context) : null,
    tiers: type === 'TIERED' ? checkTiers(input.tiers ?? [], [...path, 'tiers']) : [],
    tiersMode: givenMode(input.tiersMode).tiersMode,
    target: input.target ?? 'LIST_RATE',
    specifiers: input.specifiers.map((specifier, index) =>
      resolveSpecifier(specifier, input, [...path, 'specifiers', index], context),
    ),
  };
}

/** Without an explicit type, the given fields determine it. Null: the override sets only the entitlement. */
function typeOf(input: OverrideInput, path: FieldPath): Override['type'] {
  if (input.type !== null) return input.type;
  if (input.overwriteRate !== null) return 'OVERWRITE';
  if (input.tiers !== null) return 'TIERED';
  if (input.multiplier !== null) return 'MULTIPLIER';
  if (input.entitled === null) throw invalid([...path, 'type'], 'is required without entitled');
  return null;
}

const OWNERS = { multiplier: 'MULTIPLIER', overwriteRate: 'OVERWRITE', tiers: 'TIERED' } as const;

function refuseForeignFields(input: OverrideInput, path: FieldPath): void {
  for (const member of ['multiplier', 'overwriteRate', 'tiers'] as const) {
    const [owner, field] = [OWNERS[member], [...path, member]];
    if (input.type === owner && input[member] === null) {
      throw invalid(field, `is required for ${owner} overrides`);
    }
    if (input.type !== owner && input[member] !== null) {
      throw invalid(field, `is for ${owner} overrides, not for ${input.type}`);
    }
  }
  if (input.type !== 'TIERED' && (input.tiersMode ?? null) !== null) {
    throw invalid([...path, 'tiersMode'], `is for TIERED overrides, not for ${input.type}`);
  }
}

function checkPriority(
  { priority }: OverrideInput,
  type: Override['type'],
  path: FieldPath,
  { multiplierPrioritization }: TermsContext,
): void {
  if (priority?.lte(ZERO)) throw invalid([...path, 'priority'], 'must be greater than 0');
  if (multiplierPrioritization === 'EXPLICIT') {
    if (priority === null && (type === 'MULTIPLIER' || type === 'TIERED')) {
      throw invalid([...path, 'priority'], words`is required with ${['multiplierPrioritization']} EXPLICIT`);
    }
  } else if (type === 'TIERED') {
    throw invalid([...path, 'type'], words`TIERED needs ${['multiplierPrioritization']} EXPLICIT`);
  }
}

/** Every tier but the last has a size; the last one may. Beyond it the price is not changed. */
function checkTiers(tiers: readonly OverrideTier[], field: FieldPath): readonly OverrideTier[] {
  if (tiers.length === 0) throw invalid(field, 'at least one tier is needed');
  for (const [index, { size, multiplier }] of tiers.entries()) {
    if (multiplier.lt(ZERO)) throw invalid([...field, index, 'multiplier'], 'must not be negative');
    if (size === null && index < tiers.length - 1) {
      throw invalid([...field, index, 'size'], 'is needed in every tier but the last');
    }
    if (size?.lte(ZERO)) throw invalid([...field, index, 'size'], 'must be greater than 0');
  }
  return tiers;
}

/** The types of rate for each type of product, as on a rate card. */
const RATE_TYPES_OF_PRODUCTS: Readonly<Record<string, readonly string[]>> = {
  USAGE: ['FLAT', 'TIERED'],
  SUBSCRIPTION: ['FLAT', 'SUBSCRIPTION'],
  COMPOSITE: ['PERCENTAGE', 'TIERED_PERCENTAGE'],
};

function resolveOverwriteRate(
  input: OverrideInput,
  path: FieldPath,
  context: TermsContext,
): Override['overwriteRate'] {
  if (input.overwriteRate === null) return null;
  const { creditTypeId, ...price } = input.overwriteRate;
  const field = [...path, 'overwriteRate'];
  const rate = checkPrice(price, [...field]);
  const named = [input.productId, ...input.specifiers.map((specifier) => specifier.productId)];
  for (const id of named) {
    if (id === null) continue;
    const { type } = requireProduct(context, id, path);
    const suitable = RATE_TYPES_OF_PRODUCTS[type] ?? [];
    if (suitable.includes(rate.rateType)) continue;
    throw invalid([...field, 'rateType'], `must be ${suitable.join(' or ')} for ${type} products`);
  }
  if (creditTypeId === null) return { rate, creditTypeId };
  requireCreditType(context, creditTypeId, [...field, 'creditTypeId']);
  const { card } = context;
  if (card?.fiatCreditTypeId !== creditTypeId && !card?.conversions.has(creditTypeId)) {
    throw invalid(
      [...field, 'creditTypeId'],
      'is neither the currency of the rate card nor a unit that it converts',
    );
  }
  return { rate, creditTypeId };
}

/** The terms of a contract in one list, by their start. */
import type { Exact } from '../../api/exact.ts';
import type { Schemas } from '../../api/operations.gen.d.ts';
import type { CreditType } from '../../format/money.ts';

type Contract = Schemas['ContractV2'];

export interface Term {
  readonly kind: string;
  readonly text: string;
  readonly from: string;
  /** Exclusive; absent for a term that is open. */
  readonly until?: string | undefined;
}

/** How figures are written. */
interface Texts {
  money(amount: Exact, unit: CreditType): string;
  price(amount: Exact, unit: CreditType): string;
  quantity(value: Exact): string;
}

export function termsOf(contract: Contract, texts: Texts): Term[] {
  const terms = [
    ...contract.commits.flatMap((each) => grantTerms(`${each.type.toLowerCase()} commit`, each, texts)),
    ...contract.credits.flatMap((each) => grantTerms('credit', each, texts)),
    ...(contract.recurring_commits ?? []).map((each) => recurringTerm('recurring commit', each)),
    ...(contract.recurring_credits ?? []).map((each) => recurringTerm('recurring credit', each)),
    ...contract.overrides.map((each) => overrideTerm(each, texts)),
    ...(contract.subscriptions ?? []).map((each) => subscriptionTerm(each, texts)),
    ...contract.scheduled_charges.flatMap((each) => chargeTerms('charge', each, texts)),
    ...(contract.discounts ?? []).flatMap((each) => chargeTerms('discount', each, texts)),
    ...contract.transitions.map(({ type, from_contract_id }) => ({
      kind: type.toLowerCase(),
      text: `from contract ${from_contract_id.slice(0, 8)}`,
      from: contract.starting_at,
      until: contract.starting_at,
    })),
  ];
  return terms.sort((a, b) => a.from.localeCompare(b.from));
}

type Grant = Pick<Contract['commits'][number], 'name' | 'product' | 'access_schedule'>;

function grantTerms(kind: string, { name, product, access_schedule }: Grant, texts: Texts): Term[] {
  if (access_schedule === undefined) return [];
  return access_schedule.schedule_items.map(({ amount, starting_at, ending_before }) => ({
    kind,
    text: `${name ?? product.name}: ${texts.money(amount, access_schedule.credit_type)}`,
    from: starting_at,
    until: ending_before,
  }));
}

type Recurring =
  | NonNullable<Contract['recurring_commits']>[number]
  | NonNullable<Contract['recurring_credits']>[number];

function recurringTerm(kind: string, { name, product, starting_at, ending_before }: Recurring): Term {
  return { kind, text: name ?? product.name, from: starting_at, until: ending_before };
}

function overrideTerm(override: Contract['overrides'][number], { quantity }: Texts): Term {
  const { type, multiplier, entitled, product, starting_at, ending_before } = override;
  const what = [
    ...(multiplier === undefined ? [] : [`× ${quantity(multiplier)}`]),
    ...(entitled === undefined ? [] : [entitled ? 'entitled' : 'not entitled']),
    ...(multiplier === undefined && type !== undefined ? [type.toLowerCase()] : []),
  ];
  return {
    kind: 'override',
    text: `${product?.name ?? 'by tags or specifiers'}: ${what.join(', ')}`,
    from: starting_at,
    until: ending_before,
  };
}

function subscriptionTerm(
  subscription: NonNullable<Contract['subscriptions']>[number],
  { quantity }: Texts,
): Term {
  const { name, subscription_rate, quantity_schedule, starting_at, ending_before } = subscription;
  const [current] = quantity_schedule;
  return {
    kind: 'subscription',
    text: `${name ?? subscription_rate.product.name}, ${subscription_rate.billing_frequency.toLowerCase()}${
      current === undefined ? '' : `: ${quantity(current.quantity)}`
    }`,
    from: starting_at,
    until: ending_before,
  };
}

type Charge = Pick<Contract['scheduled_charges'][number], 'name' | 'product' | 'schedule'>;

function chargeTerms(kind: string, { name, product, schedule }: Charge, texts: Texts): Term[] {
  return schedule.schedule_items.map(({ amount, timestamp }) => ({
    kind,
    text: `${name ?? product.name}: ${texts.money(amount, schedule.credit_type)}`,
    from: timestamp,
    until: timestamp,
  }));
}

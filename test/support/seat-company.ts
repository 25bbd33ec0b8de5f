/**
 * Companies whose seats hold separate credits: calls cost 10 each, and each seat has credits of 100 a month.
 */
import type { ApiAnswer, ApiClient } from './api-client.ts';
import { ADD_RATES, CONTRACTS, createdId, METRICS, PRODUCTS, RATE_CARDS } from './catalogue-api.ts';

const DOLLARS = '2714e483-4ff1-48e4-9e25-ac732e8f24f2';

export interface SeatCatalogue {
  readonly card: string;
  readonly calls: string;
  readonly seats: string;
  readonly allowance: string;
}

/** Calls are grouped by `user`. A seat costs 1,000 a month. */
export async function createSeatCatalogue(api: ApiClient): Promise<SeatCatalogue> {
  const metric = await createdId(api, METRICS, {
    ...{ name: 'Calls', aggregation_type: 'COUNT', event_type_filter: { in_values: ['call'] } },
    ...{ property_filters: [{ name: 'user', exists: true }], group_keys: [['user']] },
  });
  const calls = await createdId(api, PRODUCTS, {
    ...{ name: 'Calls', type: 'USAGE', billable_metric_id: metric, presentation_group_key: ['user'] },
  });
  const seats = await createdId(api, PRODUCTS, { name: 'Seats', type: 'SUBSCRIPTION' });
  const allowance = await createdId(api, PRODUCTS, { name: 'Allowance', type: 'FIXED' });
  const card = await createdId(api, RATE_CARDS, { name: 'Card' });
  const rate = { starting_at: '2020-01-01T00:00:00Z', entitled: true, rate_type: 'FLAT' };
  await api.post(ADD_RATES, {
    rate_card_id: card,
    rates: [
      { ...rate, product_id: calls, price: 10 },
      { ...rate, product_id: seats, price: 1_000, billing_frequency: 'MONTHLY' },
    ],
  });
  return { card, calls, seats, allowance };
}

export interface SeatCompany {
  readonly customer: string;
  readonly contract: string;
  readonly subscription: string;
  /** The credit of the first month. */
  readonly credit: string;
  readonly alias: string;
}

export interface SeatCompanyOptions {
  readonly alias: string;
  readonly start: string;
  /** A number: QUANTITY_ONLY, with credits that all usage may draw on. */
  readonly seats: readonly string[] | number;
  /** For how many months a credit can be used. */
  readonly months?: number;
  /** The allowance of one seat in a month; default: 100. */
  readonly allowance?: number;
  /** Whether a seat that is added later has a part of the allowance; default: all of it. */
  readonly proratesIncreases?: boolean;
}

/** A contract with a subscription in arrears, and a credit for its seats in each month. */
export async function createSeatCompany(
  api: ApiClient,
  catalogue: SeatCatalogue,
  { alias, start, seats, months = 1, allowance = 100, proratesIncreases = false }: SeatCompanyOptions,
): Promise<SeatCompany> {
  const customer = await createdId(api, '/v1/customers', { name: alias, ingest_aliases: [alias] });
  const byNumber = typeof seats === 'number';
  const contract = await createdId(api, CONTRACTS, {
    ...{ customer_id: customer, rate_card_id: catalogue.card, starting_at: start },
    usage_statement_schedule: { frequency: 'MONTHLY' },
    subscriptions: [
      {
        subscription_rate: { billing_frequency: 'MONTHLY', product_id: catalogue.seats },
        ...{ collection_schedule: 'ARREARS', temporary_id: 'seats' },
        proration: { is_prorated: false, invoice_behavior: 'BILL_ON_NEXT_COLLECTION_DATE' },
        ...(byNumber
          ? { quantity_management_mode: 'QUANTITY_ONLY', initial_quantity: seats }
          : {
              quantity_management_mode: 'SEAT_BASED',
              seat_config: { seat_group_key: 'user', initial_seat_ids: seats },
            }),
      },
    ],
    recurring_credits: [
      {
        ...{ product_id: catalogue.allowance, applicable_product_ids: [catalogue.calls] },
        access_amount: { unit_price: allowance, credit_type_id: DOLLARS },
        subscription_config: {
          ...{ subscription_id: 'seats', allocation: byNumber ? 'POOLED' : 'INDIVIDUAL' },
          apply_seat_increase_config: { is_prorated: proratesIncreases },
        },
        ...{ commit_duration: { value: months }, priority: 1, starting_at: start },
      },
    ],
  });
  const state = await api.post('/v2/contracts/get', { customer_id: customer, contract_id: contract });
  return {
    ...{ customer, contract, alias },
    subscription: state.text('data.subscriptions[0].id'),
    credit: state.text('data.credits[0].id'),
  };
}

/** So many calls of a user at one instant. */
export async function sendCalls(
  api: ApiClient,
  { alias }: SeatCompany,
  { user, at, count }: { readonly user: string; readonly at: string; readonly count: number },
): Promise<void> {
  const events = Array.from({ length: count }, (_, index) => ({
    ...{ customer_id: alias, event_type: 'call', timestamp: at, properties: { user } },
    transaction_id: `${alias} ${user} ${at} ${index}`,
  }));
  await api.post('/v1/ingest', events);
}

/** Edits the subscription; the answer may be a refusal. */
export function editSubscription(
  api: ApiClient,
  { customer, contract, subscription }: SeatCompany,
  patch: object,
): Promise<ApiAnswer> {
  return api.send('POST', '/v2/contracts/edit', {
    ...{ customer_id: customer, contract_id: contract },
    update_subscriptions: [{ subscription_id: subscription, ...patch }],
  });
}

/** The amount that each seat has left of the credit of the first month: `seat balance`. */
export async function seatsOfCredit(
  api: ApiClient,
  { customer, contract, credit }: SeatCompany,
): Promise<string[]> {
  const answer = await api.post('/v1/contracts/seatBalances/list', {
    ...{ customer_id: customer, contract_id: contract, include_credits_and_commits: true, limit: 100 },
    // Also of credits that are not open now.
    starting_at: '2000-01-01T00:00:00Z',
  });
  return answer.list('data').flatMap((_, seat) => {
    const own = `data[${seat}].credits`;
    const index = answer.list(own).findIndex((_, at) => answer.text(`${own}[${at}].id`) === credit);
    return index === -1
      ? []
      : [`${answer.text(`data[${seat}].seat_id`)} ${answer.digits(`${own}[${index}].balance`)}`];
  });
}

/** The amount left of the credit of the first month. */
export async function balanceOfCredit(api: ApiClient, company: SeatCompany): Promise<string> {
  const answer = await api.post('/v2/contracts/get', {
    ...{ customer_id: company.customer, contract_id: company.contract, include_balance: true },
  });
  const index = answer
    .list('data.credits')
    .findIndex((_, at) => answer.text(`data.credits[${at}].id`) === company.credit);
  return answer.digits(`data.credits[${index}].balance`);
}

/** Subjects at their limits beside usage and contracts: seats, issued and imported invoices, alerts. */
import { created, inParallel, type LimitsClient } from './client.ts';
import { CARDS, type Company, cardWith, MONTH, PRODUCTS, sendValues, USD_CENTS } from './parts.ts';

export interface LimitsOfFurtherWorld {
  /** Seats of one subscription. */
  readonly seats: number;
  /** Lines of an invoice that is issued. */
  readonly issuedLines: number;
  /** Lines of the invoices of an import. */
  readonly importedLines: number;
  /** Alerts of one customer. */
  readonly alerts: number;
}

export interface FurtherWorld {
  /** Each seat has its own credit, which it uses. */
  readonly seats: Company;
  readonly issued: Company & { readonly invoice_id: string };
  /** Invoices of the time before the service can be imported. */
  readonly imported: Company;
  readonly importedProduct: string;
  readonly alerts: { readonly customer_id: string; readonly alert_id: string };
}

interface Catalogue {
  readonly metric: string;
  readonly plain: string;
  readonly byUser: string;
}

export async function createFurtherWorld(
  client: LimitsClient,
  limits: LimitsOfFurtherWorld,
  catalogue: Catalogue,
): Promise<FurtherWorld> {
  return {
    seats: await manySeats(client, limits.seats, catalogue),
    issued: await issuedInvoice(client, limits.issuedLines, catalogue),
    imported: await importing(client, catalogue),
    importedProduct: catalogue.byUser,
    alerts: await manyAlerts(client, limits.alerts),
  };
}

async function manySeats(client: LimitsClient, count: number, { byUser }: Catalogue): Promise<Company> {
  const seats = await created(client, `${PRODUCTS}/create`, { name: 'Seats', type: 'SUBSCRIPTION' });
  const allowance = await created(client, `${PRODUCTS}/create`, { name: 'Allowance', type: 'FIXED' });
  const rate_card_id = await cardWith(client, 'of seats', [byUser]);
  await client.post(`${CARDS}/addRate`, {
    ...{ rate_card_id, product_id: seats, starting_at: MONTH.start, entitled: true, rate_type: 'FLAT' },
    ...{ price: 1_000, billing_frequency: 'MONTHLY' },
  });
  const customer_id = await created(client, '/v1/customers', { name: 'seats', ingest_aliases: ['seats'] });
  const contract_id = await created(client, '/v1/contracts/create', {
    ...{ customer_id, rate_card_id, starting_at: MONTH.start },
    subscriptions: [
      {
        ...{ temporary_id: 'seats', quantity_management_mode: 'SEAT_BASED', collection_schedule: 'ARREARS' },
        subscription_rate: { billing_frequency: 'MONTHLY', product_id: seats },
        seat_config: {
          seat_group_key: 'user',
          initial_seat_ids: Array.from({ length: count }, (_, index) => `user-${index}`),
        },
        proration: { is_prorated: false, invoice_behavior: 'BILL_ON_NEXT_COLLECTION_DATE' },
      },
    ],
    recurring_credits: [
      {
        ...{ product_id: allowance, commit_duration: { value: 1 }, priority: 1, starting_at: MONTH.start },
        access_amount: { unit_price: 15, credit_type_id: USD_CENTS },
        subscription_config: {
          ...{ subscription_id: 'seats', allocation: 'INDIVIDUAL' },
          apply_seat_increase_config: { is_prorated: false },
        },
      },
    ],
  });
  await sendValues(client, 'seats', count, 2);
  return { customer_id, contract_id };
}

const ISSUED_HOURS = 200;
const ISSUED_UNTIL = '2026-11-10T00:00:00Z';
const POLLS_MAX = 1_200;
const POLL_MS = 50;

/** The contract ended in this month, so its only invoice is due when it is created; a line for each value. */
async function issuedInvoice(
  client: LimitsClient,
  lines: number,
  { byUser }: Catalogue,
): Promise<FurtherWorld['issued']> {
  const rate_card_id = await cardWith(client, 'of issued', [byUser]);
  const customer_id = await created(client, '/v1/customers', { name: 'issued', ingest_aliases: ['issued'] });
  await sendValues(client, 'issued', lines, 1, ISSUED_HOURS);
  const contract_id = await created(client, '/v1/contracts/create', {
    ...{ customer_id, rate_card_id, starting_at: MONTH.start, ending_before: ISSUED_UNTIL },
  });
  const list = `/v1/customers/${customer_id}/invoices?status=FINALIZED&limit=1`;
  for (let poll = 0; poll < POLLS_MAX; poll += 1) {
    const { data } = (await client.get(list)) as { readonly data: readonly { readonly id: string }[] };
    if (data[0] !== undefined) return { customer_id, contract_id, invoice_id: data[0].id };
    await new Promise((resolve) => {
      setTimeout(resolve, POLL_MS);
    });
  }
  throw new Error('the invoice of a contract that has ended was not issued');
}

async function importing(client: LimitsClient, { byUser }: Catalogue): Promise<Company> {
  const rate_card_id = await created(client, `${CARDS}/create`, { name: 'of the past' });
  await client.post(`${CARDS}/addRate`, {
    ...{ rate_card_id, product_id: byUser, starting_at: '2020-01-01T00:00:00Z', entitled: true },
    ...{ rate_type: 'FLAT', price: 2 },
  });
  const customer_id = await created(client, '/v1/customers', { name: 'imported' });
  const contract_id = await created(client, '/v1/contracts/create', {
    ...{ customer_id, rate_card_id, starting_at: '2020-01-01T00:00:00Z' },
    usage_statement_schedule: { frequency: 'MONTHLY', invoice_generation_starting_at: MONTH.start },
  });
  return { customer_id, contract_id };
}

/** As many lines as one invoice of an import may have. */
const LINES_OF_IMPORTED = 1_000;

/** Invoices of months of 2025, each with as many lines as it may have. */
export function importBody(
  { imported, importedProduct: product_id }: FurtherWorld,
  { importedLines }: LimitsOfFurtherWorld,
): { readonly invoices: readonly object[] } {
  const invoices = Array.from({ length: Math.ceil(importedLines / LINES_OF_IMPORTED) }, (_, index) => {
    const month = (number: number) => new Date(Date.UTC(2025, number, 1)).toISOString();
    const dates = { inclusive_start_date: month(index), exclusive_end_date: month(index + 1) };
    return {
      ...{ ...imported, ...dates, credit_type_id: USD_CENTS, issue_date: month(index + 1) },
      usage_line_items: Array.from({ length: Math.min(LINES_OF_IMPORTED, importedLines) }, (_, line) => ({
        ...{ ...dates, product_id, quantity: line + 1 },
        presentation_group_values: { user: `user-${line}` },
      })),
    };
  });
  return { invoices };
}

async function manyAlerts(client: LimitsClient, count: number): Promise<FurtherWorld['alerts']> {
  const customer_id = await created(client, '/v1/customers', { name: 'alerts' });
  const alert = (index: number) =>
    created(client, '/v1/alerts/create', {
      ...{ customer_id, alert_type: 'spend_threshold_reached' },
      ...{ name: `Alert ${index}`, threshold: 1_000_000 + index },
    });
  await inParallel(count - 1, alert);
  return { customer_id, alert_id: await alert(count) };
}

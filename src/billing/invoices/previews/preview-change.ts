/**
 * The amounts that customers would be billed if a contract had given edits, or a rate card given rates, and the
 * difference from those that they are or were billed (docs/how-to/previews.md). Nothing is stored.
 */

import { type Decimal, ZERO } from '../../../core/decimal.ts';
import { assert, notFound } from '../../../core/errors.ts';
import { groupBy } from '../../../core/group-by.ts';
import { afterOtherWork } from '../../../core/in-chunks.ts';
import type { InvoiceStatus } from '../../../core/invoice.ts';
import { cutPage, type Page, type PageRequest } from '../../../core/paging.ts';
import type { Interval } from '../../../core/time.ts';
import { type Transaction, undone } from '../../../store/base/database.ts';
import {
  type Contract,
  customersOfRateCard,
  findContract,
  loadContracts,
} from '../../../store/contracts/contracts.ts';
import type { IssuedHead } from '../../../store/invoices/invoices.ts';
import { findRateCard } from '../../../store/rate-cards/rate-cards.ts';
import type { BillingContext } from '../../billing-context.ts';
import { type EditContractInput, editContractIn } from '../../contracts/edits/edit-contract.ts';
import { missingContract } from '../../contracts/find-contract.ts';
import { NO_ALARMS } from '../../invoice-log/invoice-alarms.ts';
import { type AddRatesInput, addRatesIn } from '../../rate-cards/add-rates.ts';
import { computeDrafts } from '../compute/compute.ts';
import { draftWithWarnings, type InvoiceWithWarnings } from '../drafts/unbilled-usage.ts';
import { requireCustomer } from '../read/read-invoices.ts';
import { type ChangedTerms, changedTerms } from './changed-terms.ts';
import { usageMoment } from './usage-moment.ts';

export type PreviewedChange =
  | { readonly kind: 'edit'; readonly edit: EditContractInput }
  | {
      readonly kind: 'rates';
      readonly added: AddRatesInput;
      /** Only this customer; null for all with a contract on the card. */
      readonly customerId: string | null;
    };

/** An invoice after the change, beside its current state. */
export interface InvoiceDifference {
  readonly contractId: string;
  readonly creditTypeId: string;
  /** The draft or the issued invoice; null if there is none. */
  readonly current: { readonly id: string; readonly status: InvoiceStatus; readonly total: Decimal } | null;
  /** The draft as it is, with its lines; null for an issued invoice, and if there is none. */
  readonly draft: InvoiceWithWarnings | null;
  /** Null if it would not exist. */
  readonly preview: InvoiceWithWarnings | null;
  /** The amount that the customer would be billed in addition. */
  readonly difference: Decimal;
  /** The period of the usage; empty, at its date, for SCHEDULED invoices. */
  readonly period: Interval;
}

export interface CustomerDifference {
  readonly customerId: string;
  readonly invoices: readonly InvoiceDifference[];
}

/**
 * A page of customers by id, each with the invoices whose period overlaps `range`. Refuses the same as the change, and
 * an unknown contract or card (`not_found`).
 */
export async function previewChange(
  context: BillingContext,
  change: PreviewedChange,
  range: Interval | null,
  page: PageRequest<string>,
): Promise<Page<CustomerDifference, string>> {
  const now = context.clock.now();
  const { customers, terms } = await undone(context.db, async (tx) => {
    const found = await customersOf(tx, change, page);
    const contracts = await contractsOf(tx, change, found.rows);
    const inTime = range ?? { start: now, end: now + 1 };
    const apply = () => applyChange(tx, context, change);
    return { customers: found, terms: await changedTerms({ ...context, db: tx }, contracts, inTime, apply) };
  });
  const differences = groupBy(await differencesOf(context, terms), ({ customerId }) => customerId);
  return {
    ...customers,
    rows: customers.rows.map((customerId) => ({ customerId, invoices: differences.get(customerId) ?? [] })),
  };
}

async function customersOf(
  tx: Transaction,
  change: PreviewedChange,
  page: PageRequest<string>,
): Promise<Page<string, string>> {
  if (change.kind === 'edit') return { rows: [change.edit.customerId], next: null };
  const { rateCardId } = change.added;
  if ((await findRateCard(tx, rateCardId)) === null) throw notFound('rate card', rateCardId);
  if (change.customerId !== null) {
    await requireCustomer(tx, change.customerId);
    return { rows: [change.customerId], next: null };
  }
  const ids = await customersOfRateCard(tx, rateCardId, { ...page, limit: page.limit + 1 });
  return cutPage(ids, page.limit, (id) => id);
}

async function contractsOf(
  tx: Transaction,
  change: PreviewedChange,
  customerIds: readonly string[],
): Promise<Contract[]> {
  if (change.kind === 'rates') {
    const all = await loadContracts(tx, { customerIds });
    return all.filter(({ rateCardId }) => rateCardId === change.added.rateCardId);
  }
  const { customerId, contractId } = change.edit;
  const contract = await findContract(tx, contractId);
  if (contract?.customerId !== customerId) throw await missingContract(tx, customerId, contractId);
  return [contract];
}

async function applyChange(tx: Transaction, context: BillingContext, change: PreviewedChange): Promise<void> {
  if (change.kind === 'edit') await editContractIn(tx, context, change.edit);
  else await addRatesIn(tx, context, change.added);
}

/** Both sides read the usage at one moment. Previews raise no alarms: they bill nobody. */
async function differencesOf(
  context: BillingContext,
  { issued, before, after }: ChangedTerms,
): Promise<(InvoiceDifference & { readonly customerId: string })[]> {
  const moment = await usageMoment(context.usageSource, before.usage, after.usage);
  const usageOf = async ({ usage }: ChangedTerms['before']) =>
    (await computeDrafts({ ...context, alarms: NO_ALARMS }, usage, moment?.ingestedUpTo ?? null)).map(
      draftWithWarnings,
    );
  const current = [...issued, ...(await usageOf(before)), ...before.scheduled];
  await afterOtherWork();
  const preview = [...(await usageOf(after)), ...after.scheduled];
  const now = new Map(current.map((invoice) => [placeOf(invoice), invoice]));
  const then = new Map(preview.map((invoice) => [placeOf(invoice), invoice]));
  return [...new Set([...now.keys(), ...then.keys()])]
    .map((place) => difference(now.get(place) ?? null, then.get(place) ?? null))
    .sort((a, b) => a.period.start - b.period.start || (a.contractId < b.contractId ? -1 : 1));
}

type Current = IssuedHead | InvoiceWithWarnings;

function isDraft(invoice: Current): invoice is InvoiceWithWarnings {
  return 'lines' in invoice;
}

/** A usage invoice takes the place of that of its contract with the same start. */
function placeOf({ id, type, contractId, period }: Current): string {
  return type === 'USAGE' ? `${contractId} ${period.start}` : id;
}

function difference(current: Current | null, preview: InvoiceWithWarnings | null) {
  const one = preview ?? current;
  assert(one !== null, 'a difference is that of an invoice');
  const { customerId, contractId, creditTypeId, period } = one;
  return {
    customerId,
    contractId,
    creditTypeId,
    period,
    current: current && { id: current.id, status: current.status, total: current.total },
    draft: current !== null && isDraft(current) ? current : null,
    preview,
    difference: (preview?.total ?? ZERO).minus(current?.total ?? ZERO),
  };
}

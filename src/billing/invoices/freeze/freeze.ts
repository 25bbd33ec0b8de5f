/**
 * Stores computed invoices as final; they are never computed again. Lines, warnings and terms are stored in PostgreSQL,
 * the hourly lines in ClickHouse.
 */
import { assert } from '../../../core/errors.ts';
import { newId } from '../../../core/ids.ts';
import type { Invoice, InvoiceWarning, IssuedWarning } from '../../../core/invoice.ts';
import { keptCardTerms } from '../../../core/invoice-terms.ts';
import type { Instant } from '../../../core/time.ts';
import type { ClickHouse } from '../../../metering/client/clickhouse.ts';
import { createFrozenLinesWriter } from '../../../metering/frozen-lines/frozen-lines.ts';
import { publishFinalized } from '../../../notifications/invoice-messages.ts';
import type { RatedLine } from '../../../rating/lines/types.ts';
import type { Transaction } from '../../../store/base/database.ts';
import { insertDeductions } from '../../../store/invoices/balance-deductions.ts';
import { type InvoiceTermsIds, storeInvoiceTerms } from '../../../store/invoices/invoice-terms.ts';
import { insertInvoiceWarnings } from '../../../store/invoices/invoice-warnings.ts';
import { insertInvoicedItems } from '../../../store/invoices/invoiced-items.ts';
import { type IssuedInvoice, insertInvoices } from '../../../store/invoices/invoices.ts';
import type { ComputedInvoice } from '../compute/compute.ts';
import { NO_EVENT } from '../usage/usage-answers.ts';
import { deductionsToKeep } from './deductions-to-keep.ts';
import { freezeCustomFields } from './invoice-fields.ts';

/** A computed invoice whose hours are in ClickHouse. */
export interface HourlyFrozenInvoice extends Omit<ComputedInvoice, 'invoice' | 'hours' | 'problems'> {
  readonly invoice: Invoice;
  /** Refers to its hours, which its lines no longer have. */
  readonly breakdownId: string;
}

/** Removes the hours from computed invoices, and writes them in batches. */
export interface HoursFreezer {
  /** The invoice without its hours. Throws its problem if it cannot be issued. */
  freeze(computed: ComputedInvoice): Promise<HourlyFrozenInvoice>;
  /** Resolves when all hours are on disk. */
  finish(): Promise<void>;
}

/**
 * Hours are written under fresh ids: until an invoice is issued with its id, they are not read. Hours that are too many
 * for memory are computed and written slice by slice. The problem of an invoice that cannot be issued may be transient,
 * such as a metric that timed out.
 */
export function createHoursFreezer(clickhouse: ClickHouse): HoursFreezer {
  const writer = createFrozenLinesWriter(clickhouse);
  return {
    async freeze({ invoice, hours, problems, ...rest }) {
      const [problem] = problems;
      if (problem !== undefined) throw problem;
      const breakdownId = newId();
      const rated: readonly RatedLine[] = invoice.lines;
      if (hours === null) {
        const lines = rated.map(({ windows }, position) => ({ position, hours: windows }));
        await writer.add(breakdownId, lines);
      } else {
        for await (const lines of hours()) await writer.add(breakdownId, lines);
      }
      const lines = rated.map((line) => ({ ...line, windows: [] }));
      return { ...rest, breakdownId, invoice: { ...invoice, lines } };
    },
    finish: () => writer.finish(),
  };
}

/** `createHoursFreezer` for invoices that are computed already. */
export async function freezeHours(
  clickhouse: ClickHouse,
  computed: readonly ComputedInvoice[],
): Promise<HourlyFrozenInvoice[]> {
  const freezer = createHoursFreezer(clickhouse);
  const frozen: HourlyFrozenInvoice[] = [];
  for (const one of computed) frozen.push(await freezer.freeze(one));
  await freezer.finish();
  return frozen;
}

/** Issues invoices; `termsReadAt` is when their terms were read. They are final when the transaction commits. */
export async function freezeInvoices(
  tx: Transaction,
  frozen: readonly HourlyFrozenInvoice[],
  termsReadAt: Instant,
): Promise<void> {
  const termsIdsOf = await freezeTerms(tx, frozen);
  const issued = frozen.map((one) => {
    const { invoice, breakdownId, warnings: all, ingestedUpTo } = one;
    const warnings = all.filter(isIssued);
    const { balancesId, ...termsIds } = termsIdsOf(one);
    return {
      ...invoice,
      status: 'FINALIZED' as const,
      frozen: { ...termsIds, breakdownId },
      balancesId,
      warnings,
      warningCount: warnings.length,
      termsReadAt,
      countedUpTo: ingestedUpTo === NO_EVENT ? null : ingestedUpTo,
    };
  });
  await insertInvoices(tx, issued);
  await insertInvoicedItems(tx, issued);
  await insertDeductions(tx, frozen.flatMap(deductionsToKeep));
  await insertInvoiceWarnings(tx, issued);
  await freezeCustomFields(tx, issued);
  await publishFinalized(tx, issued);
}

/** Invoices of one card share one terms object, which is stored once. */
async function freezeTerms(
  tx: Transaction,
  computed: readonly Pick<ComputedInvoice, 'terms' | 'balances'>[],
): Promise<
  (
    invoice: Pick<ComputedInvoice, 'terms' | 'balances'>,
  ) => InvoiceTermsIds & Pick<IssuedInvoice, 'balancesId'>
> {
  const cards = new Map(computed.map(({ terms }) => [terms.card, keptCardTerms(terms.card)]));
  const found = new Map(
    computed.filter(({ balances }) => balances.length > 0).map(({ balances }) => [balances, { balances }]),
  );
  const ids = await storeInvoiceTerms(tx, [
    ...cards.values(),
    ...computed.map(({ terms }) => terms.contract),
    ...found.values(),
  ]);
  return ({ terms: { card, contract }, balances }) => {
    const kept = cards.get(card);
    const cardTermsId = kept && ids.get(kept);
    const contractTermsId = ids.get(contract);
    assert(cardTermsId !== undefined && contractTermsId !== undefined, 'the terms of the invoice are stored');
    const own = found.get(balances);
    return { cardTermsId, contractTermsId, balancesId: (own && ids.get(own)) ?? null };
  };
}

/** Warnings that only drafts have are accompanied by problems. */
export function isIssued(warning: InvoiceWarning): warning is IssuedWarning {
  return warning.kind !== 'metric_not_evaluated' && warning.kind !== 'not_computed';
}

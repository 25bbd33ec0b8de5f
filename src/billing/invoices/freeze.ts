/**
 * Stores computed invoices as final; they are never computed again. Lines, warnings and terms are stored in
 * PostgreSQL, the hourly lines in ClickHouse.
 */
import { assert } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { type InvoiceTerms, keptCardTerms } from '../../core/invoice-terms.ts';
import type { ClickHouse } from '../../metering/client/clickhouse.ts';
import { insertFrozenLines } from '../../metering/frozen-lines.ts';
import type { RatedLine } from '../../rating/types.ts';
import type { Transaction } from '../../store/database.ts';
import { type InvoiceTermsIds, storeInvoiceTerms } from '../../store/invoice-terms.ts';
import { insertInvoiceWarnings } from '../../store/invoice-warnings.ts';
import { insertInvoices } from '../../store/invoices.ts';
import type { ComputedInvoice } from './compute.ts';
import { freezeCustomFields } from './invoice-fields.ts';

/** Issues invoices whose lines have hourly windows. They are final when the transaction commits. */
export async function freezeInvoices(
  clickhouse: ClickHouse,
  tx: Transaction,
  computed: readonly ComputedInvoice[],
): Promise<void> {
  const termsIdsOf = await freezeTerms(tx, computed);
  const issued = computed.map(({ invoice, warnings, terms }) => ({
    ...invoice,
    ...termsIdsOf(terms),
    status: 'FINALIZED' as const,
    breakdownId: newId(),
    warnings,
    warningCount: warnings.length,
  }));
  await insertFrozenLines(
    clickhouse,
    issued.map(({ breakdownId, lines }) => ({ breakdownId, lines: lines.map(hoursOf) })),
  );
  await insertInvoices(tx, issued);
  await insertInvoiceWarnings(tx, issued);
  await freezeCustomFields(tx, issued);
}

/** Invoices of one card share one terms object, which is stored once. */
async function freezeTerms(
  tx: Transaction,
  computed: readonly ComputedInvoice[],
): Promise<(terms: InvoiceTerms) => InvoiceTermsIds> {
  const cards = new Map(computed.map(({ terms }) => [terms.card, keptCardTerms(terms.card)]));
  const ids = await storeInvoiceTerms(tx, [
    ...cards.values(),
    ...computed.map(({ terms }) => terms.contract),
  ]);
  return ({ card, contract }) => {
    const kept = cards.get(card);
    const cardTermsId = kept && ids.get(kept);
    const contractTermsId = ids.get(contract);
    assert(cardTermsId !== undefined && contractTermsId !== undefined, 'the terms of the invoice are stored');
    return { cardTermsId, contractTermsId };
  };
}

function hoursOf({ windows }: RatedLine): RatedLine['windows'] {
  return windows;
}

/** The data that answers show beside the invoices themselves. */
import type { ListPriceOf } from '../../../billing/invoices/drafts/list-prices.ts';
import type { ComparedInvoice } from '../../../billing/invoices/read/previous-invoices.ts';
import type { CreditType } from '../../../core/credit-types.ts';
import type { CustomFieldsById } from '../../../core/custom-fields.ts';
import type { Decimal } from '../../../core/decimal.ts';
import { assert } from '../../../core/errors.ts';
import type { ExternalInvoice } from '../../../core/external-invoice.ts';
import type { HierarchyPayer } from '../../../store/contracts/hierarchy-payers.ts';
import type { CustomerLabel } from '../../../store/customers/customers.ts';

/** Data that answers show besides the invoice itself. */
export interface InvoiceView {
  readonly creditTypes: ReadonlyMap<string, CreditType>;
  readonly skipZeroQuantityLines: boolean;
  /** By invoice; null where they were not asked for. */
  readonly listPrices: ReadonlyMap<string, ListPriceOf> | null;
  /** By invoice, then by object; invoices without custom fields are absent. */
  readonly customFields: ReadonlyMap<string, CustomFieldsById>;
  /** By invoice; drafts and invoices without a number yet are absent. */
  readonly numbers: ReadonlyMap<string, string>;
  /** By invoice; those that go to no billing provider are absent. */
  readonly external: ReadonlyMap<string, ExternalInvoice>;
  /** By invoice, the money that credit notes take back; invoices without any are absent. */
  readonly credited: ReadonlyMap<string, Decimal>;
  /** By contract; those of no hierarchy are absent. */
  readonly payers: ReadonlyMap<string, HierarchyPayer>;
  /** By customer. */
  readonly customers: ReadonlyMap<string, CustomerLabel>;
  /** By draft; those without a previous invoice are absent. */
  readonly previous: ReadonlyMap<string, ComparedInvoice>;
}

export function creditTypeOf(id: string, { creditTypes }: InvoiceView): CreditType {
  const found = creditTypes.get(id);
  assert(found !== undefined, `pricing unit ${id} of an invoice exists`);
  return found;
}

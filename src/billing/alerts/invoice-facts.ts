/**
 * The invoices that alerts are compared with: drafts of usage, and those issued within a day. A scheduled invoice
 * counts from its date on, when it is issued.
 */
import { type CustomFieldsById, customFieldsOf } from '../../core/custom-fields.ts';
import type { Decimal } from '../../core/decimal.ts';
import { groupBy } from '../../core/group-by.ts';
import { type Invoice, isUsageLine } from '../../core/invoice.ts';
import { contains, DAY_MS, type Instant } from '../../core/time.ts';
import type { ChargeFact, InvoiceFact } from '../../rating/alerts/facts.ts';
import type { Database, Transaction } from '../../store/base/database.ts';
import { issuedSince } from '../../store/invoices/invoice-lists.ts';
import type { AlertDrafts } from './drafts.ts';

interface InvoiceSources {
  readonly customerIds: readonly string[];
  readonly drafts: AlertDrafts;
  readonly fields: CustomFieldsById;
  readonly now: Instant;
}

/** By customer. */
export async function loadInvoiceFacts(
  db: Database | Transaction,
  { customerIds, drafts, fields, now }: InvoiceSources,
): Promise<Map<string, InvoiceFact[]>> {
  const issued = await issuedSince(db, customerIds, now - DAY_MS);
  const facts = [
    ...drafts.drafts.map(({ target: { period }, draft: { invoice } }) => ({
      customerId: invoice.customerId,
      fact: {
        ...headOf(invoice, fields),
        currentSince: contains(period, now) ? period.countedFrom : null,
        charges: invoice.lines.flatMap(chargeFacts),
      },
    })),
    ...issued.map((invoice) => ({
      customerId: invoice.customerId,
      fact: { ...headOf(invoice, fields), currentSince: null, charges: [] },
    })),
  ];
  const byCustomer = groupBy(facts, ({ customerId }) => customerId);
  return new Map([...byCustomer].map(([id, own]) => [id, own.map(({ fact }) => fact)]));
}

/** Before balances pay: applied lines are left out. */
function chargeFacts(line: Invoice['lines'][number]): ChargeFact[] {
  if (!isUsageLine(line) || line.type === 'applied') return [];
  const { creditTypeId, presentationGroupValues, pricingGroupValues, total } = line;
  return [{ creditTypeId, groups: { ...presentationGroupValues, ...pricingGroupValues }, total }];
}

function headOf(
  { id, type, contractId, creditTypeId, total }: Omit<Invoice, 'lines'>,
  fields: CustomFieldsById,
): Pick<InvoiceFact, 'id' | 'type' | 'contractFields' | 'totals'> {
  const totals: ReadonlyMap<string, Decimal> = new Map([[creditTypeId, total]]);
  return { id, type, contractFields: customFieldsOf(fields, contractId), totals };
}

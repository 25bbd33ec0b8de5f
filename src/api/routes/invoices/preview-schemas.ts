/** Differences of previewed invoices on the wire. */
import { z } from 'zod';
import type {
  CustomerDifference,
  InvoiceDifference,
} from '../../../billing/invoices/previews/preview-change.ts';
import type { CreditType } from '../../../core/credit-types.ts';
import { assert } from '../../../core/errors.ts';
import { formatInstant } from '../../../core/time.ts';
import { totalsByCreditType } from '../../../rating/invoices/breakdown.ts';
import { creditType, exactValue, timestamp, uuid } from '../../wire/fields.ts';
import type { InvoiceView } from './invoice-view.ts';
import { invoiceSchema, invoiceToWire } from './output.ts';

const differenceSchema = z
  .object({
    contract_id: uuid,
    start_timestamp: timestamp.meta({
      description: 'Start of the billing period, or the date of a scheduled invoice.',
    }),
    end_timestamp: timestamp,
    credit_type: creditType,
    current_invoice_id: uuid
      .optional()
      .meta({ description: 'The draft or the issued invoice, if there is one.' }),
    current_status: z.string().optional(),
    current_total: exactValue.optional(),
    preview_total: exactValue
      .optional()
      .meta({ type: 'number', description: 'Absent if there would be no invoice.' }),
    preview_warning_count: z.int().optional().meta({ description: 'The warnings that it would have.' }),
    difference: exactValue.meta({
      type: 'number',
      description: 'The increase of the billed amount; negative for a decrease.',
    }),
    current_invoice: invoiceSchema.optional().meta({
      description:
        'The draft as it is, with `include_invoices`: it counts the same events. An issued invoice is read by its id.',
    }),
    invoice: invoiceSchema
      .optional()
      .meta({ description: 'The resulting invoice, with `include_invoices`.' }),
  })
  .meta({ id: 'InvoiceDifference' });

export const customerDifferenceSchema = z
  .object({
    customer_id: uuid,
    differences: z
      .array(z.object({ credit_type: creditType, difference: exactValue }))
      .meta({ description: 'The sum over the invoices in each currency.' }),
    invoices: z.array(differenceSchema),
  })
  .meta({ id: 'CustomerDifference' });

type Units = ReadonlyMap<string, CreditType>;

export function customerToWire(
  { customerId, invoices }: CustomerDifference,
  units: Units,
  view: InvoiceView | null,
): z.input<typeof customerDifferenceSchema> {
  return {
    customer_id: customerId,
    differences: [...differencesByUnit(invoices)].map(([id, difference]) => ({
      credit_type: unitOf(id, units),
      difference,
    })),
    invoices: invoices.map((one) => differenceToWire(one, units, view)),
  };
}

function differencesByUnit(invoices: readonly InvoiceDifference[]) {
  return totalsByCreditType(
    invoices.map(({ creditTypeId, difference }) => ({ type: 'usage', creditTypeId, total: difference })),
  );
}

function differenceToWire(
  { contractId, creditTypeId, period, current, draft, preview, difference }: InvoiceDifference,
  units: Units,
  view: InvoiceView | null,
): z.input<typeof differenceSchema> {
  return {
    contract_id: contractId,
    start_timestamp: formatInstant(period.start),
    end_timestamp: formatInstant(period.end),
    credit_type: unitOf(creditTypeId, units),
    current_invoice_id: current?.id,
    current_status: current?.status,
    current_total: current?.total,
    preview_total: preview?.total,
    preview_warning_count: preview?.warnings.count,
    difference,
    current_invoice: draft === null || view === null ? undefined : invoiceToWire(draft, view),
    invoice: preview === null || view === null ? undefined : invoiceToWire(preview, view),
  };
}

function unitOf(id: string, units: Units): CreditType {
  const unit = units.get(id);
  assert(unit !== undefined, `pricing unit ${id} of an invoice exists`);
  return unit;
}

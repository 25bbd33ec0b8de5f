/**
 * The data that a dashboard shows: rows of the public API with the members that are meant for the customer itself.
 * Custom fields, warnings, ids of other systems and descriptions for the operator are not among them.
 */
import { z } from 'zod';
import type { BalancePage } from '../../../billing/balance-queries/list-balances.ts';
import { ZERO } from '../../../core/decimal.ts';
import type { InvoiceLine } from '../../../core/invoice.ts';
import { COMMIT_TYPES, type Commit } from '../../../core/terms/commits.ts';
import { ledgerEntryType } from '../../../core/terms/ledger.ts';
import { formatInstant } from '../../../core/time.ts';
import { JsonList } from '../../base/json.ts';
import { creditType, exactValue, timestamp, uuid } from '../../wire/fields.ts';
import { type LineItemWire, lineItemSchema } from '../invoices/line-output.ts';
import { invoiceSchema, type invoiceToWire } from '../invoices/output.ts';

const LINE_MEMBERS = {
  id: true,
  name: true,
  type: true,
  quantity: true,
  unit_price: true,
  total: true,
  credit_type: true,
  converted_credit_type: true,
  product_id: true,
  starting_at: true,
  ending_before: true,
  commit_type: true,
  tier: true,
  pricing_group_values: true,
  presentation_group_values: true,
  is_prorated: true,
} as const;

const INVOICE_MEMBERS = {
  id: true,
  type: true,
  status: true,
  start_timestamp: true,
  end_timestamp: true,
  issued_at: true,
  credit_type: true,
  total: true,
  payable_amount: true,
  invoice_number: true,
  due_at: true,
} as const;

const line = lineItemSchema.pick(LINE_MEMBERS).meta({ id: 'DashboardInvoiceLine' });

type ShownLine = z.input<typeof line>;
type Lines = ShownLine[] | JsonList<InvoiceLine, ShownLine>;

const lines: z.ZodType<z.output<typeof line>[], Lines> = z.array(line);

export const listedInvoice = invoiceSchema.pick(INVOICE_MEMBERS).meta({ id: 'DashboardInvoice' });
export const wholeInvoice = invoiceSchema
  .pick(INVOICE_MEMBERS)
  .extend({ line_items: lines })
  .meta({ id: 'DashboardInvoiceWithLines' });

type InvoiceWire = ReturnType<typeof invoiceToWire>;

export function listedInvoiceToWire(invoice: InvoiceWire): z.input<typeof listedInvoice> {
  return picked(invoice, INVOICE_MEMBERS);
}

export function wholeInvoiceToWire(invoice: InvoiceWire): z.input<typeof wholeInvoice> {
  return { ...picked(invoice, INVOICE_MEMBERS), line_items: shownLines(invoice.line_items) };
}

/** Long lists are still written line by line. */
function shownLines(all: InvoiceWire['line_items']): Lines {
  const toShown = (wire: LineItemWire) => picked(wire, LINE_MEMBERS);
  return all instanceof JsonList ? all.mapped(toShown) : all.map(toShown);
}

type Picked<From, Members> = Pick<From, keyof From & keyof Members>;

function picked<From extends object, Members extends Readonly<Record<string, true>>>(
  from: From,
  members: Members,
): Picked<From, Members> {
  const kept = Object.entries(from).filter(([name]) => Object.hasOwn(members, name));
  return Object.fromEntries(kept) as Picked<From, Members>;
}

export const balance = z
  .object({
    id: uuid,
    type: z.enum(COMMIT_TYPES),
    name: z.string(),
    access_schedule: z.object({
      credit_type: creditType,
      schedule_items: z.array(
        z.object({ starting_at: timestamp, ending_before: timestamp, amount: exactValue }),
      ),
    }),
    balance: exactValue,
    ledger: z.array(
      z.object({
        type: z.string(),
        timestamp,
        amount: exactValue,
      }),
    ),
  })
  .meta({ id: 'DashboardBalance' });

/** `hidesName`: it is called by its product. */
export function balanceToWire(
  commit: Commit,
  { names, balances }: Pick<BalancePage, 'names' | 'balances'>,
  hidesName: boolean,
): z.input<typeof balance> {
  const { id, type, name, productId, accessSchedule } = commit;
  const product = names.products.get(productId) ?? '';
  const own = balances?.get(id);
  const unit = names.creditTypes.get(accessSchedule.creditTypeId);
  return {
    id,
    type,
    name: hidesName || name === null ? product : name,
    access_schedule: {
      credit_type: { id: accessSchedule.creditTypeId, name: unit?.name ?? '' },
      schedule_items: accessSchedule.segments.map(({ startingAt, endingBefore, amount }) => ({
        starting_at: formatInstant(startingAt),
        ending_before: formatInstant(endingBefore),
        amount,
      })),
    },
    balance: own?.balance ?? ZERO,
    ledger: (own?.ledger ?? []).map(({ kind, timestamp: at, amount }) => ({
      type: ledgerEntryType(type, kind),
      timestamp: formatInstant(at),
      amount,
    })),
  };
}

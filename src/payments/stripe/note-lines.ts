/**
 * The lines of a credit note for Stripe: amounts of the lines that its invoice has there. An amount that these do not
 * have left is a custom line.
 */
import type Stripe from 'stripe';
import type { CreditNote } from '../../core/credit-note.ts';
import type { Currency } from '../../core/currencies.ts';
import { cutText } from '../../core/cut-text.ts';
import { ProviderProblem } from '../provider.ts';
import { payableUnits } from './amounts.ts';
import { LINE_ID, type StripeLine } from './stripe-lines.ts';

const DESCRIPTION_MAX = 500;

interface NoteLinesInput {
  readonly credited: CreditNote;
  readonly currency: Currency;
  /** The lines of the invoice, as they were sent. */
  readonly sent: readonly StripeLine[];
  /** The lines that the invoice has in Stripe. */
  readonly there: readonly Stripe.InvoiceLineItem[];
  /** By line there, the amount that earlier notes have credited. */
  readonly before: ReadonlyMap<string, bigint>;
  /** Whether Stripe taxes the invoice: it takes no custom lines then. */
  readonly isTaxedThere: boolean;
  /** The tax of the note, and a rate of its invoice that the tax can name; null: there is none to send. */
  readonly given: { readonly tax: bigint; readonly taxable: bigint; readonly rate: string } | null;
}

export type NoteLine = Stripe.CreditNoteCreateParams.Line;

/** Their amounts add up to the money of the note. */
export function noteLines(input: NoteLinesInput): NoteLine[] {
  const { credited, currency, isTaxedThere } = input;
  const left = leftOf(input);
  const lineOf = linesThere(input);
  const taken = new Map<string, bigint>();
  const rests: { readonly name: string; readonly units: bigint }[] = [];
  for (const { lineItemId, amount, name, paidBy } of credited.lines) {
    if (paidBy === 'balance') continue;
    let rest = payableUnits(amount, currency);
    const own = lineOf.get(lineItemId) ?? '';
    for (const id of [own, ...(isTaxedThere ? left.keys() : [])]) rest -= take(taken, left, id, rest);
    if (rest > 0n) rests.push({ name, units: rest });
  }
  if (isTaxedThere && rests.length > 0) {
    throw new ProviderProblem(
      'refused',
      'Stripe: the lines of the invoice there have less than is credited',
      {
        code: 'lines_differ',
      },
    );
  }
  return withTax([...[...taken].map(([id, units]) => ofInvoice(id, units)), ...rests.map(ofItsOwn)], input);
}

/** By line there, what earlier notes have left of it. */
function leftOf({ there, before }: NoteLinesInput): Map<string, bigint> {
  return new Map(there.map(({ id, amount }) => [id, BigInt(amount) - (before.get(id) ?? 0n)]));
}

function take(taken: Map<string, bigint>, left: Map<string, bigint>, id: string, wanted: bigint): bigint {
  const open = left.get(id) ?? 0n;
  const units = wanted < open ? wanted : open;
  if (units <= 0n) return 0n;
  left.set(id, open - units);
  taken.set(id, (taken.get(id) ?? 0n) + units);
  return units;
}

/** The line there by the id of our line. */
function linesThere({ sent, there }: NoteLinesInput): Map<string, string> {
  const byOurs = new Map(there.map(({ id, metadata }) => [metadata[LINE_ID] ?? '', id]));
  return new Map(
    sent.flatMap(({ id, parts }) => {
      const found = byOurs.get(id);
      return found === undefined ? [] : parts.map((part) => [part, found] as const);
    }),
  );
}

function ofInvoice(invoice_line_item: string, units: bigint): NoteLine {
  return { type: 'invoice_line_item', invoice_line_item, amount: Number(units) };
}

function ofItsOwn({ name, units }: { readonly name: string; readonly units: bigint }): NoteLine {
  const description = cutText(name, DESCRIPTION_MAX);
  return { type: 'custom_line_item', description, quantity: 1, unit_amount: Number(units) };
}

/** A given tax stands on the first line, as on the invoice. */
function withTax(lines: readonly NoteLine[], { given }: NoteLinesInput): NoteLine[] {
  const [first, ...rest] = lines;
  if (first === undefined || given === null) return [...lines];
  const { tax, taxable, rate } = given;
  const amounts = [{ amount: Number(tax), taxable_amount: Number(taxable), tax_rate: rate }];
  return [{ ...first, tax_amounts: amounts }, ...rest];
}

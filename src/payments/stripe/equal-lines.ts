/**
 * Makes the lines of a Stripe draft equal to ours, whatever it contains: the result of a call whose answer was lost, or
 * a manual change.
 */
import type Stripe from 'stripe';
import { ProviderProblem } from '../provider.ts';
import type { StripeAccess } from './access.ts';
import { isSameLine, LINE_ID, lineParams, type StripeLine } from './stripe-lines.ts';

/** Maximum lines of one call. */
const LINES_PER_CALL_MAX = 100;
/** Each pass corrects the differences left by the one before; the second one usually finds none. */
const PASSES_MAX = 4;

/** The invoice with exactly these lines. Throws if that cannot be achieved. */
export async function makeLinesEqual(
  access: StripeAccess,
  draft: Stripe.Invoice,
  wanted: readonly StripeLine[],
): Promise<Stripe.Invoice> {
  let invoice = draft;
  for (let pass = 1; pass <= PASSES_MAX; pass += 1) {
    const there = await allLines(access, invoice);
    const changes = difference(there, wanted);
    if (changes.isNone) return invoice;
    invoice = await change(access, invoice, changes);
  }
  throw new ProviderProblem('refused', `Stripe: the lines of ${draft.id} do not stay as they are sent`);
}

interface Difference {
  readonly isNone: boolean;
  /** Ids there. */
  readonly surplus: readonly string[];
  readonly other: ReadonlyMap<string, StripeLine>;
  readonly missing: readonly StripeLine[];
}

function difference(there: readonly Stripe.InvoiceLineItem[], wanted: readonly StripeLine[]): Difference {
  const byId = new Map(wanted.map((line) => [line.id, line]));
  const surplus: string[] = [];
  const other = new Map<string, StripeLine>();
  for (const item of there) {
    const line = byId.get(item.metadata[LINE_ID] ?? '');
    // Removes a second line with the same id.
    if (line === undefined) surplus.push(item.id);
    else if (!isSameLine(item, line)) other.set(item.id, line);
    if (line !== undefined) byId.delete(line.id);
  }
  const missing = [...byId.values()];
  return { isNone: surplus.length + other.size + missing.length === 0, surplus, other, missing };
}

async function change(
  access: StripeAccess,
  invoice: Stripe.Invoice,
  { surplus, other, missing }: Difference,
): Promise<Stripe.Invoice> {
  const { id, currency } = invoice;
  const { default: Client } = await import('stripe');
  const params = (line: StripeLine) => lineParams(line, currency, Client.Decimal.from);
  let changed = invoice;
  for (const part of partsOf(surplus)) {
    const lines = part.map((line) => ({ id: line, behavior: 'delete' as const }));
    changed = await access.request('POST /v1/invoices/remove_lines', (client, options) =>
      client.invoices.removeLines(id, { lines }, options),
    );
  }
  for (const part of partsOf([...other])) {
    const lines = part.map(([line, as]) => ({ id: line, ...params(as) }));
    changed = await access.request('POST /v1/invoices/update_lines', (client, options) =>
      client.invoices.updateLines(id, { lines }, options),
    );
  }
  for (const part of partsOf(missing)) {
    const lines = part.map(params);
    changed = await access.request('POST /v1/invoices/add_lines', (client, options) =>
      client.invoices.addLines(id, { lines }, options),
    );
  }
  return changed;
}

function* partsOf<Item>(items: readonly Item[]): Generator<Item[]> {
  for (let from = 0; from < items.length; from += LINES_PER_CALL_MAX) {
    yield items.slice(from, from + LINES_PER_CALL_MAX);
  }
}

/** All lines: an answer contains the first ten, or one page. */
export async function allLines(
  access: StripeAccess,
  { id, lines }: Stripe.Invoice,
): Promise<Stripe.InvoiceLineItem[]> {
  if (!lines.has_more) return lines.data;
  const all: Stripe.InvoiceLineItem[] = [];
  for (let after: string | undefined; ; ) {
    const page = await access.request('GET /v1/invoices/lines', (client) =>
      client.invoices.listLineItems(id, {
        limit: LINES_PER_CALL_MAX,
        ...(after === undefined ? {} : { starting_after: after }),
      }),
    );
    all.push(...page.data);
    after = page.data.at(-1)?.id;
    if (!page.has_more || after === undefined) return all;
  }
}

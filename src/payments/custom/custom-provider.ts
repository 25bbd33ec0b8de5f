/**
 * Any other system: the whole invoice is posted, signed, to an address that answers with its result
 * (docs/explanation/payments.md, "Any other system"). All attempts carry the same message id, by which the receiver
 * deduplicates them.
 */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { CreditNote } from '../../core/credit-note.ts';
import type { ExternalCreditNote } from '../../core/external-credit-note.ts';
import { EXTERNAL_STATUSES, type ExternalInvoice } from '../../core/external-invoice.ts';
import { derivedId } from '../../core/ids.ts';
import { storageProblem } from '../../core/storable-text.ts';
import { SECOND_MS } from '../../core/time.ts';
import { isLink } from '../../core/urls.ts';
import type { PaymentDocument } from '../document.ts';
import {
  type Note,
  type NoteSending,
  type PaymentsProvider,
  type Progress,
  ProviderProblem,
} from '../provider.ts';

/** The receiver in a configuration. */
export const customConfiguration = z.object({
  url: z.string({ error: 'must be a URL with https' }).max(2_000, 'must have at most 2000 characters'),
  signing_secret: z
    .string({ error: 'must be a string' })
    .min(16, 'must have at least 16 characters')
    .max(500, 'must have at most 500 characters'),
});

/** The answer of the receiver, which it may also send later. Amounts are in the unit of the invoice. */
const receiverAnswer = z.object({
  external_id: textOfAnswer(255).min(1),
  number: textOfAnswer(255).nullish(),
  status: z.enum(EXTERNAL_STATUSES).nullish(),
  pdf_url: textOfAnswer(2_000).refine(isLink).nullish(),
});

const noteAnswer = receiverAnswer.omit({ status: true });

function textOfAnswer(charactersMax: number) {
  return z
    .string()
    .max(charactersMax)
    .refine((text) => storageProblem(text) === null);
}

/** Sends a signed message; never rejects. */
export type SendMessage = (
  url: string,
  message: { readonly id: string; readonly body: string; readonly secret: string },
) => Promise<{
  readonly status: number | null;
  readonly answer: string | null;
  readonly error: string | null;
}>;

interface CustomReceiver {
  readonly settings: z.output<typeof customConfiguration>;
  readonly send: SendMessage;
  /** The invoice as the API shows it. */
  invoiceText(document: PaymentDocument): Promise<string>;
  /** The credit note as the API shows it. */
  noteText(creditNoteId: string): Promise<string>;
}

export function createCustomProvider(receiver: CustomReceiver): PaymentsProvider {
  return {
    deliver: (document, progress, note) => deliver(receiver, document, progress, note),
    // The receiver reports its state by itself.
    status: async (_, progress) => progress.external,
    async void(document, progress) {
      await post(receiver, 'invoice.voided', await invoiceContent(receiver, document));
      return { ...progress.external, status: 'VOID', error: null };
    },
    async collect() {
      throw new ProviderProblem('refused', 'A custom billing provider collects by itself');
    },
    deliverNote: (_, credited, { sending }) => deliverNote(receiver, credited, sending),
    notesThere: async () => null,
    async charge() {
      throw new ProviderProblem('refused', 'A custom billing provider collects no payments of gates');
    },
    isPaymentUnderWay: async () => false,
  };
}

async function deliver(
  receiver: CustomReceiver,
  document: PaymentDocument,
  begun: Progress,
  note: Note,
): Promise<ExternalInvoice> {
  const { external } = await note({
    method: 'webhook',
    ...(begun.mappedAt === null ? { mappedAt: Date.now() } : {}),
    external: { billingProvider: 'custom' },
  });
  const answer = await post(receiver, 'invoice.finalized', await invoiceContent(receiver, document));
  const parsed = receiverAnswer.safeParse(answer);
  if (!parsed.success) {
    throw invalidAnswer(parsed.error);
  }
  const { external_id: externalId, number, status, pdf_url: pdfUrl } = parsed.data;
  return {
    ...external,
    // A report that the receiver sent during the attempt is newer.
    status: status ?? (external.status === 'QUEUED' ? 'SENT' : external.status),
    externalId,
    number: number ?? external.number,
    pdfUrl: pdfUrl ?? external.pdfUrl,
    issuedAt: Math.floor(Date.now() / SECOND_MS) * SECOND_MS,
    total: document.payable,
    subTotal: document.payable,
    error: null,
  };
}

function invalidAnswer({ issues }: z.ZodError): ProviderProblem {
  const member = issues[0]?.path.join('.') || 'external_id';
  return new ProviderProblem('refused', `The receiver has answered without a valid ${member}`);
}

const REFUSED_FROM = 400;
const UNCLEAR_FROM = 500;
const BUSY = 429;
const REQUEST_TIMEOUT = 408;

/** The document in a message, as JSON. */
interface Content {
  /** The id of the document. */
  readonly of: string;
  readonly name: 'invoice' | 'credit_note';
  readonly text: string;
}

async function invoiceContent({ invoiceText }: CustomReceiver, document: PaymentDocument): Promise<Content> {
  return { of: document.invoiceId, name: 'invoice', text: await invoiceText(document) };
}

async function deliverNote(
  receiver: CustomReceiver,
  { id, subTotal, tax }: CreditNote,
  { doubtful, begin }: NoteSending,
): Promise<ExternalCreditNote> {
  await begin(doubtful?.key ?? randomUUID());
  const text = await receiver.noteText(id);
  const sent = post(receiver, 'credit_note.issued', { of: id, name: 'credit_note', text });
  const answer = noteAnswer.safeParse(await (doubtful === null ? sent : sent.catch(stillDoubtful)));
  if (!answer.success) throw invalidAnswer(answer.error);
  const { external_id: externalId, number = null, pdf_url: pdfUrl = null } = answer.data;
  return {
    ...{ billingProvider: 'custom', status: 'ISSUED', externalId, number, pdfUrl, error: null, tax },
    issuedAt: Math.floor(Date.now() / SECOND_MS) * SECOND_MS,
    total: subTotal.plus(tax),
    ...{ prePayment: null, refund: null, customerBalance: null, outOfBand: null },
  };
}

/** A receiver that is busy now may have taken an earlier message. */
function stillDoubtful(error: unknown): never {
  if (!(error instanceof ProviderProblem) || error.kind === 'refused') throw error;
  throw new ProviderProblem('unclear', error.message);
}

async function post({ settings, send }: CustomReceiver, type: string, { of, name, text }: Content) {
  const { url, signing_secret: secret } = settings;
  const id = derivedId('custom-delivery', type, of);
  const body = `{"id":${JSON.stringify(id)},"type":${JSON.stringify(type)},${JSON.stringify(name)}:${text}}`;
  const { status, answer, error } = await send(url, { id, body, secret });
  if (error === null) return parsedAnswer(answer);
  const problem = `The receiver has answered ${error}${answer ? `: ${answer}` : ''}`;
  if (status === BUSY) throw new ProviderProblem('busy', problem);
  const isRefused =
    status !== null && status >= REFUSED_FROM && status < UNCLEAR_FROM && status !== REQUEST_TIMEOUT;
  throw new ProviderProblem(isRefused ? 'refused' : 'unclear', status === null ? error : problem);
}

function parsedAnswer(answer: string | null): unknown {
  try {
    return JSON.parse(answer ?? '');
  } catch {
    return null;
  }
}

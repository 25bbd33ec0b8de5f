/**
 * A stateful stand-in of Stripe's HTTP interface, which the official client uses through `STRIPE_API_BASE`. It
 * implements Stripe's rules for idempotency keys, pages, lines and states, and injects faults on request.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import Stripe from 'stripe';
import { type FormValue, parseForm } from './form-body.ts';
import {
  intentJson,
  invoiceJson,
  lineJson,
  listJson,
  noteJson,
  noteLineJson,
  pageOf,
} from './stand-in-answers.ts';
import { createNote, creditNote, notesOf, previewNote, voidNote } from './stand-in-credit-notes.ts';
import { type StandInEvent, type StandInInvoice, StripeRefusal } from './stand-in-objects.ts';
import { StandInState } from './stand-in-state.ts';

/**
 * `lost`: done, and the answer is lost. `cut`: not done, and no answer. `error_after`: done, and answered with 500.
 * `lock_timeout`: not done, and the error is stored under the key. `hang`: done, and answered too late. `slow`: done
 * after the client has timed out.
 */
export const FAULTS = [
  'lost',
  'cut',
  'error_before',
  'error_after',
  'too_many',
  'lock_timeout',
  'hang',
  'slow',
] as const;
export type Fault = (typeof FAULTS)[number];

interface StandInRequest {
  readonly method: string;
  readonly path: string;
  readonly key: string | null;
  /** The customer of the object; null: none. */
  readonly customer: string | null;
}

export interface StripeStandIn {
  readonly url: string;
  readonly state: StandInState;
  readonly requests: StandInRequest[];
  readonly webhookSecret: string;
  /** Called before each request. */
  misbehave: (request: StandInRequest) => Fault | null;
  /** The delay of each answer. */
  delayMs: number;
  /** How long `hang` and `slow` take: longer than the client waits. */
  slowMs: number;
  /** The Retry-After of a rate-limit answer. */
  retryAfterSeconds: number;
  /** Posts signed events to a webhook route of ours; returns the statuses of the answers. */
  deliver(to: string, events: readonly StandInEvent[], atSeconds?: number): Promise<number[]>;
  /** `deliver` in the form of an event destination of API v2: events name their objects only. */
  deliverThin(to: string, events: readonly StandInEvent[]): Promise<number[]>;
  close(): Promise<void>;
}

export const STAND_IN_KEY = 'sk_test_stand_in_key';
const SLOW_MS = 3_000;

/** The answers that are replayed for the same idempotency key. */
type Remembered = Map<string, Answer & { readonly of: string }>;

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** `apiKey`: the only accepted one; clients treat the prefix `sk_live_` as a live key. */
export async function startStripeStandIn(apiKey: string = STAND_IN_KEY): Promise<StripeStandIn> {
  const remembered: Remembered = new Map();
  const server = createServer((request, response) => {
    handle(standIn, { apiKey, remembered }, request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const standIn: StripeStandIn = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    state: new StandInState(),
    requests: [],
    webhookSecret: 'whsec_of_the_stand_in',
    misbehave: () => null,
    delayMs: 0,
    slowMs: SLOW_MS,
    retryAfterSeconds: 1,
    deliver: (to, events, atSeconds) =>
      deliverEvents(standIn.webhookSecret, to, events.map(snapshotOf), atSeconds),
    deliverThin: (to, events) => deliverEvents(standIn.webhookSecret, to, events.map(thinOf)),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return standIn;
}

function snapshotOf({ id, type, object }: StandInEvent): object {
  return { id, object: 'event', type, data: { object } };
}

function thinOf({ id, type, object }: StandInEvent): object {
  const of = {
    id: object.id,
    type: object.object,
    url: `/v1/${String(object.object)}s/${String(object.id)}`,
  };
  const common = { id, object: 'v2.core.event', type: type.startsWith('v2.') ? type : `v1.${type}` };
  return { ...common, created: new Date().toISOString(), livemode: false, related_object: of };
}

async function deliverEvents(
  secret: string,
  to: string,
  events: readonly object[],
  atSeconds?: number,
): Promise<number[]> {
  const statuses: number[] = [];
  for (const event of events) {
    const payload = JSON.stringify(event);
    const timestamp = atSeconds === undefined ? {} : { timestamp: atSeconds };
    const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret, ...timestamp });
    const headers = { 'stripe-signature': signature, 'content-type': 'application/json' };
    statuses.push((await fetch(to, { method: 'POST', headers, body: payload })).status);
  }
  return statuses;
}

async function handle(
  standIn: StripeStandIn,
  { apiKey, remembered }: { readonly apiKey: string; readonly remembered: Remembered },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  const url = new URL(request.url ?? '/', standIn.url);
  const key = request.headers['idempotency-key'];
  const seen = {
    method: request.method ?? '',
    path: url.pathname,
    key: typeof key === 'string' ? key : null,
    customer: customerOf(standIn.state, url, text),
  };
  standIn.requests.push(seen);
  if (standIn.delayMs > 0) await pause(standIn.delayMs);
  const given = String(request.headers.authorization).slice('Bearer '.length);
  if (given !== apiKey) {
    const message = `Invalid API Key provided: ${given}`;
    return answer(response, 401, refusalBody('invalid_request_error', 'api_key_expired', message));
  }
  const before = seen.key === null ? undefined : remembered.get(seen.key);
  const of = `${seen.method} ${request.url} ${text}`;
  if (before !== undefined) return repeat(before, of, response);
  const fault = standIn.misbehave(seen);
  if (fault === 'cut') return void response.socket?.destroy();
  const refused = refusedWith(fault);
  if (refused !== null) {
    if (fault === 'too_many') response.setHeader('retry-after', String(standIn.retryAfterSeconds));
    if (fault === 'lock_timeout' && seen.key !== null) remembered.set(seen.key, { ...refused, of });
    return answer(response, refused.status, refused.body);
  }
  await carryOut(standIn, fault, { seen, url, text, of, remembered }, response);
}

/** The answer of a fault that prevents the request from being executed. */
function refusedWith(fault: Fault | null): Answer | null {
  switch (fault) {
    case 'too_many':
      return { status: 429, body: refusalBody('rate_limit_error', 'rate_limit', 'Too many requests') };
    case 'lock_timeout': {
      const message = 'This object cannot be accessed right now';
      return { status: 429, body: refusalBody('invalid_request_error', 'lock_timeout', message) };
    }
    case 'error_before':
      return BROKEN;
    default:
      return null;
  }
}

/** The stored answer, for the same request only. */
function repeat(before: Answer & { readonly of: string }, of: string, response: ServerResponse): void {
  if (before.of === of) answer(response, before.status, before.body);
  else answer(response, 400, OTHER_PARAMETERS);
}

const OTHER_PARAMETERS = refusalBody(
  'idempotency_error',
  'idempotency_key_in_use',
  'Keys for idempotent requests can only be used with the same parameters they were first used with',
);

const BROKEN: Answer = { status: 500, body: refusalBody('api_error', 'api_error', 'An error occurred') };

interface Carried {
  readonly seen: StandInRequest;
  readonly url: URL;
  readonly text: string;
  /** The request, with its parameters. */
  readonly of: string;
  readonly remembered: Remembered;
}

async function carryOut(
  { state, slowMs }: StripeStandIn,
  fault: Fault | null,
  { seen, url, text, of, remembered }: Carried,
  response: ServerResponse,
): Promise<void> {
  if (fault === 'slow') await pause(slowMs);
  const done = outcome(() => operate(state, seen, url, parseForm(text)));
  if (seen.key !== null) remembered.set(seen.key, { ...done, of });
  if (fault === 'lost') return void response.socket?.destroy();
  if (fault === 'hang') await pause(slowMs);
  const { status, body } = fault === 'error_after' ? BROKEN : done;
  answer(response, status, body);
}

function customerOf(state: StandInState, url: URL, text: string): string | null {
  const id = url.pathname.split('/')[3] ?? '';
  const given = new URLSearchParams(text);
  const invoice =
    url.searchParams.get('invoice') ?? given.get('invoice') ?? state.creditNotes.get(id)?.invoice;
  const known = (state.invoices.get(invoice ?? id) ?? state.intents.get(id))?.customer;
  const named = url.searchParams.get('customer') ?? given.get('customer');
  return known ?? named ?? (state.customers.has(id) ? id : null);
}

function answer(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_stand_in' }).end(body);
}

function refusalBody(type: string, code: string, message: string, param?: string): string {
  return JSON.stringify({ error: { type, code, message, ...(param === undefined ? {} : { param }) } });
}

function outcome(work: () => unknown): Answer {
  try {
    return { status: 200, body: JSON.stringify(work()) };
  } catch (error) {
    if (!(error instanceof StripeRefusal)) throw error;
    const type = error.status === 402 ? 'card_error' : 'invalid_request_error';
    return { status: error.status, body: refusalBody(type, error.code, error.message, error.param) };
  }
}

type Form = Record<string, FormValue>;

function expandedIn({ expand }: Form): string[] {
  return Array.isArray(expand) ? expand.map(String) : [];
}

function expandedOf(query: URLSearchParams): string[] {
  return [...query].flatMap(([name, value]) => (name.startsWith('expand[') ? [value] : []));
}

function operate(state: StandInState, { method, path }: StandInRequest, url: URL, form: Form): unknown {
  const [, , resource = '', id = '', action = ''] = path.split('/');
  const name = `${method} ${resource}${id === '' ? '' : '/id'}${action === '' ? '' : `/${action}`}`;
  const query = url.searchParams;
  const expanded = [...expandedIn(form), ...expandedOf(query)];
  const invoice = (one: StandInInvoice) => invoiceJson(state, one, expanded);
  switch (name) {
    case 'GET account':
      return { id: state.accountId, object: 'account' };
    case 'GET customers/id':
      return customerJson(state, id);
    case 'POST invoices':
      return invoice(state.createInvoice(form));
    case 'GET invoices':
      return pageOf([...state.invoices.values()], query, '/v1/invoices', invoice);
    case 'GET invoices/id':
      return invoice(state.invoice(id));
    case 'DELETE invoices/id':
      state.deleteInvoice(id);
      return { id, object: 'invoice', deleted: true };
    case 'GET invoices/id/lines':
      return listJson(state.invoice(id).lines, query, path, (line) => lineJson(state.invoice(id), line));
    case 'POST invoices/id/add_lines':
      return invoice(state.addLines(id, form.lines ?? []));
    case 'POST invoices/id/update_lines':
      return invoice(state.updateLines(id, form.lines ?? []));
    case 'POST invoices/id/remove_lines':
      return invoice(state.removeLines(id, form.lines ?? []));
    case 'POST invoices/id/finalize':
      return invoice(state.finalize(id, form.auto_advance === 'true'));
    case 'POST invoices/id/send':
      state.invoice(id).sent += 1;
      return invoice(state.invoice(id));
    case 'POST invoices/id/pay':
      return invoice(state.pay(id));
    case 'POST invoices/id/void':
      return invoice(state.voidInvoice(id));
    case 'POST payment_intents':
      return intentJson(state.createIntent(form));
    case 'GET payment_intents':
      return pageOf([...state.intents.values()], query, '/v1/payment_intents', intentJson);
    case 'GET payment_intents/id':
      return intentJson(state.intent(id));
    case 'POST payment_intents/id/confirm':
      return intentJson(state.confirmIntent(id, form.off_session === 'true'));
    case 'POST payment_intents/id/cancel':
      return intentJson(state.cancelIntent(id));
    case 'POST tax/id':
      return taxJson(state, form);
    default:
      return operateNotes(state, name, { id, path, query, form });
  }
}

interface NoteRequest {
  readonly id: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly form: Form;
}

function operateNotes(state: StandInState, name: string, { id, path, query, form }: NoteRequest): unknown {
  switch (name) {
    case 'GET credit_notes': {
      const newestFirst = notesOf(state, query.get('invoice')).toReversed();
      return listJson(newestFirst, query, path, noteJson);
    }
    case 'GET credit_notes/id':
      return noteJson(
        id === 'preview' ? previewNote(state, parseForm(query.toString())) : creditNote(state, id),
      );
    case 'GET credit_notes/id/lines':
      return listJson(creditNote(state, id).lines, query, path, noteLineJson);
    case 'POST credit_notes':
      return noteJson(createNote(state, form));
    case 'POST credit_notes/id/void':
      return noteJson(voidNote(state, id));
    default:
      throw new StripeRefusal(404, 'unknown_route', `Unrecognized request URL (${name}: ${path})`);
  }
}

function customerJson(state: StandInState, id: string): unknown {
  const { card, balance } = state.customer(id);
  const method = card === 'none' ? null : `pm_${id}`;
  return {
    id,
    object: 'customer',
    balance,
    currency: null,
    invoice_credit_balance: {},
    default_source: null,
    invoice_settings: { default_payment_method: method },
  };
}

function taxJson(state: StandInState, form: Form): unknown {
  const [line] = form.line_items as Form[];
  if (!state.customer(String(form.customer)).hasAddress) {
    throw new StripeRefusal(400, 'customer_tax_location_invalid', "The customer's location isn't recognized");
  }
  return {
    id: state.nextId('taxcalc'),
    object: 'tax.calculation',
    tax_amount_exclusive: Math.round(Number(line?.amount) / 10),
  };
}

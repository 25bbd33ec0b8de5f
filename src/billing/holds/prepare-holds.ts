/** The holds of a request, in the form in which ingest would store their events. */
import { createHash } from 'node:crypto';
import { type Decimal, ZERO } from '../../core/decimal.ts';
import { invalid } from '../../core/errors.ts';
import { formatInstant, type Instant } from '../../core/time.ts';
import { createEventReader } from '../../metering/ingest/validate-events.ts';
import type { HeldEvent } from '../../rating/holds/family-view.ts';
import type { BillingContext } from '../billing-context.ts';
import { type Charged, heldEvent } from './family-prices.ts';

export interface HoldRequest {
  readonly customerRef: string;
  readonly transactionId: string;
  readonly ttlSeconds: number | null;
  /** `properties`: JSON, with the digits as they were sent. */
  readonly event: {
    readonly eventType: string;
    readonly properties: string;
    readonly timestamp: Instant | null;
  } | null;
  readonly amount: { readonly amount: Decimal; readonly creditTypeId: string } | null;
}

export interface PreparedHold {
  readonly request: HoldRequest;
  readonly hash: string;
  readonly charged: Charged;
  /** JSON of names and texts; null of an amount. */
  readonly properties: string | null;
}

/** The events as ingest would store them. Refuses all if one is wrong. */
export function prepareHolds(
  { clock, windowDays }: BillingContext,
  requests: readonly HoldRequest[],
): PreparedHold[] {
  const now = clock.now();
  const withEvents = requests.flatMap((request, index) =>
    request.event === null ? [] : [{ request, index }],
  );
  const texts = new Map<HoldRequest, { readonly timestamp: Instant; readonly properties: string }>();
  if (withEvents.length > 0) {
    const bodies = withEvents.map(({ request }) => eventJson(request, request.event?.timestamp ?? now));
    const read = createEventReader().read(Buffer.from(`[${bodies.join(',')}]`), { now, windowDays });
    if (!('rows' in read)) {
      const [first] = read.errors;
      const place = withEvents[first?.index ?? 0]?.index ?? 0;
      throw invalid(['holds', place, 'event'], first?.message ?? read.message);
    }
    for (const [index, { request }] of withEvents.entries()) {
      const { timestamp, properties } = read.rows.read(index);
      texts.set(request, { timestamp, properties: JSON.stringify(properties) });
    }
  }
  return requests.map((request) => preparedOne(request, texts.get(request) ?? null, now));
}

function preparedOne(
  request: HoldRequest,
  text: { readonly timestamp: Instant; readonly properties: string } | null,
  now: Instant,
): PreparedHold {
  const { customerRef, event, amount, ttlSeconds } = request;
  const content = [
    customerRef,
    event?.eventType ?? null,
    event?.timestamp ?? null,
    text?.properties ?? null,
    amount?.amount.toFixed() ?? null,
    amount?.creditTypeId ?? null,
    ttlSeconds,
  ];
  const hash = createHash('sha256').update(JSON.stringify(content)).digest('base64url');
  const charged: Charged =
    text !== null && event !== null
      ? { event: heldEvent(event.eventType, text.timestamp, text.properties) }
      : { amount: amount?.amount ?? ZERO, creditTypeId: amount?.creditTypeId ?? '', at: now };
  return { request, hash, charged, properties: text?.properties ?? null };
}

function eventJson({ customerRef, transactionId, event }: HoldRequest, timestamp: Instant): string {
  const head = { transaction_id: transactionId, customer_id: customerRef, event_type: event?.eventType };
  const members = JSON.stringify({ ...head, timestamp: formatInstant(timestamp) }).slice(1, -1);
  return `{${members},"properties":${event?.properties ?? '{}'}}`;
}

/** Refuses (`invalid`) amounts in units that do not exist. */
export async function requireUnits(
  nameOf: (creditTypeId: string) => Promise<string>,
  requests: readonly HoldRequest[],
): Promise<void> {
  for (const [index, { amount }] of requests.entries()) {
    if (amount === null || (await nameOf(amount.creditTypeId)) !== '') continue;
    throw invalid(['holds', index, 'creditTypeId'], `credit type ${amount.creditTypeId} not found`);
  }
}

/** One event as ingest would store it, now. Refuses (`invalid`) what ingest would refuse. */
export function preparedEvent(
  { clock, windowDays }: BillingContext,
  {
    customerRef,
    eventType,
    properties,
  }: Readonly<Record<'customerRef' | 'eventType' | 'properties', string>>,
): HeldEvent {
  const now = clock.now();
  const event = { eventType, properties, timestamp: null };
  const request = { customerRef, transactionId: 'check', ttlSeconds: null, event, amount: null };
  const body = Buffer.from(`[${eventJson(request, now)}]`);
  const read = createEventReader().read(body, { now, windowDays });
  if (!('rows' in read)) throw invalid([], read.errors[0]?.message ?? read.message);
  const { timestamp, properties: stored } = read.rows.read(0);
  return heldEvent(eventType, timestamp, JSON.stringify(stored));
}

/** Refuses (`invalid`) if ingest would refuse one of these events, whose places in `list` are given. */
export function requireValid(
  { clock, windowDays }: BillingContext,
  events: readonly { readonly index: number; readonly body: string }[],
  list: string,
): void {
  if (events.length === 0) return;
  const body = Buffer.from(`[${events.map((event) => event.body).join(',')}]`);
  const read = createEventReader().read(body, { now: clock.now(), windowDays });
  if ('rows' in read) return;
  const [first] = read.errors;
  throw invalid([list, events[first?.index ?? 0]?.index ?? 0], first?.message ?? read.message);
}

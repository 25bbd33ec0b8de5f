/** Parses events for a preview, which are not stored, under the rules of ingestion. */
import { Refusal } from '../../core/errors.ts';
import { textsJson } from '../ingest/event-rows.ts';
import { type ValidationContext, validateEvents } from '../ingest/validate-events.ts';
import type { PreviewedEvent } from '../query/previewed-events.ts';

/** An event in the form of a request. */
export interface SentEvent {
  readonly transactionId: string;
  readonly customerId: string;
  readonly eventType: string;
  /** RFC 3339. */
  readonly timestamp: string;
  /** JSON with numbers as they were sent. */
  readonly propertiesJson: string;
}

/** Refuses (`invalid`) the same events as ingestion, with the same list of bad events. */
export function eventsToPreview(sent: readonly SentEvent[], context: ValidationContext): PreviewedEvent[] {
  if (sent.length === 0) return [];
  const validation = validateEvents(Buffer.from(`[${sent.map(eventJson).join(',')}]`), context);
  if (!('rows' in validation)) {
    throw new Refusal('invalid', validation.message, { details: { errors: validation.errors } });
  }
  const { rows } = validation;
  return Array.from({ length: rows.count }, (_, index) => {
    const { transactionId, eventType, timestamp, properties } = rows.read(index);
    return { transactionId, eventType, timestamp, propertiesJson: textsJson(properties) };
  });
}

function eventJson({ transactionId, customerId, eventType, timestamp, propertiesJson }: SentEvent): string {
  const event = {
    transaction_id: transactionId,
    customer_id: customerId,
    event_type: eventType,
    timestamp,
  };
  return `${JSON.stringify(event).slice(0, -1)},"properties":${propertiesJson}}`;
}

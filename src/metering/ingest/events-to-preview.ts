/** Events that are not to be stored, under the same rules as those that are. */
import { z } from 'zod';
import { Refusal } from '../../core/errors.ts';
import type { PreviewedEvent } from '../query/previewed-events.ts';
import { type ValidationContext, validateEvents } from './validate-events.ts';

/** An event as it would be sent. */
export interface SentEvent {
  readonly transactionId: string;
  readonly customerId: string;
  readonly eventType: string;
  /** RFC 3339. */
  readonly timestamp: string;
  /** JSON with numbers as they were sent. */
  readonly propertiesJson: string;
}

const texts = z.tuple([z.string(), z.string(), z.string(), z.unknown()]);

/** Refuses (`invalid`) what ingestion refuses, with the same list of bad events. */
export function eventsToPreview(sent: readonly SentEvent[], context: ValidationContext): PreviewedEvent[] {
  if (sent.length === 0) return [];
  const validation = validateEvents(Buffer.from(`[${sent.map(eventJson).join(',')}]`), context);
  if (!('events' in validation)) {
    throw new Refusal('invalid', validation.message, { details: { errors: validation.errors } });
  }
  return validation.events.map(({ transactionId, timestamp, textsJson }) => {
    const [, , eventType, properties] = texts.parse(JSON.parse(`[${textsJson}]`));
    return { transactionId, eventType, timestamp, propertiesJson: JSON.stringify(properties) };
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

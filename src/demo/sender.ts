/**
 * Sends batches to `/v1/ingest` over several connections, like a careful producer: requests refused as busy, or never
 * answered, are sent again with the same transaction ids. It also sends some batches twice on purpose, concurrently or
 * one after the other, to show that nothing counts twice.
 */
import { z } from 'zod';
import type { Progress } from '../app/commands/terminal/progress.ts';
import { backoffMs, retry } from '../runtime/retry.ts';
import type { EventBatch } from './event-batches.ts';
import { DemoFailure } from './failure.ts';
import { answerMessage, ConnectionLost, type HttpAnswer, type HttpApi } from './http-api.ts';

export interface SendReport {
  /** Different events sent. */
  events: number;
  /** Events of the batches that were sent twice on purpose. */
  repeatedEvents: number;
  /** The outcomes that the service reported, over all answers. */
  accepted: number;
  duplicates: number;
  /** Requests that had to be sent again: refused as busy, or not answered. */
  retries: number;
}

/** Two batches of a hundred are sent twice. */
const REPEAT_EVERY = 50;
const ATTEMPTS_MAX = 10;
const BACKOFF = { firstMs: 50, maxMs: 5_000 };

const ingestAnswer = z.object({ accepted: z.int(), duplicates: z.int() });

interface Delivery {
  readonly accepted: number;
  readonly duplicates: number;
  readonly retries: number;
  /** An answer was lost: the next one then reports "duplicate" for events that the lost one accepted. */
  readonly answerLost: boolean;
}

export async function sendBatches(
  api: HttpApi,
  batches: AsyncIterator<EventBatch>,
  connections: number,
  progress: Progress,
): Promise<SendReport> {
  const report: SendReport = { events: 0, repeatedEvents: 0, accepted: 0, duplicates: 0, retries: 0 };
  let started = 0;
  const work = async () => {
    for (;;) {
      const next = await batches.next();
      if (next.done === true) return;
      started++;
      // A trace of a few batches has repeats too: the first batch is always one of them.
      const repeat = started % REPEAT_EVERY === 1;
      const deliveries = await deliverOften(api, next.value, repeat, started % (2 * REPEAT_EVERY) === 1);
      enter(report, next.value, deliveries);
      progress.advance(next.value.events);
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
  return report;
}

async function deliverOften(api: HttpApi, batch: EventBatch, repeat: boolean, atOnce: boolean) {
  if (!repeat) return [await deliver(api, batch)];
  if (atOnce) return Promise.all([deliver(api, batch), deliver(api, batch)]);
  return [await deliver(api, batch), await deliver(api, batch)];
}

function enter(report: SendReport, batch: EventBatch, deliveries: readonly Delivery[]): void {
  const repeated = batch.events * (deliveries.length - 1);
  report.events += batch.events;
  report.repeatedEvents += repeated;
  for (const delivery of deliveries) report.retries += delivery.retries;
  if (deliveries.some((delivery) => delivery.answerLost)) {
    report.accepted += batch.events;
    report.duplicates += repeated;
    return;
  }
  for (const delivery of deliveries) {
    report.accepted += delivery.accepted;
    report.duplicates += delivery.duplicates;
  }
}

/** Sends one batch until it is answered 200. */
async function deliver(api: HttpApi, batch: EventBatch): Promise<Delivery> {
  let answerLost = false;
  let attempts = 0;
  const sendOnce = async () => {
    attempts += 1;
    const answer = await api.send('POST', '/v1/ingest', batch.body);
    if (answer.status !== 200) throw new NotTaken(answer);
    return ingestAnswer.parse(JSON.parse(answer.text));
  };
  const taken = await retry(sendOnce, {
    name: 'batches of the demo',
    attemptsMax: ATTEMPTS_MAX,
    isTransient(error) {
      const status = error instanceof NotTaken ? error.status : 0;
      const isLost = error instanceof ConnectionLost || status >= 500;
      answerLost ||= isLost;
      return isLost || status === 429;
    },
    pauseMs: (failures, error) =>
      (error instanceof NotTaken ? error.retryAfterMs : null) ?? backoffMs(failures, BACKOFF),
  });
  return { ...taken, retries: attempts - 1, answerLost };
}

class NotTaken extends DemoFailure {
  readonly status: number;
  readonly retryAfterMs: number | null;

  constructor({ status, text, retryAfterMs }: HttpAnswer) {
    super(`POST /v1/ingest was answered ${status}: ${answerMessage(text)}`);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * Sends batches to `/v1/ingest` over several connections, the way a careful producer does: what was
 * refused for being busy, or never answered, is sent again with the same transaction ids. On purpose it
 * also sends some batches twice, at once or one after the other, to show that nothing counts twice.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { Progress } from '../app/commands/terminal/progress.ts';
import type { EventBatch } from './event-batches.ts';
import { DemoFailure } from './failure.ts';
import { answerMessage, ConnectionLost, type HttpApi } from './http-api.ts';

export interface SendReport {
  /** Different events sent. */
  events: number;
  /** Events of the batches that were sent a second time on purpose. */
  repeatedEvents: number;
  /** The outcomes that the service reported for them, over all answers. */
  accepted: number;
  duplicates: number;
  /** Requests that had to be sent again: answered busy, or not answered. */
  retries: number;
}

/** Two batches of a hundred are sent twice. */
const REPEAT_EVERY = 50;
const ATTEMPTS_MAX = 10;
const FIRST_WAIT_MS = 50;
const WAIT_MS_MAX = 5_000;

const ingestAnswer = z.object({ accepted: z.int(), duplicates: z.int() });

interface Delivery {
  readonly accepted: number;
  readonly duplicates: number;
  readonly retries: number;
  /** An answer went missing on the way: the next one then says "duplicate" for what the lost one accepted. */
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
      // A trace of a few batches has its repeats too: the first batch is always one of them.
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
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: one loop of attempts, with each kind of answer.
async function deliver(api: HttpApi, batch: EventBatch): Promise<Delivery> {
  let answerLost = false;
  for (let retries = 0; ; retries++) {
    const waitMs = Math.min(FIRST_WAIT_MS * 2 ** retries, WAIT_MS_MAX);
    const mayRetry = retries + 1 < ATTEMPTS_MAX;
    try {
      const answer = await api.send('POST', '/v1/ingest', batch.body);
      if (answer.status === 200) {
        const { accepted, duplicates } = ingestAnswer.parse(JSON.parse(answer.text));
        return { accepted, duplicates, retries, answerLost };
      }
      if (!mayRetry || (answer.status !== 429 && answer.status < 500)) {
        throw new DemoFailure(`POST /v1/ingest was answered ${answer.status}: ${answerMessage(answer.text)}`);
      }
      if (answer.status >= 500) answerLost = true;
      await delay(answer.retryAfterMs ?? waitMs);
    } catch (error) {
      if (!(error instanceof ConnectionLost) || !mayRetry) throw error;
      answerLost = true;
      await delay(waitMs);
    }
  }
}

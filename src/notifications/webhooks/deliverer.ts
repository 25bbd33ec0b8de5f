/**
 * Sends queued messages (docs/explanation/notifications.md, "Delivery"). Any number of processes may run it on one
 * database.
 *
 * An endpoint is leased by one process at a time, for one round of its due messages. Rounds of different endpoints run
 * side by side, so that a slow receiver delays no other. Before each attempt the endpoint is read again: its secret may
 * have changed, and it or the message may be gone. An attempt is recorded after the answer: a process that is
 * killed in between leaves the message queued, and it is sent again with the same id.
 */
import { randomUUID } from 'node:crypto';
import type { Secrets } from '../../core/secrets.ts';
import { DAY_MS, HOUR_MS, type Instant, SECOND_MS } from '../../core/time.ts';
import type { Span } from '../../core/tracing.ts';
import type { Database } from '../../store/base/database.ts';
import { pollDue } from '../../store/base/due-watch.ts';
import { loadWaitingDeliveries, type WaitingDeliveries } from '../../store/messages/delivery-figures.ts';
import {
  type DueDelivery,
  deleteOldMessages,
  dueDeliveries,
  noteAttempt,
} from '../../store/messages/webhook-deliveries.ts';
import {
  endpointOfPending,
  hasDueMessage,
  leaseDueEndpoints,
  releaseEndpoint,
  type WebhookEndpoint,
} from '../../store/messages/webhook-endpoints.ts';
import type { NotificationContext } from '../notification-context.ts';
import { nextAttemptAt } from './retries.ts';
import { type Attempt, sendWebhook } from './send.ts';
import { signatureHeaders } from './signature.ts';
import { openedSecret } from './stored-secrets.ts';

const POLL_INTERVAL_MS = 500;

/** Maximum messages of a round. */
const ROUND_MAX = 200;

/** Maximum simultaneous requests to one endpoint. */
const REQUESTS_MAX = 8;

/** No attempt of a round begins later; one takes 10 s at most, so that a round ends within its lease. */
const ROUND_MS = 8 * SECOND_MS;
const LEASE_MS = 20 * SECOND_MS;

/** How long messages and their deliveries can be read and redelivered. */
const KEPT_MS = 30 * DAY_MS;

/** How often pending deliveries are counted. */
const FIGURES_INTERVAL_MS = 10 * SECOND_MS;

export interface DeliveryStats extends WaitingDeliveries {
  /** Since the start of this process. */
  readonly attempts: Readonly<Record<AttemptOutcome, number>>;
  /** Deliveries that were abandoned since the start of this process. */
  readonly givenUp: number;
}

type AttemptOutcome = 'acknowledged' | 'refused' | 'unanswered';

export interface Deliverer {
  start(): void;
  /** The pending deliveries as of the last read, a few seconds ago. */
  stats(): DeliveryStats;
  /** Aborts attempts in progress: their messages are sent again after the next start. */
  close(): Promise<void>;
}

type DelivererContext = Pick<
  NotificationContext,
  'db' | 'dueWatch' | 'log' | 'tracer' | 'allowPrivate' | 'secrets'
> & {
  /**
   * While true, no attempt begins, because the stores may no longer be current. Attempts in progress are then repeated
   * elsewhere.
   */
  isPaused(): boolean;
};

export function createDeliverer(context: DelivererContext): Deliverer {
  const { db, log, isPaused } = context;
  const closing = new AbortController();
  const attempts = createAttempts(context, closing.signal);
  const upkeep = createUpkeep(db);
  const running = new Map<string, Promise<void>>();
  const round = { ...context, owner: randomUUID(), isEnding: () => closing.signal.aborted, ...attempts };
  let isFailing = false;

  /** Starts a round for every endpoint that has due messages and no running round. */
  const poll = pollDue(context.dueWatch, {
    ...{ name: 'webhooks', intervalMs: POLL_INTERVAL_MS, isDue: hasDueMessage },
    async work() {
      if (closing.signal.aborted || isPaused()) return;
      await beginRounds();
      isFailing = false;
    },
    onFailure: reportFailure,
  });

  async function beginRounds(): Promise<void> {
    const leasedAt = Date.now();
    const busy = [...running.keys()];
    for (const endpoint of await leaseDueEndpoints(db, { owner: round.owner, busy, leaseMs: LEASE_MS })) {
      const work = runRound(round, endpoint, leasedAt + ROUND_MS)
        .catch(reportFailure)
        .finally(() => {
          running.delete(endpoint.id);
          poll.soon();
        });
      running.set(endpoint.id, work);
    }
    await upkeep.run(leasedAt);
  }

  function reportFailure(error: unknown): void {
    if (!isFailing) log.error({ err: error }, 'webhooks cannot be sent now: they will be tried again');
    isFailing = true;
  }

  return {
    start: poll.start,
    stats: () => ({ ...upkeep.waiting(), ...attempts.figures() }),
    async close() {
      closing.abort();
      await poll.close();
      await Promise.all(running.values());
    },
  };
}

/** Reads the figures and deletes old messages, each at its interval. */
function createUpkeep(db: Database) {
  let cleanedAt: Instant = Date.now();
  let countedAt: Instant = 0;
  let waiting: WaitingDeliveries = { pending: 0, oldestAt: null };
  return {
    waiting: () => waiting,
    async run(now: Instant) {
      if (now - countedAt >= FIGURES_INTERVAL_MS) {
        countedAt = now;
        waiting = await loadWaitingDeliveries(db);
      }
      if (now - cleanedAt < HOUR_MS) return;
      cleanedAt = now;
      await deleteOldMessages(db, now - KEPT_MS);
    },
  };
}

interface Round extends Pick<DelivererContext, 'db' | 'tracer' | 'isPaused'> {
  readonly owner: string;
  isEnding(): boolean;
  attempt(endpoint: WebhookEndpoint, delivery: DueDelivery, span: Span): Promise<void>;
}

async function runRound(round: Round, { id }: WebhookEndpoint, until: Instant): Promise<void> {
  const { db, owner } = round;
  const chains = chainsOf(await dueDeliveries(db, id, ROUND_MAX));
  await Promise.all(
    Array.from({ length: REQUESTS_MAX }, async () => {
      for (let chain = chains.pop(); chain !== undefined; chain = chains.pop()) {
        await runChain(round, chain, until);
      }
    }),
  );
  await releaseEndpoint(db, id, owner);
}

async function runChain(round: Round, chain: readonly DueDelivery[], until: Instant): Promise<void> {
  for (const delivery of chain) {
    if (round.isEnding() || Date.now() > until) return;
    // It may have been archived, rotated or erased since.
    const present = await endpointOfPending(round.db, delivery.sequence);
    if (round.isPaused()) return;
    if (present === null) continue;
    const facts = { 'tallyhouse.message': delivery.messageId };
    await round.tracer.trace('deliver a webhook', { kind: 'client', facts }, (span) =>
      round.attempt(present, delivery, span),
    );
  }
}

/** Sends one message, and counts the outcome. */
function createAttempts({ db, secrets, allowPrivate }: DelivererContext, signal: AbortSignal) {
  const attempts = { acknowledged: 0, refused: 0, unanswered: 0 };
  let givenUp = 0;
  return {
    figures: () => ({ attempts, givenUp }),
    async attempt(endpoint: WebhookEndpoint, delivery: DueDelivery, span: Span): Promise<void> {
      const { messageId: id, body } = delivery;
      const at = Date.now();
      const keys = secretsOf(endpoint, at, secrets);
      const result =
        keys === null
          ? SEALED
          : await sendWebhook(
              endpoint.url,
              { headers: signatureHeaders(keys, { id, body }, at), body },
              { allowPrivate, signal },
            );
      if (result.error !== null && signal.aborted) return;
      const outcome = noted(delivery, result, at);
      attempts[outcomeOf(result)] += 1;
      if (result.status !== null) span.set({ 'http.response.status_code': result.status });
      if (result.error !== null) span.fail();
      if (outcome.status === 'FAILED') givenUp += 1;
      await noteAttempt(db, delivery.sequence, outcome);
    },
  };
}

function outcomeOf({ status, error }: Attempt): AttemptOutcome {
  if (error === null) return 'acknowledged';
  return status === null ? 'unanswered' : 'refused';
}

/** Messages of one customer are sent one after the other, in their order; the others concurrently. Last chain first. */
function chainsOf(due: readonly DueDelivery[]): DueDelivery[][] {
  const chains = new Map<string, DueDelivery[]>();
  for (const delivery of due) {
    const key = delivery.customerId ?? delivery.messageId;
    const chain = chains.get(key);
    if (chain === undefined) chains.set(key, [delivery]);
    else chain.push(delivery);
  }
  return [...chains.values()].reverse();
}

/** Nothing is sent with a wrong signature; it is retried, so that setting the right key is enough. */
const SEALED: Attempt = {
  status: null,
  answer: null,
  error: 'its secret was sealed with another SECRETS_KEY: start with that one, or rotate the secret',
};

/** The secrets that sign now, the current one first; null: it cannot be opened. */
function secretsOf(endpoint: WebhookEndpoint, at: Instant, secrets: Secrets): [string, ...string[]] | null {
  const { id, formerSecret, formerSecretUntil } = endpoint;
  const secret = openedSecret(secrets, id, endpoint.secret);
  if (secret === null) return null;
  const isFormerValid = formerSecret !== null && formerSecretUntil !== null && at < formerSecretUntil;
  const former = isFormerValid ? openedSecret(secrets, id, formerSecret) : null;
  return former === null ? [secret] : [secret, former];
}

function noted({ failures, retryUntil }: DueDelivery, { status, answer, error }: Attempt, at: Instant) {
  const last = { at, lastStatus: status, lastAnswer: answer, lastError: error };
  if (error === null) return { ...last, status: 'DELIVERED' as const, nextAttemptAt: at };
  const next = nextAttemptAt(failures + 1, Date.now(), retryUntil);
  if (next === null) return { ...last, status: 'FAILED' as const, nextAttemptAt: at };
  return { ...last, status: 'PENDING' as const, nextAttemptAt: next };
}

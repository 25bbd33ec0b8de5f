/**
 * The header `Idempotency-Key`: a request that is repeated with the same key and the same body is executed once and
 * answered as the first time, for 24 hours, by every process and after a restart.
 *
 * Owns: which request may run under a key, and how long its answer is replayed. Does not own: which answers are stored,
 * and the transaction that stores them (`request-records.ts`).
 */
import { createHash } from 'node:crypto';
import type { Clock } from '../core/clock.ts';
import { conflict, Refusal } from '../core/errors.ts';
import { newId } from '../core/ids.ts';
import { HOUR_MS, SECOND_MS } from '../core/time.ts';
import { createPoll, ignoreFailure } from '../runtime/poll.ts';
import {
  claimKey,
  deleteExpiredKeys,
  findKey,
  type KeyOfOperation,
  releaseClaim,
  renewClaim,
  type StoredAnswer,
  storeAnswer,
} from '../store/access/idempotency-keys.ts';
import type { Database, Transaction } from '../store/base/database.ts';

export type { StoredAnswer };

/** How long an answer is replayed, by the clock of the service. */
const REPLAY_MS = 24 * HOUR_MS;
/** Well below the 60 s of a claim (`store/access/idempotency-keys.ts`). */
const RENEWAL_MS = 20 * SECOND_MS;
/** A key that is freed between two statements is claimed again; more attempts are a race that another request wins. */
const ATTEMPTS_MAX = 3;
/** Old answers are deleted once per this many claims, slightly more than were added. */
const CLAIMS_PER_CLEANING = 100;
const DELETED_AT_ONCE_MAX = 1_000;
/** Characters that a header can carry unchanged. */
const KEY_PATTERN = /^[\x21-\x7e]{1,255}$/;

/** The right to execute the request of a key. */
export interface Claim {
  /** Stores the answer in the transaction of the change. Refuses if the claim was lost: then roll back. */
  store(db: Database | Transaction, answer: StoredAnswer): Promise<void>;
  /** Releases the key without an answer: the next request with it is executed. */
  release(): Promise<void>;
}

export interface Idempotency {
  /**
   * Claims the key for a request, or returns the stored answer. Refuses a malformed key (`invalid`), one of another
   * request, and one whose request is running (`conflict`).
   */
  claim(of: KeyOfOperation, request: readonly (string | Buffer)[]): Promise<Claim | StoredAnswer>;
}

export function createIdempotency({
  db,
  clock,
}: {
  readonly db: Database;
  readonly clock: Clock;
}): Idempotency {
  let claims = 0;

  function cleanNowAndThen(): void {
    claims += 1;
    if (claims % CLAIMS_PER_CLEANING !== 1) return;
    // A row that cannot be deleted now is deleted later.
    deleteExpiredKeys(db, clock.now() - REPLAY_MS, DELETED_AT_ONCE_MAX).catch(() => undefined);
  }

  function claimed(of: KeyOfOperation, claimedBy: string): Claim {
    const renewal = createPoll({
      name: 'claims of idempotency keys',
      intervalMs: RENEWAL_MS,
      work: () => renewClaim(db, of, claimedBy),
      onFailure: ignoreFailure,
    });
    renewal.start();
    return {
      async store(tx, answer) {
        await renewal.close();
        if (!(await storeAnswer(tx, of, claimedBy, answer))) throw runningElsewhere();
      },
      async release() {
        await renewal.close();
        await releaseClaim(db, of, claimedBy);
      },
    };
  }

  return {
    // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: the cases of one claim, in their order.
    async claim(of, request) {
      if (!KEY_PATTERN.test(of.key)) {
        throw new Refusal('invalid', 'Idempotency-Key must have 1 to 255 printable ASCII characters');
      }
      cleanNowAndThen();
      const requestHash = hashOf(request);
      for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
        const createdAt = clock.now();
        const claimedBy = newId();
        const expiredAt = createdAt - REPLAY_MS;
        if (await claimKey(db, { ...of, requestHash, claimedBy, createdAt, expiredAt })) {
          return claimed(of, claimedBy);
        }
        const stored = await findKey(db, of);
        if (stored === null) continue;
        if (stored.requestHash !== requestHash) {
          throw conflict(
            'This Idempotency-Key has been used for another request: its body, path or query differ',
          );
        }
        if (stored.answer !== null) return stored.answer;
        throw runningElsewhere();
      }
      throw runningElsewhere();
    },
  };
}

/** Each part is preceded by its length, so that parts cannot run into each other. */
function hashOf(request: readonly (string | Buffer)[]): string {
  const hash = createHash('sha256');
  for (const part of request) {
    const bytes = Buffer.from(part);
    hash.update(`${bytes.length}:`).update(bytes);
  }
  return hash.digest('hex');
}

/** Unlike other conflicts, this one can be retried. */
function runningElsewhere(): Refusal {
  return new Refusal('running', 'A request with this Idempotency-Key is being carried out: try again later');
}

/**
 * The records of a request besides its own changes: its row in the audit log, and the stored answer of its idempotency
 * key. Both are written in the transaction of the change, so that none exists without the others.
 *
 * Does not own: HTTP (`api/http/recorded.ts`), rows (`audit.ts`), keys (`idempotency.ts`), the transaction
 * (`store/base/request-unit.ts`).
 */
import { createRightOfWay, type RightOfWay } from '../runtime/right-of-way.ts';
import type { Database } from '../store/base/database.ts';
import { asRead, openUnit, type RequestUnit } from '../store/base/request-unit.ts';
import type { AuditedRequest, AuditedResult, WriteAudit } from './audit.ts';
import type { Claim, Idempotency, StoredAnswer } from './idempotency.ts';

interface RecordedRequest {
  /** Identifies the operation for its keys. */
  readonly operation: string;
  /** The idempotency key; null without one. */
  readonly key: string | null;
  /** The values that must be equal in a repeated request. */
  readonly content: readonly (string | Buffer)[];
  /** Null for an operation that changes nothing, which has no row in the audit log. */
  readonly audited: AuditedRequest | null;
  /** Whether the operation commits by itself, more than once: then the record is written after it. */
  readonly commitsItself: boolean;
}

export interface RequestRecord {
  /** Executes the request. `succeed` commits its writes. */
  run<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Commits. `answer`: the answer to replay. */
  succeed(result: AuditedResult, answer: StoredAnswer): Promise<void>;
  /**
   * Rolls back. `answer`: the answer to replay; null if the request may be executed again. A failure to write the
   * record is reported to `onLost`: the client gets the original failure.
   */
  fail(result: AuditedResult, answer: StoredAnswer | null): Promise<void>;
}

export interface RequestRecords {
  /** Returns the stored answer of a repeated request. Refuses the same as `Idempotency.claim`. */
  open(request: RecordedRequest): Promise<RequestRecord | StoredAnswer>;
  /** Executes a read-only request, without taking connections from others. */
  read<Result>(work: () => Promise<Result>): Promise<Result>;
}

export function createRequestRecords(context: {
  readonly db: Database;
  readonly idempotency: Idempotency;
  readonly audit: WriteAudit;
  /** Jobs give way to requests that read. */
  readonly rightOfWay?: RightOfWay;
  /** Called if the record of a failed request could not be written. */
  onLost(error: unknown): void;
}): RequestRecords {
  const { rightOfWay = createRightOfWay() } = context;
  return {
    read: (work) => rightOfWay.during(() => asRead(work)),
    async open(request) {
      const { operation, key, content } = request;
      const claim = key === null ? null : await context.idempotency.claim({ operation, key }, content);
      if (claim !== null && 'status' in claim) return claim;
      return recordOf(request, openUnit(context.db), claim);
    },
  };

  function recordOf(request: RecordedRequest, unit: RequestUnit, claim: Claim | null): RequestRecord {
    return {
      run: (work) => (request.commitsItself ? work() : unit.run(work)),
      async succeed(result, answer) {
        await unit.commit(async (tx) => {
          await claim?.store(tx, answer);
          // Last, because the rows of the log are in the order of their commits.
          if (request.audited !== null) await context.audit(tx, request.audited, result);
        });
      },
      async fail(result, answer) {
        await unit.rollBack();
        try {
          if (answer === null) await claim?.release();
          else await claim?.store(context.db, answer);
          if (request.audited !== null) await context.audit(context.db, request.audited, result);
        } catch (error) {
          context.onLost(error);
        }
      },
    };
  }
}

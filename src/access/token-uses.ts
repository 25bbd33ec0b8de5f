/**
 * When tokens were last used, written in batches a few seconds late: a use costs no statement.
 *
 * A crash loses the uses of the last seconds, nothing else.
 */
import type { Instant } from '../core/time.ts';
import { SECOND_MS } from '../core/time.ts';
import { createPoll, ignoreFailure } from '../runtime/poll.ts';
import { createSerialQueue } from '../runtime/serial-queue.ts';

const FLUSH_INTERVAL_MS = 10 * SECOND_MS;

export interface TokenUses {
  note(tokenId: string, at: Instant): void;
  /** Resolves when the recorded uses are written, or could not be: then they are kept for the next flush. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export function createTokenUses(deps: {
  write(uses: ReadonlyMap<string, Instant>): Promise<void>;
}): TokenUses {
  let noted = new Map<string, Instant>();
  const writes = createSerialQueue('uses of tokens');

  async function write(): Promise<void> {
    if (noted.size === 0) return;
    const uses = noted;
    noted = new Map();
    try {
      await deps.write(uses);
    } catch {
      // PostgreSQL is unavailable: newer uses take precedence over pending ones.
      noted = new Map([...uses, ...noted]);
    }
  }

  const flush = () => writes.run(write);
  const poll = createPoll({
    name: 'uses of tokens',
    intervalMs: FLUSH_INTERVAL_MS,
    work: flush,
    onFailure: ignoreFailure,
  });
  poll.start();
  return {
    note(tokenId, at) {
      noted.set(tokenId, at);
    },
    flush,
    async close() {
      await poll.close();
      await flush();
    },
  };
}

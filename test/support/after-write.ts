/** A kind of job with something done after its work, in the same transaction. */
import type { JobKind } from '../../src/jobs/job-kind.ts';

export function afterWrite(kind: JobKind, then: () => void | Promise<void>): JobKind {
  return {
    ...kind,
    async prepare(batch, inTurn) {
      const prepared = await kind.prepare(batch, inTurn);
      return {
        ...prepared,
        async write(tx, jobs) {
          await prepared.write(tx, jobs);
          if (jobs.length > 0) await then();
        },
      };
    },
  };
}

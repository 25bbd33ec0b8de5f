/** The parts of the running service: each is added when it is created, and shutdown goes through this list. */

/**
 * The order in which parts close: each stage needs only those after it. Jobs send messages and events; events record
 * repeats; the last check of the stored parts sees the writes of the others.
 */
const STAGES = ['jobs', 'messages', 'events', 'repeats', 'checks', 'subscriptions', 'readers'] as const;

type Stage = (typeof STAGES)[number];

/** It may be closed before it has started. */
interface RunningPart {
  /** Stops taking work, and waits for running work. */
  close(): unknown;
}

export interface RunningList {
  /** Returns the part. Parts of one stage close together. */
  add<Part extends RunningPart>(stage: Stage, part: Part): Part;
  /**
   * Closes the stages up to `last`, by default all. Each closes once: a second call waits for the first. A stage that
   * fails aborts the closing with its failure.
   */
  close(last?: Stage): Promise<void>;
}

export function createRunningList(): RunningList {
  const parts = new Map<Stage, RunningPart[]>(STAGES.map((stage) => [stage, []]));
  const ended = new Map<Stage, Promise<unknown>>();

  async function closeStage(stage: Stage): Promise<void> {
    await Promise.all((parts.get(stage) ?? []).map(async (part) => await part.close()));
  }

  return {
    add(stage, part) {
      parts.get(stage)?.push(part);
      return part;
    },
    async close(last = 'readers') {
      for (const stage of STAGES.slice(0, STAGES.indexOf(last) + 1)) {
        const end = ended.get(stage) ?? closeStage(stage);
        ended.set(stage, end);
        await end;
      }
    },
  };
}

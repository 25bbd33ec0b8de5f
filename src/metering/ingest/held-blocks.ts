/** Blocks with a log that is opened later, because events are missing from it. Until then appends fail. */
import { Refusal } from '../../core/errors.ts';
import type { EventBlocks } from './event-blocks.ts';

export interface HeldBlocks extends EventBlocks {
  open(blocks: EventBlocks): void;
}

export function createHeldBlocks(): HeldBlocks {
  let opened: EventBlocks | null = null;
  return {
    open(blocks) {
      opened = blocks;
    },
    async append(rows, count, requests) {
      if (opened === null) throw new Refusal('unavailable', 'the log of events is damaged');
      await opened.append(rows, count, requests);
    },
    // Readers of events are refused elsewhere during that time; the service reads its own tables.
    visible: async (refs) => await opened?.visible(refs),
    stats: () => opened?.stats() ?? { waitingRows: 0, waitingBytes: 0, inserts: 0, failedInserts: 0 },
    close: async () => await opened?.close(),
  };
}

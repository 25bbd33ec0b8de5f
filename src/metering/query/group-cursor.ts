/**
 * Where a page of grouped usage ended. The API hands it out as an opaque text and passes it back.
 *
 * Pages are found by key, not by offset: a page begins after the last row of the one before, so events
 * that arrive between two pages neither repeat nor skip a row. `ingestedUpTo` fixes what the first
 * page saw, so all pages show the usage of one moment and their values add up.
 */
import { z } from 'zod';

export const usageGroupCursor = z.strictObject({
  /** Start of the last row's window, before it was cut to the range. Epoch milliseconds. */
  windowStart: z.int(),
  /** The last row's group values, in the order of the sorted property names. */
  group: z.array(z.string().nullable()),
  /** Events ingested later are left out. Epoch microseconds. */
  ingestedUpTo: z.string().regex(/^\d{1,18}$/),
});

export type UsageGroupCursor = z.infer<typeof usageGroupCursor>;

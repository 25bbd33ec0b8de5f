/** The naive engine answers usage as ClickHouse does, so that tests of other guarantees may ask it instead. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { factsWithoutIngest } from '../../src/metering/ingest/event-facts.ts';
import { createUsageSource } from '../../src/metering/usage/usage-source.ts';
import { clickhouseForFile } from '../support/file-fixtures.ts';
import { naiveUsageSource } from '../support/naive/usage-source.ts';
import { runs } from '../support/shares-of-tests.ts';
import { storeEvents } from '../support/usage-events.ts';
import { answers, question } from '../support/usage-questions.ts';
import { usageScenario } from '../support/usage-scenarios.ts';

const clickhouse = await clickhouseForFile();
const stored = createUsageSource(clickhouse, factsWithoutIngest());

describe('usage from memory', () => {
  it('the naive engine answers series, groups, windows and moments of drawn events and metrics as ClickHouse does', async () => {
    await fc.assert(
      fc.asyncProperty(
        usageScenario,
        fc.array(question, { minLength: 1, maxLength: 3 }),
        async (scenario, asked) => {
          await storeEvents(clickhouse, scenario.events);
          const naive = naiveUsageSource(() => scenario.events);
          for (const one of asked) {
            expect(await answers(naive, scenario, one)).toEqual(await answers(stored, scenario, one));
          }
        },
      ),
      { numRuns: runs(30) },
    );
  });
});

/** A trace of requests to AI models, from its lines to invoice, breakdowns and margin. */
import { test } from 'vitest';
import { expectBilledTrace, traceLines } from '../support/billed-trace.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });

/** Some requests within two hours, with and without long prompts and answers. */
function syntheticTrace(): string {
  const lines = Array.from({ length: 730 }, (_, index) => {
    const at = new Date(Date.UTC(2023, 10, 16, 18, 15) + index * 7_321).toISOString();
    const context = (index * 7_919) % 4_807;
    return `${at.slice(0, 10)} ${at.slice(11, 23)}9600,${context},${(index * 104_729) % 613}`;
  });
  return ['TIMESTAMP,ContextTokens,GeneratedTokens', ...lines].join('\n');
}

test('the figures of the service are those computed from the lines, whichever name of a model they have', async () => {
  await expectBilledTrace(service, traceLines(syntheticTrace()));
});

/**
 * An agent that stops at its last cent: every call of its model, through the Vercel AI SDK, is held before it begins, and
 * billed by the tokens it has used. The model here answers by itself; put a real one in its place.
 *
 *   TALLYHOUSE_URL=http://127.0.0.1:3000 TALLYHOUSE_TOKEN=… npx tsx examples/typescript/hold-ai-sdk.ts
 */
import assert from 'node:assert/strict';
import { generateText, wrapLanguageModel } from 'ai';
import { holdsFor } from '../../clients/typescript/ai-sdk.ts';
import { Holds, NotGranted } from '../../clients/typescript/holds.ts';
import { prepaidCustomer } from './support/prepaid-customer.ts';

const { TALLYHOUSE_URL, TALLYHOUSE_TOKEN } = process.env;
assert(TALLYHOUSE_URL && TALLYHOUSE_TOKEN, 'TALLYHOUSE_URL and TALLYHOUSE_TOKEN must be set');

// An output token costs a tenth of a cent, and the customer has 20 cents: 200 tokens.
const customer_id = await prepaidCustomer({
  eventType: 'llm_call',
  property: 'output_tokens',
  price: 0.1,
  balance: 20,
});
const holds = new Holds({
  url: TALLYHOUSE_URL,
  token: TALLYHOUSE_TOKEN,
  whenAway: { policy: 'closed' },
  // The first request of a customer waits until its usage is counted.
  timeoutMs: 20_000,
});

/** Answers with 45 tokens. */
const answering = {
  specificationVersion: 'v3' as const,
  provider: 'example',
  modelId: 'answering',
  supportedUrls: {},
  doGenerate: async () => ({
    content: [{ type: 'text' as const, text: 'one more step' }],
    finishReason: { unified: 'stop' as const, raw: undefined },
    usage: {
      inputTokens: { total: 12, noCache: 12, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 45, text: 45, reasoning: 0 },
    },
    warnings: [],
  }),
  doStream: async () => {
    throw new Error('this model does not stream');
  },
};
const model = wrapLanguageModel({ model: answering, middleware: holdsFor(holds, { customer_id }) });

let steps = 0;
try {
  for (;;) {
    // At most 60 tokens a step, so that is what each step holds.
    await generateText({ model, prompt: 'Go on.', maxOutputTokens: 60, maxRetries: 0 });
    steps += 1;
  }
} catch (error) {
  if (!(error instanceof NotGranted)) throw error;
  console.log(`stopped after ${steps} steps: ${error.reason}, ${error.remaining} cents are left`);
}
// 200 - 4 × 45 = 20 tokens are left, and a step may take 60.
assert.equal(steps, 4);

/** Which spans are the same call to a model, and which restate others. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { modelName, providerName } from '../../../../src/core/model-providers.ts';
import { createCountOnce } from '../../../../src/metering/otlp/count-once.ts';
import { readProtobufSpans } from '../../../../src/metering/otlp/read-protobuf.ts';
import { IGNORED, spanOutcome, wantedAttributes } from '../../../../src/metering/otlp/span-event.ts';
import {
  modelCall,
  requestOf,
  requestProtobuf,
  type SentAttributes,
  type SentSpan,
  SPAN_RULES,
} from '../../../support/otlp.ts';
import { runs } from '../../../support/shares-of-tests.ts';

const AT = '2026-11-02T10:00:00Z';
const RESPONSE = 'msg_01AbCdEfGhIjKlMn';

const text = (name: string, string: string) => [name, { string }] as const;

function read(spans: readonly SentSpan[], rules = SPAN_RULES) {
  return readProtobufSpans(requestProtobuf(requestOf(spans)), wantedAttributes(rules));
}

/** Sends requests to one process: ids of the events of the last one, and `ignored` or `refused` of its other spans. */
async function sent(requests: readonly (readonly SentSpan[])[], rules = SPAN_RULES) {
  const countOnce = createCountOnce(undefined, () => {});
  let ids: string[] = [];
  let warnings: string[] = [];
  for (const spans of requests) {
    const all = read(spans, rules);
    const alone = new Map(all.map((span) => [span, spanOutcome(span, rules)]));
    const outcomes = await countOnce.outcomes(all, alone);
    const last = all.map((span) => outcomes.get(span) ?? IGNORED);
    ids = last.map((outcome) => (outcome.kind === 'event' ? outcome.event.transaction_id : outcome.kind));
    warnings = last.flatMap((outcome) => (outcome.kind === 'refused' ? [] : outcome.warnings));
  }
  return { ids, warnings };
}

/** The same of a single request. */
async function outcomes(spans: readonly SentSpan[], rules = SPAN_RULES): Promise<string[]> {
  return (await sent([spans], rules)).ids;
}

function answered(id: string, more: SentAttributes = []): SentSpan {
  return modelCall(AT, {
    tokens: { output_tokens: 1 },
    attributes: [text('gen_ai.response.id', id), ...more],
  });
}

const idOf = ({ traceId, spanId }: SentSpan) =>
  `${Buffer.from(traceId).toString('hex')}:${Buffer.from(spanId).toString('hex')}`;

describe('a call to a model is known', () => {
  it('a call to a model is known by the id of its answer, whatever span, trace and provider tell of it', async () => {
    const sdk = answered(RESPONSE, [text('gen_ai.provider.name', 'openai')]);
    const gateway = answered(RESPONSE, [text('gen_ai.provider.name', 'anthropic')]);
    expect(await outcomes([sdk, gateway, sdk])).toEqual(Array(3).fill(`genai:${RESPONSE}`));
  });

  it('a call to a model is known by trace and span where the id is so short that it repeats, or absent', async () => {
    expect(RESPONSE).toHaveLength(20);
    const spans = [
      answered(RESPONSE.slice(1)),
      answered('chatcmpl-123'),
      modelCall(AT, { tokens: { input_tokens: 1 } }),
    ];
    expect(await outcomes(spans)).toEqual(spans.map(idOf));
  });

  it('a call to a model is known by a hash of an id that is longer than a transaction id may be', async () => {
    const long = 'r'.repeat(122);
    expect(await outcomes([answered(long)])).toEqual([`genai:${long}`]);
    const [hashed, other] = await outcomes([answered(`${long}r`), answered(`${long}s`)]);
    expect(hashed).toMatch(/^genai:[0-9a-f]{64}$/);
    expect(other).not.toBe(hashed);
  });

  it('a call to a model is known by one id for all attempts that a gateway numbers', async () => {
    const ids = ['', ':attempt-0', ':attempt-1'].map((attempt) =>
      answered(`gen-1764000000-AbCdEf${attempt}`),
    );
    expect(new Set(await outcomes(ids))).toEqual(new Set(['genai:gen-1764000000-AbCdEf']));
  });

  it('a call to a model is known by trace and span where an earlier version may have stored it so', async () => {
    const span = answered(RESPONSE);
    const at = Date.parse(AT);
    expect(await outcomes([span], { ...SPAN_RULES, responseIdsFrom: at + 1 })).toEqual([idOf(span)]);
    expect(await outcomes([span], { ...SPAN_RULES, responseIdsFrom: at })).toEqual([`genai:${RESPONSE}`]);
  });
});

/** A span inside another one. */
function inside(outer: SentSpan, span: SentSpan): SentSpan {
  return { ...span, traceId: outer.traceId, parentSpanId: outer.spanId };
}

const call = (input: number, output: number, more: Partial<SentSpan> = {}) =>
  modelCall(AT, { tokens: { input_tokens: input, output_tokens: output }, ...more });

describe('a span around calls', () => {
  const named = (attributes: SentAttributes) =>
    modelCall(AT, { tokens: { input_tokens: 30, output_tokens: 3 }, attributes });

  it.each<[string, SentAttributes]>([
    ['an agent', [text('gen_ai.operation.name', 'invoke_agent')]],
    ['a workflow of Traceloop', [text('traceloop.span.kind', 'workflow')]],
    ['a chain of OpenInference', [text('openinference.span.kind', 'CHAIN')]],
    ['an agent of Langfuse', [text('langfuse.observation.type', 'agent')]],
    ['a function of the Vercel AI SDK', [text('ai.operationId', 'ai.streamText')]],
  ])('a span around calls is not billed where it says what it is: %s', async (_what, attributes) => {
    expect(await outcomes([named(attributes)])).toEqual(['ignored']);
  });

  it.each<[string, SentAttributes]>([
    ['Traceloop', [text('traceloop.span.kind', 'llm')]],
    ['OpenInference', [text('openinference.span.kind', 'LLM')]],
    ['Langfuse', [text('langfuse.observation.type', 'generation')]],
    ['the Vercel AI SDK', [text('ai.operationId', 'ai.streamText.doStream')]],
  ])('a span around calls is none where it says that it is the call: %s', async (_what, attributes) => {
    const span = named(attributes);
    expect(await outcomes([span])).toEqual([idOf(span)]);
  });

  it('a span around calls is not billed where it restates the sums of the calls inside, at any depth', async () => {
    const root = call(30, 3);
    const step = call(30, 3);
    const tool = modelCall(AT, { attributes: [text('gen_ai.operation.name', 'execute_tool')] });
    const first = call(10, 1);
    const second = call(20, 2);
    const spans = [
      inside(step, first),
      inside(tool, second),
      inside(step, tool),
      inside(root, step),
      { ...root },
    ].map((span) => ({ ...span, traceId: root.traceId }));
    expect(await outcomes(spans)).toEqual([
      idOf({ ...first, traceId: root.traceId }),
      idOf({ ...second, traceId: root.traceId }),
      'ignored',
      'ignored',
      'ignored',
    ]);
  });

  it('a span around calls is billed where it counts more than the calls inside, and where it has a separate answer', async () => {
    const root = call(31, 3);
    const other = inside(root, call(30, 3));
    expect(await sent([[root, other]])).toEqual({
      ids: [idOf(root), idOf(other)],
      warnings: [expect.stringContaining('all of them are billed')],
    });
    const own = answered('chatcmpl-AbCdEfGhIjKlMn');
    const same = inside(own, answered('chatcmpl-OpQrStUvWxYz01'));
    expect(await sent([[own, same]])).toEqual({
      ids: ['genai:chatcmpl-AbCdEfGhIjKlMn', 'genai:chatcmpl-OpQrStUvWxYz01'],
      warnings: [expect.stringContaining('all of them are billed')],
    });
  });

  it('a span around calls does not hide wrong counts inside it', async () => {
    const root = call(30, 3);
    const wrong = inside(root, call(1, 1, { attributes: [['gen_ai.usage.prompt_tokens', { int: 2n }]] }));
    expect(await outcomes([root, wrong])).toEqual([idOf(root), 'refused']);
  });

  it('a span around calls may name itself as the one around it, or form a circle', async () => {
    const one = call(1, 1);
    const two = inside(one, call(1, 1));
    const circle = [{ ...one, parentSpanId: two.spanId }, two];
    expect(await outcomes(circle)).toEqual([idOf(one), idOf(two)]);
    expect(await outcomes([{ ...one, parentSpanId: one.spanId }])).toEqual([idOf(one)]);
  });
});

describe('two spans of one call', () => {
  const chat = (id: string | null, input: number, output: number): SentSpan =>
    modelCall(AT, {
      tokens: { input_tokens: input, output_tokens: output },
      attributes: id === null ? [] : [text('gen_ai.response.id', id)],
    });
  const ANTHROPIC = 'msg_01AbCdEfGhIjKlMn';
  const OPENAI = 'chatcmpl-AbCdEfGhIjKlMn';

  /** The spans of one trace: an outer one, and the calls inside it. */
  function nested(outer: SentSpan, ...calls: SentSpan[]): SentSpan[] {
    return [outer, ...calls.map((one) => inside(outer, one))];
  }

  const CASES: [string, SentSpan[]][] = [
    ['an answer around a call without one', nested(chat(OPENAI, 30, 3), chat(null, 30, 3))],
    [
      'an answer around two calls without one',
      nested(chat(OPENAI, 30, 3), chat(null, 10, 1), chat(null, 20, 2)),
    ],
    ['a sum around two answers', nested(chat(null, 30, 3), chat(OPENAI, 10, 1), chat(ANTHROPIC, 20, 2))],
    ['an answer of Anthropic around one of OpenAI', nested(chat(ANTHROPIC, 30, 3), chat(OPENAI, 30, 3))],
  ];

  /** The tokens of the output of what is billed of these requests, an id once. */
  async function billedOutput(requests: readonly (readonly SentSpan[])[]) {
    const countOnce = createCountOnce(undefined, () => {});
    const billed = new Map<string, number>();
    for (const spans of requests) {
      const all = read(spans);
      const outcomes = await countOnce.outcomes(
        all,
        new Map(all.map((span) => [span, spanOutcome(span, SPAN_RULES)])),
      );
      for (const outcome of outcomes.values()) {
        if (outcome.kind !== 'event' || billed.has(outcome.event.transaction_id)) continue;
        billed.set(outcome.event.transaction_id, Number(outcome.event.properties.output_tokens));
      }
    }
    return [...billed.values()].reduce((sum, output) => sum + output, 0);
  }

  it.each(CASES)('two spans of one call are billed once in one request: %s', async (_what, spans) => {
    expect(await billedOutput([spans])).toBe(3);
    expect((await sent([spans])).warnings).toEqual([]);
  });

  it('two spans of one call are billed once in any cut of their request after those inside, sent again in any other', async () => {
    const cuts = fc.record({
      spans: fc.constantFrom(...CASES.map(([, spans]) => spans)),
      before: fc.boolean(),
      again: fc.array(fc.nat(), { maxLength: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(cuts, async ({ spans, before, again }) => {
        const [outer, ...calls] = spans;
        if (outer === undefined) throw new Error('there is a span');
        const first = before ? [calls, [outer]] : [[...calls, outer]];
        const repeated = again.map((at) => spans.slice(at % spans.length));
        expect(await billedOutput([...first, ...repeated])).toBe(3);
      }),
      { numRuns: runs(100) },
    );
  });

  it('two spans of one call are billed once if the one around comes first', async () => {
    const [outer, call] = nested(chat(OPENAI, 30, 3), chat(null, 30, 3));
    if (outer === undefined || call === undefined) throw new Error('there are two spans');
    expect(await sent([[outer], [call]])).toEqual({ ids: ['ignored'], warnings: [] });
  });

  it('two spans of one call are a warning if it is not known that one is nested in the other', async () => {
    const root = chat(null, 30, 3);
    const between = inside(root, modelCall(AT));
    const call = inside(between, chat(null, 30, 3));
    const { ids, warnings } = await sent([[call], [root]]);
    expect(ids).toEqual([idOf(root)]);
    expect(warnings).toEqual([expect.stringContaining('it is not known whether one is nested in the other')]);
  });

  it('two spans of one call are a warning if the sums of what was stored differ from it', async () => {
    const [outer, first] = nested(chat(null, 30, 3), chat(null, 10, 1));
    if (outer === undefined || first === undefined) throw new Error('there are two spans');
    expect((await sent([[first], [outer]])).warnings).toEqual([
      expect.stringContaining('all of them are billed'),
    ]);
  });
});

describe('an id of an answer that a caller chose', () => {
  const CHOSEN = '0b1e7a52-93c4-4d1f-8a67-2f5c9e0d3b18';
  const chosen = (more: { customer?: string; output?: number; at?: string } = {}) =>
    modelCall(more.at ?? AT, {
      customer: more.customer ?? 'acme',
      tokens: { input_tokens: 10, output_tokens: more.output ?? 2 },
      attributes: [text('gen_ai.response.id', CHOSEN)],
    });

  it('an id of an answer that a caller chose is the identity while customer, counts and minutes agree', async () => {
    const later = chosen({ at: '2026-11-02T10:04:00Z' });
    expect(await sent([[chosen()], [chosen(), later]])).toEqual({
      ids: [`genai:${CHOSEN}`, `genai:${CHOSEN}`],
      warnings: [],
    });
  });

  it.each([
    ['another customer', { customer: 'other' }],
    ['other counts', { output: 3 }],
    ['another time', { at: '2026-11-02T10:06:00Z' }],
  ])(
    'an id of an answer that a caller chose is none for a call with %s, with a warning',
    async (_what, other) => {
      for (const requests of [[[chosen()], [chosen(other)]], [[chosen(), chosen(other)]]]) {
        const { ids, warnings } = await sent(requests);
        expect(ids.at(-1)).toMatch(/^[0-9a-f]{32}:[0-9a-f]{16}$/);
        expect(warnings).toEqual([expect.stringContaining('it is billed by its trace and span')]);
      }
    },
  );

  it.each(['chatcmpl-', 'resp_', 'msg_', 'gen-'])(
    'an id of an answer that a provider drew is the identity whatever else differs: %s',
    async (form) => {
      const drawn = (customer: string) =>
        modelCall(AT, {
          customer,
          tokens: { output_tokens: customer.length },
          attributes: [text('gen_ai.response.id', `${form}AbCdEfGhIjKlMnOpQrSt`)],
        });
      expect(await sent([[drawn('one')], [drawn('another')]])).toEqual({
        ids: [`genai:${form}AbCdEfGhIjKlMnOpQrSt`],
        warnings: [],
      });
    },
  );
});

describe('an attempt without counts', () => {
  const chat = modelCall(AT);

  it('an attempt without counts is neither billed nor refused beside the call that has them', async () => {
    const generation = call(5, 1);
    expect(await outcomes([generation, inside(generation, chat)])).toEqual([idOf(generation), 'ignored']);
    const attempt = inside(chat, call(5, 1));
    expect(await outcomes([chat, attempt])).toEqual(['ignored', idOf(attempt)]);
    expect(await outcomes([{ ...chat, name: 'provider attempt 2: Acme' }])).toEqual(['ignored']);
  });

  it('an attempt without counts is refused where a tool or an agent lies between them, for it is a separate call', async () => {
    const generation = call(5, 1);
    const tool = inside(
      generation,
      modelCall(AT, { attributes: [text('gen_ai.operation.name', 'execute_tool')] }),
    );
    expect(await outcomes([generation, tool, inside(tool, chat)])).toEqual([
      idOf(generation),
      'ignored',
      'refused',
    ]);
  });

  it('an attempt without counts is refused alone', async () => {
    expect(await outcomes([chat])).toEqual(['refused']);
  });
});

it.each([
  ['openai.chat', 'openai'],
  ['OpenAI', 'openai'],
  ['Anthropic', 'anthropic'],
  ['anthropic.messages', 'anthropic'],
  ['azure.ai.openai', 'azure'],
  ['azure-openai.chat', 'azure'],
  ['azure.ai.inference', 'azure_ai'],
  ['amazon-bedrock', 'bedrock'],
  ['google.generative-ai', 'gemini'],
  ['google.vertex.chat', 'vertex_ai'],
  ['gcp.vertex_ai', 'vertex_ai'],
  ['xai.responses', 'xai'],
  ['Amazon Bedrock', 'bedrock'],
  ['amazon', 'bedrock'],
  ['bedrock_converse', 'bedrock'],
  ['google-gla', 'gemini'],
  ['vertex.anthropic.messages', 'vertex_ai'],
  ['vertex_ai-language-models', 'vertex_ai'],
  ['vertex_ai-zai_models', 'vertex_ai'],
  ['text-completion-openai', 'openai'],
  ['my-gateway.openai', 'my-gateway.openai'],
  ['My Gateway', 'My Gateway'],
])('the provider %s is %s of the catalogue', (sent, provider) => {
  expect(providerName(sent)).toBe(provider);
});

it.each([
  ['models/gemini-2.5-pro', 'gemini-2.5-pro'],
  ['publishers/google/models/gemini-2.5-pro', 'gemini-2.5-pro'],
  ['projects/p/locations/us-east5/publishers/anthropic/models/claude@1', 'claude@1'],
  ['accounts/fireworks/models/glm-5p2', 'accounts/fireworks/models/glm-5p2'],
  ['models/', 'models/'],
  ['gpt-4o', 'gpt-4o'],
])('the model %s is %s of the catalogue', (sent, model) => {
  expect(modelName(sent)).toBe(model);
});

/** Which spans are the same call to a model, and which restate others. */
import { describe, expect, it } from 'vitest';
import { modelName, providerName } from '../../../../src/core/model-providers.ts';
import { readProtobufSpans } from '../../../../src/metering/otlp/read-protobuf.ts';
import { restatedCalls } from '../../../../src/metering/otlp/restated-calls.ts';
import { IGNORED, spanOutcome, wantedAttributes } from '../../../../src/metering/otlp/span-event.ts';
import {
  modelCall,
  requestOf,
  requestProtobuf,
  type SentAttributes,
  type SentSpan,
  SPAN_RULES,
} from '../../../support/otlp.ts';

const AT = '2026-11-02T10:00:00Z';
const RESPONSE = 'msg_01AbCdEfGhIjKlMn';

const text = (name: string, string: string) => [name, { string }] as const;

function read(spans: readonly SentSpan[], rules = SPAN_RULES) {
  return readProtobufSpans(requestProtobuf(requestOf(spans)), wantedAttributes(rules));
}

/** Ids of the events of spans, and `ignored` or `refused` of the others. */
function outcomes(spans: readonly SentSpan[], rules = SPAN_RULES): string[] {
  const all = read(spans, rules);
  const restated = restatedCalls(all);
  return all.map((span) => {
    const outcome = restated.has(span) ? IGNORED : spanOutcome(span, rules);
    return outcome.kind === 'event' ? outcome.event.transaction_id : outcome.kind;
  });
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
  it('a call to a model is known by the id of its answer, whatever span, trace and provider tell of it', () => {
    const sdk = answered(RESPONSE, [text('gen_ai.provider.name', 'openai')]);
    const gateway = answered(RESPONSE, [text('gen_ai.provider.name', 'anthropic')]);
    expect(outcomes([sdk, gateway, sdk])).toEqual(Array(3).fill(`genai:${RESPONSE}`));
  });

  it('a call to a model is known by trace and span where the id is so short that it repeats, or absent', () => {
    expect(RESPONSE).toHaveLength(20);
    const spans = [
      answered(RESPONSE.slice(1)),
      answered('chatcmpl-123'),
      modelCall(AT, { tokens: { input_tokens: 1 } }),
    ];
    expect(outcomes(spans)).toEqual(spans.map(idOf));
  });

  it('a call to a model is known by a hash of an id that is longer than a transaction id may be', () => {
    const long = 'r'.repeat(122);
    expect(outcomes([answered(long)])).toEqual([`genai:${long}`]);
    const [hashed, other] = outcomes([answered(`${long}r`), answered(`${long}s`)]);
    expect(hashed).toMatch(/^genai:[0-9a-f]{64}$/);
    expect(other).not.toBe(hashed);
  });

  it('a call to a model is known by one id for all attempts that a gateway numbers', () => {
    const ids = ['', ':attempt-0', ':attempt-1'].map((attempt) =>
      answered(`gen-1764000000-AbCdEf${attempt}`),
    );
    expect(new Set(outcomes(ids))).toEqual(new Set(['genai:gen-1764000000-AbCdEf']));
  });

  it('a call to a model is known by trace and span where an earlier version may have stored it so', () => {
    const span = answered(RESPONSE);
    const at = Date.parse(AT);
    expect(outcomes([span], { ...SPAN_RULES, responseIdsFrom: at + 1 })).toEqual([idOf(span)]);
    expect(outcomes([span], { ...SPAN_RULES, responseIdsFrom: at })).toEqual([`genai:${RESPONSE}`]);
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
  ])('a span around calls is not billed where it says what it is: %s', (_what, attributes) => {
    expect(outcomes([named(attributes)])).toEqual(['ignored']);
  });

  it.each<[string, SentAttributes]>([
    ['Traceloop', [text('traceloop.span.kind', 'llm')]],
    ['OpenInference', [text('openinference.span.kind', 'LLM')]],
    ['Langfuse', [text('langfuse.observation.type', 'generation')]],
    ['the Vercel AI SDK', [text('ai.operationId', 'ai.streamText.doStream')]],
  ])('a span around calls is none where it says that it is the call: %s', (_what, attributes) => {
    const span = named(attributes);
    expect(outcomes([span])).toEqual([idOf(span)]);
  });

  it('a span around calls is not billed where it restates the sums of the calls inside, at any depth', () => {
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
    expect(outcomes(spans)).toEqual([
      idOf({ ...first, traceId: root.traceId }),
      idOf({ ...second, traceId: root.traceId }),
      'ignored',
      'ignored',
      'ignored',
    ]);
  });

  it('a span around calls is billed where it counts more than the calls inside, and where it has a separate answer', () => {
    const root = call(31, 3);
    const other = inside(root, call(30, 3));
    expect(outcomes([root, other])).toEqual([idOf(root), idOf(other)]);
    const own = answered(RESPONSE);
    const same = inside(own, modelCall(AT, { tokens: { output_tokens: 1 } }));
    expect(outcomes([own, same])).toEqual([`genai:${RESPONSE}`, idOf(same)]);
  });

  it('a span around calls does not hide wrong counts inside it', () => {
    const root = call(30, 3);
    const wrong = inside(root, call(1, 1, { attributes: [['gen_ai.usage.prompt_tokens', { int: 2n }]] }));
    expect(outcomes([root, wrong])).toEqual([idOf(root), 'refused']);
  });

  it('a span around calls may name itself as the one around it, or form a circle', () => {
    const one = call(1, 1);
    const two = inside(one, call(1, 1));
    const circle = [{ ...one, parentSpanId: two.spanId }, two];
    expect(outcomes(circle)).toEqual(['ignored', 'ignored']);
    expect(outcomes([{ ...one, parentSpanId: one.spanId }])).toEqual([idOf(one)]);
  });
});

describe('an attempt without counts', () => {
  const chat = modelCall(AT);

  it('an attempt without counts is neither billed nor refused beside the call that has them', () => {
    const generation = call(5, 1);
    expect(outcomes([generation, inside(generation, chat)])).toEqual([idOf(generation), 'ignored']);
    const attempt = inside(chat, call(5, 1));
    expect(outcomes([chat, attempt])).toEqual(['ignored', idOf(attempt)]);
    expect(outcomes([{ ...chat, name: 'provider attempt 2: Acme' }])).toEqual(['ignored']);
  });

  it('an attempt without counts is refused where a tool or an agent lies between them, for it is a separate call', () => {
    const generation = call(5, 1);
    const tool = inside(
      generation,
      modelCall(AT, { attributes: [text('gen_ai.operation.name', 'execute_tool')] }),
    );
    expect(outcomes([generation, tool, inside(tool, chat)])).toEqual([
      idOf(generation),
      'ignored',
      'refused',
    ]);
  });

  it('an attempt without counts is refused alone', () => {
    expect(outcomes([chat])).toEqual(['refused']);
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

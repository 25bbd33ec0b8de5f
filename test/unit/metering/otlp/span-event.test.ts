/** The billed part of a span, and spans that are not billed. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../../src/config.ts';
import { readProtobufSpans } from '../../../../src/metering/otlp/read-protobuf.ts';
import { spanOutcome, wantedAttributes } from '../../../../src/metering/otlp/span-event.ts';
import { NAMED_COUNTS } from '../../../../src/metering/otlp/token-names.ts';
import {
  modelCall,
  requestOf,
  requestProtobuf,
  type SentAttributes,
  type SentScope,
  type SentSpan,
  SPAN_RULES,
} from '../../../support/otlp.ts';
import { runs } from '../../../support/shares-of-tests.ts';

const AT = '2026-11-02T10:00:00.123Z';
const CUSTOMER = 'tallyhouse.customer';

function outcomeOf(span: SentSpan, resource: SentAttributes = []) {
  const request = requestProtobuf(requestOf([span], resource));
  const [read] = readProtobufSpans(request, wantedAttributes(SPAN_RULES));
  if (read === undefined) throw new Error('the request has no span');
  return spanOutcome(read, SPAN_RULES);
}

function propertiesOf(span: SentSpan) {
  const outcome = outcomeOf(span);
  if (outcome.kind !== 'event') throw new Error(JSON.stringify(outcome));
  return outcome.event.properties;
}

const text = (name: string, string: string) => [name, { string }] as const;
const usage = (name: string, int: number) => [`gen_ai.usage.${name}`, { int: BigInt(int) }] as const;

describe('a span of a call to a model', () => {
  it('a span of a call to a model is an event at the end of the span, with the trace and the span as its id', () => {
    const span = modelCall(AT, {
      traceId: Buffer.from('5b8efff798038103d269b633813fc60c', 'hex'),
      spanId: Buffer.from('eee19b7ec3c1b174', 'hex'),
      tokens: { input_tokens: 1_250, output_tokens: 310 },
    });
    // The nanoseconds within the millisecond are not kept.
    expect(outcomeOf({ ...span, end: span.end + 999_999n })).toEqual({
      kind: 'event',
      event: {
        transaction_id: '5b8efff798038103d269b633813fc60c:eee19b7ec3c1b174',
        customer_id: 'acme',
        event_type: 'token-billing',
        timestamp: AT,
        properties: {
          model: 'large-2026-01-01',
          provider: 'acme',
          input_tokens: '1250',
          output_tokens: '310',
          trace_id: '5b8efff798038103d269b633813fc60c',
          span_id: 'eee19b7ec3c1b174',
        },
      },
      warnings: [],
    });
  });

  it('a span of a call to a model counts each token once: those of the cache are not among the other tokens of the prompt', () => {
    const count = fc.nat(1_000_000);
    fc.assert(
      fc.property(count, count, count, count, (uncached, read, written, output) => {
        const properties = propertiesOf(
          modelCall(AT, {
            tokens: {
              input_tokens: uncached + read + written,
              'cache_read.input_tokens': read,
              'cache_creation.input_tokens': written,
              output_tokens: output + 1,
            },
          }),
        );
        const counted = [
          properties.input_tokens,
          properties.cached_input_tokens,
          properties.cached_write_tokens,
          properties.output_tokens,
        ];
        expect(counted.map((one) => Number(one ?? 0))).toEqual([uncached, read, written, output + 1]);
        // A kind that there is none of is no property, so that it needs no price.
        expect(Object.values(properties)).not.toContain('0');
      }),
      { numRuns: runs(600) },
    );
  });

  it('a span of a call to a model may have the names of older conventions', () => {
    const older = {
      ...modelCall(AT),
      attributes: [
        text(CUSTOMER, 'acme'),
        text('gen_ai.system', 'acme'),
        text('gen_ai.request.model', 'large'),
        usage('prompt_tokens', 10),
        usage('completion_tokens', 5),
        usage('cache_read_input_tokens', 3),
        usage('cache_creation_input_tokens', 2),
      ],
    };
    expect(propertiesOf(older)).toMatchObject({
      model: 'large',
      provider: 'acme',
      input_tokens: '5',
      cached_input_tokens: '3',
      cached_write_tokens: '2',
      output_tokens: '5',
    });
  });

  it('a span of a call to a model is billed at the model that answered', () => {
    const attributes = [text('gen_ai.request.model', 'small')];
    expect(propertiesOf(modelCall(AT, { attributes, tokens: { output_tokens: 1 } }))).toMatchObject({
      model: 'large-2026-01-01',
    });
  });

  it.each([
    ['gcp.gemini', 'gemini'],
    ['mistral_ai', 'mistral'],
    ['x_ai', 'xai'],
    ['openai', 'openai'],
    ['my-gateway', 'my-gateway'],
  ])('a span of a call to a model of the provider %s is priced at %s of the catalogue', (sent, provider) => {
    const attributes = [text('gen_ai.provider.name', sent)];
    expect(propertiesOf(modelCall(AT, { attributes, tokens: { output_tokens: 1 } })).provider).toBe(provider);
  });

  it('a span of a call to a model has the customer of its resource unless it names one itself', () => {
    const resource = [text(CUSTOMER, 'of-the-resource')];
    const tokens = { output_tokens: 1 };
    expect(outcomeOf(modelCall(AT, { tokens }), resource)).toMatchObject({ event: { customer_id: 'acme' } });
    expect(outcomeOf(modelCall(AT, { tokens, customer: null }), resource)).toMatchObject({
      event: { customer_id: 'of-the-resource' },
    });
    const number = [[CUSTOMER, { int: 42n }]] as const;
    expect(outcomeOf(modelCall(AT, { tokens, customer: null, attributes: number }))).toMatchObject({
      event: { customer_id: '42' },
    });
  });

  it('a span of a call to a model has the customer of the first attribute that it or its resource has', () => {
    const rules = { ...SPAN_RULES, customerAttributes: ['team', 'user', 'key'] };
    const customerOf = (own: SentAttributes, resource: SentAttributes = []) => {
      const span = modelCall(AT, { tokens: { output_tokens: 1 }, attributes: own });
      const [read] = readProtobufSpans(requestProtobuf(requestOf([span], resource)), wantedAttributes(rules));
      if (read === undefined) throw new Error('the request has no span');
      const outcome = spanOutcome(read, rules);
      return outcome.kind === 'event' ? outcome.event.customer_id : outcome;
    };
    expect(customerOf([text('key', 'k'), text('user', 'u')])).toBe('u');
    expect(customerOf([text('user', 'u')], [text('team', 't')])).toBe('t');
    // Gateways send an empty text where there is none.
    expect(customerOf([text('team', ''), text('key', 'k')], [text('team', '')])).toBe('k');
    expect(customerOf([])).toEqual({
      kind: 'refused',
      reason: 'has no attribute team and none user and none key, and neither has its resource',
    });
  });

  it('a span of a call to a model that failed is billed for the tokens that it used', () => {
    expect(propertiesOf(modelCall(AT, { statusCode: 2, tokens: { input_tokens: 7 } }))).toMatchObject({
      input_tokens: '7',
    });
  });
});

describe('the names of counts', () => {
  const counted = (counts: Readonly<Record<string, number>>) =>
    modelCall(AT, {
      attributes: Object.entries(counts).map(([name, int]) => [name, { int: BigInt(int) }] as const),
    });
  const reads = [
    'gen_ai.usage.cache_read.input_tokens',
    'gen_ai.usage.cache_read_input_tokens',
    'gen_ai.usage.cache_read_tokens',
    'gen_ai.usage.input_tokens.cached',
    'gen_ai.usage.details.cache_read_tokens',
    'gen_ai.usage.details.cache_read_input_tokens',
    'ai.usage.cachedInputTokens',
    'ai.usage.inputTokenDetails.cacheReadTokens',
    'llm.token_count.prompt_details.cache_read',
    'llm.token_count.prompt_details.cache_input',
    // Parts of a whole that the span does not have.
    'gen_ai.usage.text.cache_read.input_tokens',
    'gen_ai.usage.image.cache_read.input_tokens',
    'gen_ai.usage.audio.cache_read.input_tokens',
  ];
  const writes = [
    'gen_ai.usage.cache_write.input_tokens',
    'gen_ai.usage.cache_creation.input_tokens',
    'gen_ai.usage.cache_creation_input_tokens',
    'gen_ai.usage.cache_write_input_tokens',
    'gen_ai.usage.input_tokens.cache_write',
    'gen_ai.usage.details.cache_creation_input_tokens',
    'ai.usage.inputTokenDetails.cacheWriteTokens',
    'llm.token_count.prompt_details.cache_write',
    'gen_ai.usage.cache_creation.ephemeral_1h_input_tokens',
    'gen_ai.usage.cache_creation.ephemeral_1h.input_tokens',
    'gen_ai.usage.cache_creation_1h.input_tokens',
    'gen_ai.usage.cache_creation_1h_input_tokens',
    'gen_ai.usage.cache_creation_1h_tokens',
    'gen_ai.usage.cache_creation.ephemeral_5m_input_tokens',
  ];

  it.each([
    ...reads.map((name) => [name, 'cached_input_tokens']),
    ...writes.map((name) => [name, 'cached_write_tokens']),
  ])('the names of counts have %s as %s, which are no plain input', (name, kind) => {
    const span = counted({
      'gen_ai.usage.input_tokens': 130_213,
      [name]: 128_955,
      'gen_ai.usage.output_tokens': 1,
    });
    expect(propertiesOf(span)).toMatchObject({ input_tokens: '1258', [kind]: '128955' });
  });

  it.each([
    ['gen_ai.usage.reasoning.output_tokens', 'reasoning_tokens'],
    ['gen_ai.usage.output_tokens.reasoning', 'reasoning_tokens'],
    ['gen_ai.usage.audio.input_tokens', 'input_audio_tokens'],
    ['gen_ai.usage.input_tokens.audio', 'input_audio_tokens'],
    ['gen_ai.usage.audio.output_tokens', 'output_audio_tokens'],
    ['gen_ai.usage.image.input_tokens', 'input_image_tokens'],
    ['gen_ai.usage.text.output_tokens', 'output_text_tokens'],
    ['gen_ai.usage.video.input_tokens', 'input_video_tokens'],
    ['llm.token_count.completion_details.reasoning', 'reasoning_tokens'],
    ['llm.token_count.prompt_details.audio', 'input_audio_tokens'],
    ['llm.token_count.completion_details.audio', 'output_audio_tokens'],
  ])('the names of counts have %s as %s, a part beside the whole', (name, kind) => {
    const whole = { 'gen_ai.usage.input_tokens': 40, 'gen_ai.usage.output_tokens': 30 };
    expect(propertiesOf(counted({ ...whole, [name]: 20 }))).toMatchObject({
      input_tokens: '40',
      output_tokens: '30',
      [kind]: '20',
    });
    // A part alone is no count of tokens.
    expect(outcomeOf(counted({ [name]: 20 }))).toMatchObject({ kind: 'refused' });
  });

  it('the names of counts are each of one kind, and each is read', () => {
    const names = NAMED_COUNTS.flatMap((one) => one.names.map(([name]) => name));
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => !wantedAttributes(SPAN_RULES).has(name))).toEqual([]);
  });

  it('the names of counts may say the same twice, and are refused where they contradict each other', () => {
    const both = {
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.cache_write.input_tokens': 4,
      'gen_ai.usage.cache_creation.input_tokens': 4,
    };
    expect(propertiesOf(counted(both))).toMatchObject({ input_tokens: '6', cached_write_tokens: '4' });
    expect(outcomeOf(counted({ ...both, 'gen_ai.usage.input_tokens.cache_write': 0 }))).toEqual({
      kind: 'refused',
      reason:
        'gen_ai.usage.cache_write.input_tokens is 4 and gen_ai.usage.input_tokens.cache_write is 0, which are the ' +
        'same tokens',
    });
  });

  it('the names of counts with a cache that nobody knows are a warning, unless they are costs', () => {
    const span = counted({
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.cache_of.next_year': 3,
      'gen_ai.usage.cache_read_cost': 1,
    });
    expect(outcomeOf(span)).toMatchObject({
      event: { properties: { input_tokens: '10' } },
      warnings: [
        'gen_ai.usage.cache_of.next_year is not known: its tokens are billed as plain input unless a known count ' +
          'includes them',
      ],
    });
  });

  it('the names of counts that leave a part out of its whole are a warning', () => {
    const span = counted({ 'gen_ai.usage.output_tokens': 10, 'gen_ai.usage.reasoning.output_tokens': 11 });
    expect(outcomeOf(span)).toMatchObject({
      warnings: ['has 11 reasoning tokens and 10 output tokens, which should include them'],
    });
    const cached = counted({
      'gen_ai.usage.input_tokens': 90,
      'gen_ai.usage.cache_read.input_tokens': 30,
      'gen_ai.usage.text.cache_read.input_tokens': 30,
      'gen_ai.usage.image.cache_read.input_tokens': 1,
    });
    expect(outcomeOf(cached)).toMatchObject({
      warnings: [
        'has 31 cached input image tokens and cached input text tokens and 30 cached input tokens, which should ' +
          'include them',
      ],
    });
  });

  it('the names of counts have tokens that a cache keeps for an hour beside the whole, with a warning of their price', () => {
    const whole = { 'gen_ai.usage.input_tokens': 900, 'gen_ai.usage.cache_creation.input_tokens': 700 };
    const span = counted({
      ...whole,
      'gen_ai.usage.cache_creation.ephemeral_5m_input_tokens': 200,
      'gen_ai.usage.cache_creation.ephemeral_1h_input_tokens': 500,
    });
    expect(outcomeOf(span)).toMatchObject({
      event: {
        properties: {
          input_tokens: '200',
          cached_write_tokens: '700',
          cached_write_1h_tokens: '500',
          cached_write_5m_tokens: '200',
        },
      },
      warnings: [
        'has 500 tokens that a cache keeps for an hour: managed cards have one price for tokens that are written to a ' +
          'cache, at which these are billed too',
      ],
    });
    expect(
      outcomeOf(counted({ ...whole, 'gen_ai.usage.cache_creation.ephemeral_5m_input_tokens': 700 })),
    ).toMatchObject({ warnings: [] });
  });

  it.each([
    'gen_ai.usage.total_tokens',
    'llm.token_count.total',
    'llm.usage.total_tokens',
    'ai.usage.totalTokens',
  ])('the names of counts with a total that contradicts its parts are a warning: %s', (name) => {
    const parts = {
      'gen_ai.usage.input_tokens': 40,
      'gen_ai.usage.cache_read.input_tokens': 5,
      'gen_ai.usage.output_tokens': 2,
    };
    const warningsFor = (total: number) => outcomeOf(counted({ ...parts, [name]: total }));
    expect(warningsFor(42)).toMatchObject({ warnings: [] });
    expect(warningsFor(50)).toMatchObject({
      event: { properties: { input_tokens: '35', output_tokens: '2' } },
      warnings: ['has 50 tokens in total, and 42 of input and output, by which it is billed'],
    });
    expect(warningsFor(47)).toMatchObject({
      warnings: [expect.stringContaining('name it in OTLP_CACHED_BESIDE_INPUT')],
    });
  });
});

describe('a span of OpenInference', () => {
  const openInference = (counts: Readonly<Record<string, number>>, kind = 'LLM') => ({
    ...modelCall(AT),
    attributes: [
      text(CUSTOMER, 'acme'),
      text('openinference.span.kind', kind),
      text('llm.model_name', 'gpt-4o'),
      text('llm.system', 'openai'),
      text('llm.provider', 'azure'),
      ...Object.entries(counts).map(
        ([name, int]) => [`llm.token_count.${name}`, { int: BigInt(int) }] as const,
      ),
    ],
  });

  it('a span of OpenInference is billed by its names for counts, model and provider', () => {
    const counts = { prompt: 100, completion: 30, total: 130, 'prompt_details.cache_read': 60 };
    expect(outcomeOf(openInference(counts))).toMatchObject({
      event: {
        properties: {
          model: 'gpt-4o',
          provider: 'azure',
          input_tokens: '40',
          cached_input_tokens: '60',
          output_tokens: '30',
        },
      },
      warnings: [],
    });
    expect(outcomeOf(openInference(counts, 'CHAIN'))).toMatchObject({ kind: 'ignored', warnings: [] });
  });

  it('a span of OpenInference for LiteLLM has text under the former name of cached tokens, which are none', () => {
    const span = openInference({ prompt: 100, completion: 30, 'prompt_details.cache_input': 100 });
    const inputOf = (scope: SentScope) => {
      const [read] = readProtobufSpans(
        requestProtobuf(requestOf([span], [], scope)),
        wantedAttributes(SPAN_RULES),
      );
      if (read === undefined) throw new Error('the request has no span');
      const outcome = spanOutcome(read, SPAN_RULES);
      return outcome.kind === 'event' ? outcome.event.properties.input_tokens : outcome;
    };
    expect(inputOf({ name: 'openinference.instrumentation.litellm', version: '0.1' })).toBe('100');
    expect(inputOf({ name: 'openinference.instrumentation.openai', version: '0.1' })).toBe(undefined);
  });
});

describe('a call to a model without counts', () => {
  const none = 'has no gen_ai.usage.input_tokens and no gen_ai.usage.output_tokens';
  const of = (...attributes: SentAttributes): SentSpan => ({
    ...modelCall(AT),
    attributes: [text(CUSTOMER, 'acme'), ...attributes],
  });
  const total = ['gen_ai.usage.total_tokens', { int: 7n }] as const;
  const unknown = ['llm.usage.prompt_tokens', { int: 7n }] as const;

  it.each<[string, SentSpan, string]>([
    ['of OpenInference', of(text('openinference.span.kind', 'LLM')), none],
    ['of OpenInference, with a sum alone', of(text('openinference.span.kind', 'EMBEDDING'), total), none],
    ['of Traceloop', of(text('traceloop.span.kind', 'llm'), unknown), `${none}; ${unknown[0]} is not known`],
    ['of Langfuse', of(text('langfuse.observation.type', 'generation')), none],
    ['of the Vercel AI SDK', of(text('ai.operationId', 'ai.streamText.doStream')), none],
    ['by its operation', of(text('gen_ai.operation.name', 'chat'), total), none],
  ])('a call to a model without counts is refused by name: %s', (_what, span, reason) => {
    expect(outcomeOf(span)).toEqual({ kind: 'refused', reason });
  });

  it.each<[string, SentSpan, string]>([
    ['a model', of(text('gen_ai.request.model', 'gpt-4o')), none],
    ['a model of OpenInference', of(text('llm.model_name', 'gpt-4o')), none],
    [
      'a model and an operation that is not known',
      of(text('ai.model.id', 'gpt-4o'), text('gen_ai.operation.name', 'x')),
      none,
    ],
    ['a sum', of(total), none],
    ['counts under names that are not known', of(unknown), `${none}; ${unknown[0]} is not known`],
  ])('a call to a model without counts is a warning if all that it has is %s', (_what, span, reason) => {
    expect(outcomeOf(span)).toEqual({ kind: 'ignored', warnings: [`is not billed, it ${reason}`] });
    expect(outcomeOf({ ...span, statusCode: 2 })).toEqual({ kind: 'ignored', warnings: [] });
  });

  it('a call to a model without tokens by its counts is a warning, unless it has failed', () => {
    const span = modelCall(AT, { tokens: { input_tokens: 0, output_tokens: 0 } });
    expect(outcomeOf(span)).toEqual({
      kind: 'ignored',
      warnings: ['is not billed, its counts are 0'],
    });
    expect(outcomeOf({ ...span, statusCode: 2 })).toEqual({ kind: 'ignored', warnings: [] });
  });
});

describe('cached tokens beside the input', () => {
  const counts = {
    'gen_ai.usage.input_tokens': 10_000,
    'gen_ai.usage.cache_read.input_tokens': 5_758,
  };
  function inputOf(from: {
    readonly provider?: string;
    readonly model?: string;
    readonly scope?: SentScope;
    readonly resource?: SentAttributes;
    readonly named?: string;
  }) {
    const { provider = 'acme', model = 'large', scope, resource = [], named = '' } = from;
    const span = modelCall(AT, {
      attributes: [
        text('gen_ai.provider.name', provider),
        text('gen_ai.response.model', model),
        ...Object.entries(counts).map(([name, int]) => [name, { int: BigInt(int) }] as const),
      ],
    });
    const rules = {
      ...SPAN_RULES,
      cachedBeside: loadConfig({ OTLP_CACHED_BESIDE_INPUT: named }).otlpCachedBesideInput,
    };
    const body = requestProtobuf(requestOf([span], resource, scope));
    const [read] = readProtobufSpans(body, wantedAttributes(rules));
    if (read === undefined) throw new Error('the request has no span');
    const outcome = spanOutcome(read, rules);
    return outcome.kind === 'event' ? Number(outcome.event.properties.input_tokens) : outcome;
  }
  const bedrock = (version: string) => ({ name: 'opentelemetry.instrumentation.bedrock', version });
  const strands = { name: 'strands.telemetry.tracer', version: '' };

  it.each<[string, Parameters<typeof inputOf>[0], number]>([
    ['nobody says so', {}, 4_242],
    ['the provider is named', { provider: 'Anthropic', named: 'provider:anthropic' }, 10_000],
    ['another provider is named', { provider: 'openai', named: 'provider:anthropic' }, 4_242],
    ['the scope is named', { scope: bedrock('9.0'), named: `scope:${bedrock('').name}` }, 10_000],
    [
      'the resource is named',
      { resource: [text('service.name', 'chat')], named: 'scope:x,resource:service.name=chat' },
      10_000,
    ],
    [
      'another resource is named',
      { resource: [text('service.name', 'x')], named: 'resource:service.name=chat' },
      4_242,
    ],
    ['the library is known for it', { scope: bedrock('0.62.3') }, 10_000],
    ['a later version of it sends', { scope: bedrock('0.63.0') }, 4_242],
    ['the operator knows better', { scope: bedrock('0.62.3'), named: `-scope:${bedrock('').name}` }, 4_242],
    ['the library passes on a count of Bedrock', { scope: strands, model: 'us.anthropic.claude-x' }, 10_000],
    ['the library passes on a count of OpenAI', { scope: strands, model: 'gpt-4o' }, 4_242],
  ])(
    'cached tokens beside the input are not subtracted from it where the sender is known: %s',
    (_case, from, input) => {
      expect(inputOf(from)).toBe(input);
    },
  );
});

describe('a span is ignored', () => {
  const around = ['invoke_agent', 'create_agent', 'invoke_workflow', 'execute_tool', 'plan', 'retrieval'];
  it.each(around)('around calls to models, which have separate spans: %s', (operation) => {
    const attributes = [text('gen_ai.operation.name', operation)];
    expect(outcomeOf(modelCall(AT, { attributes, tokens: { input_tokens: 7 } }))).toEqual({
      kind: 'ignored',
      warnings: [],
    });
  });

  it.each<[string, SentSpan]>([
    ['has nothing to do with AI', { ...modelCall(AT), attributes: [text('http.request.method', 'GET')] }],
    ['failed without counts', modelCall(AT, { statusCode: 2 })],
    ['has the class of its error and no counts', modelCall(AT, { attributes: [text('error.type', '429')] })],
  ])('a span is ignored that %s', (_what, span) => {
    expect(outcomeOf(span)).toEqual({ kind: 'ignored', warnings: [] });
  });
});

describe('a span of a call to a model is refused', () => {
  const tokens = { output_tokens: 1 };
  const without = (name: string) => {
    const span = modelCall(AT, { tokens });
    return { ...span, attributes: span.attributes.filter(([key]) => key !== name) };
  };
  const counted = (value: SentAttributes[number][1]) =>
    modelCall(AT, { attributes: [['gen_ai.usage.input_tokens', value]] });
  const noCount = 'gen_ai.usage.input_tokens must be a whole number of tokens, 0 or more';

  it.each<[string, SentSpan, string]>([
    ['a customer', without(CUSTOMER), `has no attribute ${CUSTOMER}, and neither has its resource`],
    [
      'a model',
      without('gen_ai.response.model'),
      'has no gen_ai.response.model and no gen_ai.request.model and no ai.response.model and no ai.model.id and no ' +
        'llm.response.model_name and no llm.model_name and no llm.request.model_name and no embedding.model_name',
    ],
    [
      'a provider',
      without('gen_ai.provider.name'),
      'has no gen_ai.provider.name and no gen_ai.system and no gen_ai.model.provider and no ai.model.provider and no ' +
        'llm.provider and no llm.system',
    ],
    ['counts', modelCall(AT), 'has no gen_ai.usage.input_tokens and no gen_ai.usage.output_tokens'],
    ['an end', { ...modelCall(AT, { tokens }), end: 0n }, 'has no end time'],
    ['a trace id', modelCall(AT, { tokens, traceId: Buffer.alloc(0) }), 'has no valid trace id'],
    ['a trace id but zeros', modelCall(AT, { tokens, traceId: Buffer.alloc(16) }), 'has no valid trace id'],
    ['a span id of 8 bytes', modelCall(AT, { tokens, spanId: Buffer.alloc(7, 1) }), 'has no valid span id'],
    ['a count that is positive', counted({ int: -1n }), noCount],
    ['a whole count', counted({ double: 1.5 }), noCount],
    ['a count as a number', counted({ string: '7' }), noCount],
    ['a count that is possible', counted({ int: 2n ** 62n }), noCount],
    [
      'the tokens of the cache among those of the prompt',
      modelCall(AT, { tokens: { input_tokens: 4, 'cache_read.input_tokens': 5 } }),
      'gen_ai.usage.input_tokens is 4, less than its 5 tokens that were read from or written to a cache: if this ' +
        'sender leaves them out of its input, name it in OTLP_CACHED_BESIDE_INPUT',
    ],
    [
      'a customer as text',
      modelCall(AT, { tokens, customer: null, attributes: [[CUSTOMER, { bool: true }]] }),
      `${CUSTOMER} must be a text or a number`,
    ],
  ])('a span of a call to a model is refused that does not have %s', (_what, span, reason) => {
    expect(outcomeOf(span)).toEqual({ kind: 'refused', reason });
  });
});

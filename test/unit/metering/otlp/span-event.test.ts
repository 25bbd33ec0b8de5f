/** What of a span is billed, and which spans are not. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readProtobufSpans } from '../../../../src/metering/otlp/read-protobuf.ts';
import { spanOutcome, wantedAttributes } from '../../../../src/metering/otlp/span-event.ts';
import {
  modelCall,
  requestOf,
  requestProtobuf,
  type SentAttributes,
  type SentSpan,
} from '../../../support/otlp.ts';
import { runs } from '../../../support/shares-of-tests.ts';

const AT = '2026-11-02T10:00:00.123Z';
const CUSTOMER = 'tallyhouse.customer';

function outcomeOf(span: SentSpan, resource: SentAttributes = []) {
  const request = requestProtobuf(requestOf([span], resource));
  const [read] = readProtobufSpans(request, wantedAttributes(CUSTOMER));
  if (read === undefined) throw new Error('the request has no span');
  return spanOutcome(read, CUSTOMER);
}

function propertiesOf(span: SentSpan) {
  const outcome = outcomeOf(span);
  if (outcome.kind !== 'event') throw new Error(JSON.stringify(outcome));
  return outcome.event.properties;
}

const text = (name: string, string: string) => [name, { string }] as const;
const usage = (name: string, int: number) => [`gen_ai.usage.${name}`, { int: BigInt(int) }] as const;

describe('a span of a call to a model', () => {
  it('is an event at the end of the span, with the trace and the span as its id', () => {
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
        },
      },
    });
  });

  it('counts each token once: those of the cache are not among the other tokens of the prompt', () => {
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

  it('may have the names of older conventions', () => {
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
    expect(propertiesOf(older)).toEqual({
      model: 'large',
      provider: 'acme',
      input_tokens: '5',
      cached_input_tokens: '3',
      cached_write_tokens: '2',
      output_tokens: '5',
    });
  });

  it('is billed at the model that answered', () => {
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
  ])('of the provider %s is priced at %s of the catalogue', (sent, provider) => {
    const attributes = [text('gen_ai.provider.name', sent)];
    expect(propertiesOf(modelCall(AT, { attributes, tokens: { output_tokens: 1 } })).provider).toBe(provider);
  });

  it('has the customer of its resource unless it names one itself', () => {
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

  it('that failed is billed for the tokens that it used', () => {
    expect(propertiesOf(modelCall(AT, { statusCode: 2, tokens: { input_tokens: 7 } }))).toMatchObject({
      input_tokens: '7',
    });
  });
});

describe('a span is ignored', () => {
  const around = ['invoke_agent', 'create_agent', 'invoke_workflow', 'execute_tool', 'plan', 'retrieval'];
  it.each(around)('around calls to models, which have spans of their own: %s', (operation) => {
    const attributes = [text('gen_ai.operation.name', operation)];
    expect(outcomeOf(modelCall(AT, { attributes, tokens: { input_tokens: 7 } }))).toEqual({
      kind: 'ignored',
    });
  });

  it.each<[string, SentSpan]>([
    ['has nothing to do with AI', { ...modelCall(AT), attributes: [text('http.request.method', 'GET')] }],
    ['failed without counts', modelCall(AT, { statusCode: 2 })],
    ['has the class of its error and no counts', modelCall(AT, { attributes: [text('error.type', '429')] })],
    ['used no tokens', modelCall(AT, { tokens: { input_tokens: 0, output_tokens: 0 } })],
  ])('that %s', (_what, span) => {
    expect(outcomeOf(span)).toEqual({ kind: 'ignored' });
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
    ['a model', without('gen_ai.response.model'), 'has no gen_ai.response.model and no gen_ai.request.model'],
    [
      'a provider',
      without('gen_ai.provider.name'),
      'has no gen_ai.provider.name and no gen_ai.system and no gen_ai.model.provider',
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
      'gen_ai.usage.input_tokens is 4, less than its 5 tokens that were read from or written to a cache',
    ],
    [
      'a customer as text',
      modelCall(AT, { tokens, customer: null, attributes: [[CUSTOMER, { bool: true }]] }),
      `${CUSTOMER} must be a text or a number`,
    ],
  ])('that does not have %s', (_what, span, reason) => {
    expect(outcomeOf(span)).toEqual({ kind: 'refused', reason });
  });
});

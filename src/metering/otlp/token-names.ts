/**
 * Every span attribute that counts tokens, by kind: the one table used by the reader of spans and its documentation.
 * The current name is first, with the version of the conventions that defines it; the names of older versions, and of
 * libraries with their own, follow.
 *
 * Two names of one kind have the same value in every valid span, so their order decides nothing.
 */
import type { TokenKind } from '../../core/token-billing.ts';

/** A part of the tokens of the prompt, or of the answer, by modality. Parts are reported, and priced with the whole. */
const MODALITIES = ['audio', 'image', 'text', 'video'] as const;

/** How long a cache keeps an entry: five minutes, or an hour for twice the price of the input. */
const CACHE_TIMES = ['5m', '1h'] as const;

type PartKind =
  | 'reasoning_tokens'
  | `cached_write_${(typeof CACHE_TIMES)[number]}_tokens`
  | `${'input' | 'cached_input' | 'output'}_${(typeof MODALITIES)[number]}_tokens`;

/** The kind of tokens that an attribute counts, which is also the name of the event's property. */
export type CountKind = TokenKind | PartKind;

interface NamedCounts<Kind extends CountKind = CountKind> {
  readonly kind: Kind;
  /** Names with the version of the conventions, or the sender, that uses them. */
  readonly names: readonly (readonly [name: string, source: string])[];
}

/** The `gen_ai` conventions left the general ones after 1.41.0; their own first release is 0.1.0. */
const WHOLES: readonly NamedCounts<TokenKind>[] = [
  {
    kind: 'input_tokens',
    names: [
      ['gen_ai.usage.input_tokens', 'conventions 1.27.0 and later'],
      ['gen_ai.usage.prompt_tokens', 'conventions 1.26.0'],
      ['llm.token_count.prompt', 'OpenInference'],
      ['ai.usage.tokens', 'embeddings of the Vercel AI SDK up to 6'],
    ],
  },
  {
    kind: 'output_tokens',
    names: [
      ['gen_ai.usage.output_tokens', 'conventions 1.27.0 and later'],
      ['gen_ai.usage.completion_tokens', 'conventions 1.26.0'],
      ['llm.token_count.completion', 'OpenInference'],
    ],
  },
  {
    kind: 'cached_input_tokens',
    names: [
      ['gen_ai.usage.cache_read.input_tokens', 'conventions 1.40.0 and later'],
      ['gen_ai.usage.cache_read_input_tokens', 'OpenLLMetry, Strands, drafts of the conventions'],
      ['gen_ai.usage.cache_read_tokens', 'agents and gateways'],
      ['gen_ai.usage.cached_input_tokens', 'agents and gateways'],
      ['gen_ai.usage.cached_tokens', 'agents and gateways'],
      ['gen_ai.usage.input_tokens.cached', 'Sentry, OpenRouter'],
      ['gen_ai.usage.input_tokens.cache_read', 'Sentry'],
      ['gen_ai.usage.input_tokens_details.cached_tokens', 'the answer of OpenAI, as it is'],
      ['gen_ai.usage.prompt_tokens_details.cached_tokens', 'the answer of OpenAI, as it is'],
      ['gen_ai.usage.details.cache_read_tokens', 'Pydantic AI'],
      ['gen_ai.usage.details.cache_read_input_tokens', 'Pydantic AI with Anthropic'],
      ['gen_ai.usage.details.cached_tokens', 'Pydantic AI with OpenAI'],
      ['gen_ai.usage.details.cached_content_tokens', 'Pydantic AI with Gemini'],
      ['llm.token_count.prompt_details.cache_read', 'OpenInference'],
      ['ai.usage.cachedInputTokens', 'Vercel AI SDK 5 and 6'],
      ['ai.usage.inputTokenDetails.cacheReadTokens', 'Vercel AI SDK 6 and 7'],
    ],
  },
  {
    kind: 'cached_write_tokens',
    names: [
      ['gen_ai.usage.cache_write.input_tokens', 'gen_ai conventions 0.1.0'],
      ['gen_ai.usage.cache_creation.input_tokens', 'conventions 1.40.0 and 1.41.0'],
      ['gen_ai.usage.cache_creation_input_tokens', 'OpenLLMetry, drafts of the conventions'],
      ['gen_ai.usage.cache_write_input_tokens', 'Strands'],
      ['gen_ai.usage.cache_write_tokens', 'agents and gateways'],
      ['gen_ai.usage.cache_creation_tokens', 'agents and gateways'],
      ['gen_ai.usage.input_tokens.cache_write', 'Sentry'],
      ['gen_ai.usage.input_tokens.cache_creation', 'copies of OpenRouter broadcast'],
      ['gen_ai.usage.input_tokens_details.cache_write_tokens', 'the answer of OpenAI, as it is'],
      ['gen_ai.usage.prompt_tokens_details.cache_write_tokens', 'the answer of OpenAI, as it is'],
      ['gen_ai.usage.details.cache_write_tokens', 'Pydantic AI'],
      ['gen_ai.usage.details.cache_creation_input_tokens', 'Pydantic AI with Anthropic'],
      ['llm.token_count.prompt_details.cache_write', 'OpenInference'],
      ['ai.usage.inputTokenDetails.cacheWriteTokens', 'Vercel AI SDK 6 and 7'],
    ],
  },
];

/** OpenInference has no names for parts of other modalities. */
const OPENINFERENCE_AUDIO = {
  input: ['llm.token_count.prompt_details.audio', 'OpenInference'],
  output: ['llm.token_count.completion_details.audio', 'OpenInference'],
} as const;

interface NamedParts extends NamedCounts {
  /** The kind that includes these tokens. */
  readonly whole: TokenKind;
}

const PARTS: readonly NamedParts[] = [
  {
    kind: 'reasoning_tokens',
    whole: 'output_tokens',
    names: [
      ['gen_ai.usage.reasoning.output_tokens', 'conventions 1.41.0 and later'],
      ['gen_ai.usage.output_tokens.reasoning', 'Sentry, OpenRouter'],
      ['gen_ai.usage.reasoning_tokens', 'agents and gateways'],
      ['gen_ai.usage.reasoning_output_tokens', 'agents and gateways'],
      ['gen_ai.usage.output_tokens_details.reasoning_tokens', 'the answer of OpenAI, as it is'],
      ['gen_ai.usage.completion_tokens_details.reasoning_tokens', 'the answer of OpenAI, as it is'],
      ['gen_ai.usage.details.reasoning_tokens', 'Pydantic AI'],
      ['gen_ai.usage.details.thoughts_tokens', 'Pydantic AI with Gemini'],
      ['llm.token_count.completion_details.reasoning', 'OpenInference'],
      ['ai.usage.reasoningTokens', 'Vercel AI SDK 5 and 6'],
      ['ai.usage.outputTokenDetails.reasoningTokens', 'Vercel AI SDK 6 and 7'],
    ],
  },
  ...CACHE_TIMES.map(writtenFor),
  ...MODALITIES.flatMap((modality) => [
    partOf('input', modality),
    cachedPartOf(modality),
    partOf('output', modality),
  ]),
];

/** No version of the conventions has a name for these. */
function writtenFor(time: (typeof CACHE_TIMES)[number]): NamedParts {
  return {
    kind: `cached_write_${time}_tokens`,
    whole: 'cached_write_tokens',
    names: [
      [`gen_ai.usage.cache_creation.ephemeral_${time}_input_tokens`, 'the answer of Anthropic, as it is'],
      [`gen_ai.usage.cache_creation.ephemeral_${time}.input_tokens`, 'agents and gateways'],
      [`gen_ai.usage.cache_creation_${time}.input_tokens`, 'agents and gateways'],
      [`gen_ai.usage.cache_creation_${time}_input_tokens`, 'agents and gateways'],
      [`gen_ai.usage.cache_creation_${time}_tokens`, 'agents and gateways'],
    ],
  };
}

function cachedPartOf(modality: (typeof MODALITIES)[number]): NamedParts {
  return {
    kind: `cached_input_${modality}_tokens`,
    whole: 'cached_input_tokens',
    names: [
      [`gen_ai.usage.${modality}.cache_read.input_tokens`, 'gen_ai conventions 0.1.0'],
      [`gen_ai.usage.details.cache_${modality}_read_tokens`, 'Pydantic AI'],
    ],
  };
}

function partOf(side: 'input' | 'output', modality: (typeof MODALITIES)[number]): NamedParts {
  return {
    kind: `${side}_${modality}_tokens`,
    whole: `${side}_tokens`,
    names: [
      [`gen_ai.usage.${modality}.${side}_tokens`, 'gen_ai conventions 0.1.0'],
      [`gen_ai.usage.${side}_tokens.${modality}`, 'the same in the order of Sentry'],
      [`gen_ai.usage.${side}_${modality}_tokens`, 'agents and gateways'],
      [`gen_ai.usage.details.${side}_${modality}_tokens`, 'Pydantic AI'],
      ...(modality === 'audio' ? [OPENINFERENCE_AUDIO[side]] : []),
    ],
  };
}

export const NAMED_COUNTS: readonly NamedCounts[] = [...WHOLES, ...PARTS];

/** The names of the parts, which a span may have besides its wholes. */
export const PART_KINDS: readonly CountKind[] = PARTS.map(({ kind }) => kind);

/** Disjoint parts by their whole, so their sum never exceeds it. */
export const PARTS_OF_WHOLES: readonly (readonly [whole: TokenKind, parts: readonly CountKind[]])[] = [
  ['output_tokens', ['reasoning_tokens']],
  ['cached_write_tokens', CACHE_TIMES.map((time) => `cached_write_${time}_tokens` as const)],
  ...(['input', 'cached_input', 'output'] as const).map(
    (side) =>
      [`${side}_tokens`, MODALITIES.map((modality) => `${side}_${modality}_tokens` as const)] as const,
  ),
];

/** Sums of input and output, which are compared with them. */
export const TOTAL_NAMES = [
  'gen_ai.usage.total_tokens',
  'llm.token_count.total',
  'llm.usage.total_tokens',
  'ai.usage.totalTokens',
] as const;

/** A former name of OpenInference for cached tokens that were read. */
export const CACHE_INPUT = 'llm.token_count.prompt_details.cache_input';
/** OpenInference's library for LiteLLM uses that name for the text part of the input, cached or not. */
export const CACHE_INPUT_IS_TEXT = 'openinference.instrumentation.litellm';

const KNOWN_NAMES: ReadonlySet<string> = new Set([
  ...NAMED_COUNTS.flatMap(({ names }) => names.map(([name]) => name)),
  ...TOTAL_NAMES,
  CACHE_INPUT,
]);

const CACHE_PREFIX = 'gen_ai.usage.';
/** Prefixes under which these libraries and conventions count tokens. */
const USAGE_PREFIXES = [CACHE_PREFIX, 'llm.token_count.', 'llm.usage.', 'ai.usage.'];

/** Whether an attribute counts tokens, or might: unknown usage is read too, to be reported. */
export function isUsageName(name: string): boolean {
  return KNOWN_NAMES.has(name) || isUnknownUsageName(name);
}

/** Whether this may be a count of tokens under an unknown name. A cost in money is not a count. */
export function isUnknownUsageName(name: string): boolean {
  return (
    USAGE_PREFIXES.some((prefix) => name.startsWith(prefix)) &&
    /token|cache/i.test(name) &&
    !KNOWN_NAMES.has(name) &&
    !/cost/i.test(name)
  );
}

/** Whether this is usage of a cache under an unknown name: its tokens would be billed as plain input. */
export function isUnknownCacheName(name: string): boolean {
  return name.startsWith(CACHE_PREFIX) && /cache/i.test(name) && isUnknownUsageName(name);
}

/**
 * Every attribute of a span that counts tokens, by what it counts: the one table that the reader of spans and its
 * documentation go by. The present name comes first, with the version of the conventions that has it; the names of
 * older versions, and of libraries that have their own, follow.
 *
 * Two names of one kind say the same in every span that is in order, so their order decides nothing.
 */
import type { TokenKind } from '../../core/token-billing.ts';

/**
 * A part of the tokens of the prompt, or of the answer, by their kind. Parts are reported, and priced with the whole.
 */
const MODALITIES = ['audio', 'image', 'text', 'video'] as const;

type PartKind =
  | 'reasoning_tokens'
  | 'cached_input_audio_tokens'
  | `${'input' | 'output'}_${(typeof MODALITIES)[number]}_tokens`;

/** The kind of tokens that an attribute counts, which is also the name of the event's property. */
export type CountKind = TokenKind | PartKind;

interface NamedCounts {
  readonly kind: CountKind;
  /** Names with the version of the conventions, or the sender, that has them. */
  readonly names: readonly (readonly [name: string, source: string])[];
}

/** `gen_ai` conventions left the general ones after 1.41.0; their own first release is 0.1.0. */
const WHOLES: readonly NamedCounts[] = [
  {
    kind: 'input_tokens',
    names: [
      ['gen_ai.usage.input_tokens', 'conventions 1.27.0 and later'],
      ['gen_ai.usage.prompt_tokens', 'conventions 1.26.0'],
      ['ai.usage.tokens', 'embeddings of the Vercel AI SDK up to 6'],
    ],
  },
  {
    kind: 'output_tokens',
    names: [
      ['gen_ai.usage.output_tokens', 'conventions 1.27.0 and later'],
      ['gen_ai.usage.completion_tokens', 'conventions 1.26.0'],
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
      ['ai.usage.inputTokenDetails.cacheWriteTokens', 'Vercel AI SDK 6 and 7'],
    ],
  },
];

const PARTS: readonly NamedCounts[] = [
  {
    kind: 'reasoning_tokens',
    names: [
      ['gen_ai.usage.reasoning.output_tokens', 'conventions 1.41.0 and later'],
      ['gen_ai.usage.output_tokens.reasoning', 'Sentry, OpenRouter'],
      ['gen_ai.usage.reasoning_tokens', 'agents and gateways'],
      ['gen_ai.usage.reasoning_output_tokens', 'agents and gateways'],
      ['gen_ai.usage.output_tokens_details.reasoning_tokens', 'the answer of OpenAI, as it is'],
      ['gen_ai.usage.completion_tokens_details.reasoning_tokens', 'the answer of OpenAI, as it is'],
      ['gen_ai.usage.details.reasoning_tokens', 'Pydantic AI'],
      ['gen_ai.usage.details.thoughts_tokens', 'Pydantic AI with Gemini'],
      ['ai.usage.reasoningTokens', 'Vercel AI SDK 5 and 6'],
      ['ai.usage.outputTokenDetails.reasoningTokens', 'Vercel AI SDK 6 and 7'],
    ],
  },
  {
    kind: 'cached_input_audio_tokens',
    names: [['gen_ai.usage.details.cache_audio_read_tokens', 'Pydantic AI']],
  },
  ...MODALITIES.flatMap((modality) => [partOf('input', modality), partOf('output', modality)]),
];

function partOf(side: 'input' | 'output', modality: (typeof MODALITIES)[number]): NamedCounts {
  return {
    kind: `${side}_${modality}_tokens`,
    names: [
      [`gen_ai.usage.${modality}.${side}_tokens`, 'gen_ai conventions 0.1.0'],
      [`gen_ai.usage.${side}_tokens.${modality}`, 'the same in the order of Sentry'],
      [`gen_ai.usage.${side}_${modality}_tokens`, 'agents and gateways'],
      [`gen_ai.usage.details.${side}_${modality}_tokens`, 'Pydantic AI'],
    ],
  };
}

export const NAMED_COUNTS: readonly NamedCounts[] = [...WHOLES, ...PARTS];

/** The names of the parts, which a span may have beside its wholes. */
export const PART_KINDS: readonly CountKind[] = PARTS.map(({ kind }) => kind);

const KNOWN_NAMES: ReadonlySet<string> = new Set(
  NAMED_COUNTS.flatMap(({ names }) => names.map(([name]) => name)),
);

const USAGE_PREFIX = 'gen_ai.usage.';

/** Whether an attribute counts tokens, or might: unknown usage is read too, to be reported. */
export function isUsageName(name: string): boolean {
  return KNOWN_NAMES.has(name) || isUnknownCacheName(name);
}

/**
 * Whether this is usage of a cache under a name that nobody knows here: the tokens would be billed as plain input.
 * A cost in money is no count.
 */
export function isUnknownCacheName(name: string): boolean {
  return (
    name.startsWith(USAGE_PREFIX) && /cache/i.test(name) && !KNOWN_NAMES.has(name) && !/cost/i.test(name)
  );
}

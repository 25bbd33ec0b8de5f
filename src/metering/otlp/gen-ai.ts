/**
 * The attribute names of the OpenTelemetry conventions for generative AI that billing needs, older names after the
 * current one. Instrumentation written for an older version still uses those.
 */
import type { Attributes } from './span.ts';

const OPERATION = 'gen_ai.operation.name';

/** The model that answered is billed; the request may name an alias of it. */
export const MODEL = [
  'gen_ai.response.model',
  'gen_ai.request.model',
  'ai.response.model',
  'ai.model.id',
  'llm.response.model_name',
  'llm.model_name',
  'llm.request.model_name',
  'embedding.model_name',
] as const;

/** `gen_ai.model.provider` is in no version of the conventions: gateways send it. */
export const PROVIDER = [
  'gen_ai.provider.name',
  'gen_ai.system',
  'gen_ai.model.provider',
  'ai.model.provider',
  'llm.provider',
  'llm.system',
] as const;

/** The id that the provider, or a gateway, assigned to its answer. */
export const RESPONSE_ID = ['gen_ai.response.id', 'ai.response.id'] as const;

/** Names that start with `ai.` belong to the Vercel AI SDK up to 6, those with `llm.` to OpenInference. */
const VERCEL_OPERATION = 'ai.operationId';
const TRACELOOP_KIND = 'traceloop.span.kind';
const OPENINFERENCE_KIND = 'openinference.span.kind';
const LANGFUSE_TYPE = 'langfuse.observation.type';

/** A failed call has the class of its error here, or an error as the status of its span. */
export const ERROR_TYPE = 'error.type';

/** Every attribute that is read, besides counts of tokens (`token-names.ts`) and that of the customer. */
export const GEN_AI_ATTRIBUTES: readonly string[] = [
  OPERATION,
  ERROR_TYPE,
  ...MODEL,
  ...PROVIDER,
  ...RESPONSE_ID,
  VERCEL_OPERATION,
  TRACELOOP_KIND,
  OPENINFERENCE_KIND,
  LANGFUSE_TYPE,
];

/** Operations that call a model: one without token counts is an error of the sender. */
const MODEL_CALLS: ReadonlySet<string> = new Set([
  'chat',
  'generate_content',
  'text_completion',
  'embeddings',
]);

/**
 * Operations around model calls. If they have token counts, these are the sums of the nested calls, which have separate
 * spans: billing both would bill every token twice.
 */
const AROUND_MODEL_CALLS: ReadonlySet<string> = new Set([
  'create_agent',
  'invoke_agent',
  'invoke_workflow',
  'execute_tool',
  'plan',
  'retrieval',
]);

/** Kinds of spans that are calls to models, of libraries that give each span a kind, in lower case. */
const CALL_KINDS: readonly (readonly [attribute: string, kinds: ReadonlySet<string>])[] = [
  [TRACELOOP_KIND, new Set(['llm', 'embedding'])],
  [OPENINFERENCE_KIND, new Set(['llm', 'embedding'])],
  [LANGFUSE_TYPE, new Set(['generation', 'embedding'])],
];

/** Calls of the Vercel AI SDK that count tokens; its images and speech have no counts. */
const VERCEL_CALL = /\.do(?:Generate|Stream|Embed)$/;

/** Whether a span is a call to a model. */
export function isModelCall(attributes: Attributes): boolean {
  return (
    MODEL_CALLS.has(textOf(attributes, [OPERATION])) ||
    VERCEL_CALL.test(textOf(attributes, [VERCEL_OPERATION])) ||
    CALL_KINDS.some(([attribute, kinds]) => kinds.has(textOf(attributes, [attribute]).toLowerCase()))
  );
}

/** Whether a span is not itself a call to a model: an agent, a workflow, a tool. */
export function isAroundCalls(attributes: Attributes): boolean {
  if (AROUND_MODEL_CALLS.has(textOf(attributes, [OPERATION]))) return true;
  // `ai.generateText` contains the calls `ai.generateText.doGenerate`.
  const vercel = textOf(attributes, [VERCEL_OPERATION]);
  if (vercel !== '' && !/\.do[A-Z]/.test(vercel)) return true;
  return CALL_KINDS.some(([attribute, kinds]) => {
    const kind = textOf(attributes, [attribute]).toLowerCase();
    return kind !== '' && !kinds.has(kind);
  });
}

/** The first of these attributes that is a text; empty if none is. */
export function textOf(attributes: Attributes, names: readonly string[]): string {
  for (const name of names) {
    const value = attributes.get(name);
    if (value?.kind === 'text' && value.text !== '') return value.text;
  }
  return '';
}

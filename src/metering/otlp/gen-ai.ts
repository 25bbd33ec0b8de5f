/**
 * The names that the OpenTelemetry conventions for generative AI give to what billing needs, older names after the
 * present one. Instrumentation that was written for an older version goes on to use those.
 */

export const OPERATION = 'gen_ai.operation.name';

/** The model that answered is the one that is billed; the request may name an alias of it. */
export const MODEL = ['gen_ai.response.model', 'gen_ai.request.model'] as const;

/** The last one is in no version of the conventions: gateways send it. */
export const PROVIDER = ['gen_ai.provider.name', 'gen_ai.system', 'gen_ai.model.provider'] as const;

/** A call that failed has the class of its error here, or an error as the status of its span. */
export const ERROR_TYPE = 'error.type';

/** Every attribute that is read, besides counts of tokens (`token-names.ts`) and that of the customer. */
export const GEN_AI_ATTRIBUTES: readonly string[] = [OPERATION, ERROR_TYPE, ...MODEL, ...PROVIDER];

/** Operations that call a model: one without token counts is an error of the sender. */
export const MODEL_CALLS: ReadonlySet<string> = new Set([
  'chat',
  'generate_content',
  'text_completion',
  'embeddings',
]);

/**
 * Operations around model calls. Where they have token counts, these are the sums of the calls inside, which have
 * spans of their own: billing both would bill every token twice.
 */
export const AROUND_MODEL_CALLS: ReadonlySet<string> = new Set([
  'create_agent',
  'invoke_agent',
  'invoke_workflow',
  'execute_tool',
  'plan',
  'retrieval',
]);

/** Providers whose name in the conventions is not that in catalogues of prices. */
export const CATALOGUE_PROVIDERS: ReadonlyMap<string, string> = new Map([
  ['aws.bedrock', 'bedrock'],
  ['azure.ai.inference', 'azure_ai'],
  ['azure.ai.openai', 'azure'],
  ['gcp.gemini', 'gemini'],
  ['ibm.watsonx.ai', 'watsonx'],
  ['mistral_ai', 'mistral'],
  ['x_ai', 'xai'],
]);

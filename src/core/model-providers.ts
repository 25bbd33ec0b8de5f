/**
 * The table of provider names: the names of a model provider in spans, price files and requests, and its name in the
 * catalogue. Also removes the resource path that a provider's own API puts in front of model names.
 */

/**
 * Names by provider. A name also matches its parts (`openai` matches `openai.chat`) and LiteLLM's groups of models
 * (`vertex_ai` matches `vertex_ai-language-models`). Case is ignored, and a space and a hyphen equal an underscore.
 */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  openai: ['openai', 'text_completion_openai'],
  azure: ['azure', 'azure.ai.openai', 'azure_openai', 'az.ai.openai', 'azure_text'],
  azure_ai: ['azure_ai', 'azure.ai.inference', 'az.ai.inference'],
  anthropic: ['anthropic'],
  bedrock: [
    'bedrock',
    'aws.bedrock',
    'amazon',
    'amazon_bedrock',
    'aws_bedrock',
    'aws',
    'bedrock_converse',
    'bedrock_mantle',
  ],
  gemini: [
    'gemini',
    'gcp.gemini',
    'gcp.gen_ai',
    'google',
    'google.generative_ai',
    'google_ai_studio',
    'google_gla',
  ],
  vertex_ai: [
    'vertex_ai',
    'vertexai',
    'vertex',
    'gcp.vertex_ai',
    'google.vertex',
    'google_vertex',
    'gcp.vertex.agent',
    'vertex_ai_beta',
  ],
  mistral: ['mistral', 'mistral_ai', 'mistralai'],
  xai: ['xai', 'x_ai'],
  cohere: ['cohere', 'cohere_chat'],
  deepseek: ['deepseek'],
  groq: ['groq'],
  perplexity: ['perplexity'],
  moonshot: ['moonshot', 'moonshot_ai', 'moonshotai'],
  watsonx: ['watsonx', 'ibm.watsonx.ai', 'ibm.watsonx'],
  together_ai: ['together_ai', 'togetherai', 'together'],
  fireworks_ai: ['fireworks_ai', 'fireworks'],
};

const PROVIDERS: ReadonlyMap<string, string> = new Map(
  Object.entries(NAMES).flatMap(([provider, names]) => names.map((name) => [name, provider] as const)),
);

/** LiteLLM's name for a group of models of a provider, of one kind or one maker, in lower case. */
const GROUP_OF_MODELS = /^([^-]+)-.*models$/;

/** The name in the catalogue. A provider that is not in the table keeps its given name. */
export function providerName(given: string): string {
  const lower = given.toLowerCase();
  let name = (GROUP_OF_MODELS.exec(lower)?.[1] ?? lower).replace(/[ -]/g, '_');
  for (;;) {
    const provider = PROVIDERS.get(name);
    if (provider !== undefined) return provider;
    const dot = name.lastIndexOf('.');
    if (dot < 0) return given;
    name = name.slice(0, dot);
  }
}

/** Google's APIs answer with the name of the resource: `models/…`, `publishers/…/models/…`, also inside a project. */
const RESOURCE_PATH = /^(?:(?:projects\/[^/]+\/locations\/[^/]+\/)?publishers\/[^/]+\/)?models\/(?=.)/;

/** The id of a model without the path of its resource. */
export function modelName(given: string): string {
  return given.replace(RESOURCE_PATH, '');
}

/** The one table of provider names: what senders call a provider, and what catalogues of prices call it. */

/** Names by provider, in lower case. A name also stands for its parts: `openai` for `openai.chat`. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  openai: ['openai'],
  azure: ['azure', 'azure.ai.openai', 'azure-openai', 'az.ai.openai'],
  azure_ai: ['azure_ai', 'azure.ai.inference', 'az.ai.inference'],
  anthropic: ['anthropic'],
  bedrock: ['bedrock', 'aws.bedrock', 'amazon-bedrock', 'aws_bedrock', 'aws'],
  gemini: ['gemini', 'gcp.gemini', 'gcp.gen_ai', 'google', 'google.generative-ai', 'google_ai_studio'],
  vertex_ai: [
    'vertex_ai',
    'vertexai',
    'vertex',
    'gcp.vertex_ai',
    'google.vertex',
    'google-vertex',
    'gcp.vertex.agent',
  ],
  mistral: ['mistral', 'mistral_ai', 'mistralai'],
  xai: ['xai', 'x_ai', 'x-ai'],
  cohere: ['cohere'],
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

/** The name in catalogues. A provider that nobody knows here keeps the name that it was sent under. */
export function providerName(sent: string): string {
  let name = sent.toLowerCase();
  for (;;) {
    const provider = PROVIDERS.get(name);
    if (provider !== undefined) return provider;
    const dot = name.lastIndexOf('.');
    if (dot < 0) return sent;
    name = name.slice(0, dot);
  }
}

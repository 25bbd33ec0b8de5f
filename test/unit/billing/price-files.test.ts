/** Files of model prices: our own format and LiteLLM's, with every digit. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { readPriceFile } from '../../../src/billing/token-billing/price-files.ts';
import { Refusal } from '../../../src/core/errors.ts';

const VALID_FROM = Date.UTC(2026, 10, 1);

function read(content: unknown) {
  return readPriceFile(JSON.stringify(content), { validFrom: VALID_FROM });
}

test('prices of LiteLLM are read exactly, for each kind of tokens that the model has', () => {
  const text = `{
    "sample_spec": {"litellm_provider": "one of"},
    "gpt-4o": {"litellm_provider": "openai", "mode": "chat", "input_cost_per_token": 2.5e-06,
      "output_cost_per_token": 1e-05, "cache_read_input_token_cost": 0.00000125, "max_tokens": 16384},
    "anthropic/claude": {"litellm_provider": "anthropic", "mode": "chat", "input_cost_per_token": 3e-06,
      "cache_creation_input_token_cost": 3.75e-06, "output_cost_per_token": 0},
    "dall-e-3": {"litellm_provider": "openai", "mode": "image_generation", "input_cost_per_token": 1},
    "unpriced": {"litellm_provider": "openai", "mode": "chat", "max_tokens": 16384}
  }`;
  const { models, skipped } = readPriceFile(text, { validFrom: VALID_FROM });
  expect(skipped).toBe(2);
  expect(
    models.map(({ provider, model, aliases, prices }) => [
      provider,
      model,
      aliases,
      prices.map(({ kind, usdPerToken, validFrom }) => [kind, usdPerToken.toFixed(), validFrom]),
    ]),
  ).toEqual([
    [
      'openai',
      'openai/gpt-4o',
      ['gpt-4o'],
      [
        ['input_tokens', '0.0000025', VALID_FROM],
        ['cached_input_tokens', '0.00000125', VALID_FROM],
        ['output_tokens', '0.00001', VALID_FROM],
      ],
    ],
    [
      'anthropic',
      'anthropic/claude',
      ['claude'],
      [
        ['input_tokens', '0.000003', VALID_FROM],
        ['output_tokens', '0', VALID_FROM],
        ['cached_write_tokens', '0.00000375', VALID_FROM],
      ],
    ],
  ]);
});

test('a model that costs nothing has the price 0 for all kinds of tokens', () => {
  const free = {
    litellm_provider: 'ollama',
    mode: 'chat',
    input_cost_per_token: 0,
    output_cost_per_token: 0.0,
  };
  const pricesOf = (entry: object) =>
    read({ 'ollama/llama3': entry }).models[0]?.prices.map(({ kind, usdPerToken }) => [
      kind,
      usdPerToken.toFixed(),
    ]);
  const allFree = ['input_tokens', 'cached_input_tokens', 'output_tokens', 'cached_write_tokens'].map(
    (kind) => [kind, '0'],
  );
  expect(pricesOf(free)).toEqual(allFree);
  // A model of embeddings has no output.
  expect(pricesOf({ litellm_provider: 'ollama', mode: 'embedding', input_cost_per_token: 0 })).toEqual(
    allFree,
  );
  expect(pricesOf({ ...free, output_cost_per_token: 0.5 })).toEqual([
    ['input_tokens', '0'],
    ['output_tokens', '0.5'],
  ]);
  expect(read(own({ input_tokens: '0' })).models[0]?.prices).toHaveLength(1);
});

test('an entry with a null is left out with a line, and the others are read', () => {
  const good = { litellm_provider: 'openai', mode: 'chat', input_cost_per_token: 1 };
  const file = read({
    a: { ...good, output_cost_per_token: null },
    b: { ...good, max_tokens: null },
    c: null,
    d: { ...good, litellm_provider: null },
  });
  expect(file.models.map(({ model }) => model)).toEqual(['openai/b']);
  expect(file).toMatchObject({
    skipped: 0,
    leftOut: [
      'output_cost_per_token of "a" is null: the entry is left out',
      '"c" is null: the entry is left out',
      'litellm_provider of "d" is null: the entry is left out',
    ],
  });
  const [model] = own({ input_tokens: '1' }).models;
  const ours = read({
    format: 'tallyhouse-token-prices-1',
    models: [own({ input_tokens: null }).models[0], model],
  });
  expect(ours.models).toHaveLength(1);
  expect(ours.leftOut).toEqual([
    'models[0].prices[0].usd_per_million.input_tokens is null: the entry is left out',
  ]);
});

test('models of LiteLLM have the provider and the ids that spans name them by', () => {
  const chat = { mode: 'chat', input_cost_per_token: 1e-6 };
  const { models } = read({
    'us.anthropic.claude-sonnet-4-5-20250929-v1:0': { ...chat, litellm_provider: 'bedrock_converse' },
    'vertex_ai/claude-haiku-4-5@20251001': { ...chat, litellm_provider: 'vertex_ai-anthropic_models' },
    'gemini-2.5-pro': { ...chat, litellm_provider: 'vertex_ai-language-models' },
    'gemini/models/gemini-2.5-flash': { ...chat, litellm_provider: 'gemini' },
    'azure/gpt-35-turbo-instruct': { ...chat, litellm_provider: 'azure_text' },
    'command-r': { ...chat, litellm_provider: 'cohere_chat' },
    'fireworks_ai/accounts/fireworks/models/glm-5p2': { ...chat, litellm_provider: 'fireworks_ai' },
    'fireworks_ai/nomic-ai/nomic-embed-text-v1': {
      ...chat,
      litellm_provider: 'fireworks_ai-embedding-models',
    },
    'sambanova/DeepSeek-R1': { ...chat, litellm_provider: 'sambanova' },
  });
  expect(models.map(({ provider, model, aliases }) => [provider, model, ...aliases])).toEqual(
    [
      ['bedrock', 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'],
      ['vertex_ai', 'claude-haiku-4-5@20251001'],
      ['vertex_ai', 'gemini-2.5-pro'],
      ['gemini', 'gemini-2.5-flash'],
      ['azure', 'gpt-35-turbo-instruct'],
      ['cohere', 'command-r'],
      ['fireworks_ai', 'accounts/fireworks/models/glm-5p2'],
      ['fireworks_ai', 'nomic-ai/nomic-embed-text-v1'],
      ['sambanova', 'DeepSeek-R1'],
    ].map(([provider, name]) => [provider, `${provider}/${name}`, name]),
  );
});

test('entries of LiteLLM that are one model give one, with the prices that LiteLLM itself takes', () => {
  const of = (provider: string, cost: number) => ({
    litellm_provider: provider,
    mode: 'chat',
    input_cost_per_token: cost,
  });
  const { models, leftOut } = read({
    'gemini-flash': of('gemini', 3),
    'gemini/gemini-flash': of('gemini', 4),
    'gemini-pro': of('vertex_ai-language-models', 5),
    'vertex_ai/gemini-pro': of('vertex_ai', 5),
    'bedrock_mantle/gpt': of('bedrock_mantle', 6),
    gpt: of('bedrock_converse', 7),
  });
  expect(models.map(({ model, prices }) => [model, prices[0]?.usdPerToken.toFixed()])).toEqual([
    ['gemini/gemini-flash', '4'],
    ['vertex_ai/gemini-pro', '5'],
    ['bedrock/gpt', '7'],
  ]);
  expect(leftOut).toEqual([
    '"gemini-flash" has other prices than "gemini/gemini-flash", the same model: the entry is left out',
    '"bedrock_mantle/gpt" has other prices than "gpt", the same model: the entry is left out',
  ]);
});

test('an entry of LiteLLM with a negative price, or without a provider, is left out with a line', () => {
  const good = { litellm_provider: 'openrouter', mode: 'chat', input_cost_per_token: 1 };
  const file = read({
    'openrouter/auto': { ...good, input_cost_per_token: -1, output_cost_per_token: -1 },
    rules: { rules: [] },
    'openrouter/fixed': good,
  });
  expect(file.models.map(({ model }) => model)).toEqual(['openrouter/fixed']);
  expect(file.leftOut).toEqual([
    'input_cost_per_token of "openrouter/auto" is negative: the entry is left out',
    '"rules" has no litellm_provider: the entry is left out',
  ]);
});

test('a model of our own format has the provider that spans of the same provider have', () => {
  const { models } = own({ input_tokens: '1' });
  const file = read({
    format: 'tallyhouse-token-prices-1',
    models: [{ ...models[0], provider: 'aws.bedrock', model: 'aws.bedrock/nova', aliases: ['nova'] }],
  });
  expect(file.models[0]).toMatchObject({ provider: 'bedrock', model: 'bedrock/nova', aliases: ['nova'] });
});

test('the table that the service includes is read, each price with its date and source', async () => {
  const text = await readFile(new URL('../../../catalogue/prices.json', import.meta.url), 'utf8');
  const { models, skipped } = readPriceFile(text, { validFrom: VALID_FROM });
  expect([models.length > 40, skipped]).toEqual([true, 0]);
  const sonnet = models.find(({ model }) => model === 'anthropic/claude-sonnet-4-5');
  expect(sonnet?.prices.map(({ usdPerToken }) => usdPerToken.toFixed())).toEqual([
    '0.000003',
    '0.0000003',
    '0.000015',
    '0.00000375',
  ]);
  for (const { prices } of models) {
    for (const { validFrom, source } of prices)
      expect([validFrom < VALID_FROM, source !== '']).toEqual([true, true]);
  }
});

test.each([
  ['no object', [], 'must be a JSON object'],
  ['an unknown kind', own({ sounds: '1' }), 'sounds'],
  ['a negative price', own({ input_tokens: '-1' }), 'is not negative'],
  ['a misspelled member', { format: 'tallyhouse-token-prices-1', model: [] }, 'models'],
  ['a wrong price of LiteLLM', { x: { litellm_provider: 'a', input_cost_per_token: 'cheap' } }, '"x"'],
])('a file with %s is refused with the place', (_, content, message) => {
  expect(() => read(content)).toThrow(Refusal);
  expect(() => read(content)).toThrow(message);
});

function own(prices: object) {
  const dated = { valid_from: '2026-01-01', source: 'test', usd_per_million: prices };
  return { format: 'tallyhouse-token-prices-1', models: [{ provider: 'a', model: 'a/b', prices: [dated] }] };
}

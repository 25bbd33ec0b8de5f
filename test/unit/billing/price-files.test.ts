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
      "cache_creation_input_token_cost": 3.75e-06},
    "dall-e-3": {"litellm_provider": "openai", "mode": "image_generation", "input_cost_per_token": 1},
    "free": {"litellm_provider": "openai", "mode": "chat", "input_cost_per_token": 0.0}
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
        ['cached_write_tokens', '0.00000375', VALID_FROM],
      ],
    ],
  ]);
});

test('the table that comes with the service is read, each price with its date and source', async () => {
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

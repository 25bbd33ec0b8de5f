import { expect, test } from 'vitest';
import { rateKey } from '../../../console/src/pages/prices/price-draft.ts';
import { missingPrices } from '../../../console/src/pages/start/missing-prices.ts';

const times = { starting_at: '2026-03-01T00:00:00Z', ending_before: '2026-04-01T00:00:00Z' };

const unpriced = (product_id: string, values?: Record<string, string>) => ({
  ...{ ...times, code: 'unpriced_usage', message: 'has no rate', product_id, product_name: 'Tokens' },
  ...(values === undefined ? {} : { pricing_group_values: values }),
});

const draft = (customer_id: string, warnings: readonly ReturnType<typeof unpriced>[], type = 'USAGE') =>
  ({ customer_id, contract_id: `contract of ${customer_id}`, type, warnings }) as const;

type Drafts = Parameters<typeof missingPrices>[0];

test('missing prices are named with their group values, those that the most drafts lack first, each draft once', () => {
  const mini = { model: 'wren-mini', region: 'us-east' };
  const found = missingPrices([
    draft('lark', [unpriced('tokens'), unpriced('tokens', mini), unpriced('tokens', mini)]),
    draft('finch', [unpriced('tokens', { region: 'us-east', model: 'wren-mini' })]),
    draft('parent', [unpriced('tokens', mini)], 'USAGE_CONSOLIDATED'),
    draft('heron', [{ ...unpriced('tokens'), code: 'uncounted_events' }]),
  ] as unknown as Drafts);
  expect(found.map(({ name, drafts }) => [name, drafts.map(({ customer_id }) => customer_id)])).toEqual([
    ['Tokens, model wren-mini, region us-east', ['lark', 'finch']],
    ['Tokens', ['lark']],
  ]);
  expect(found[0]).toMatchObject({ key: rateKey({ product: 'tokens', values: mini }), product: 'tokens' });
});

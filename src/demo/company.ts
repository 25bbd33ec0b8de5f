/** The company that the demo bills for: its models, regions, products, prices and customers. All invented. */
import { decimal } from '../core/decimal.ts';
import type { DemoCustomer, MeteredProduct, PricedGroup, PriceTier } from './scenario.ts';

/** `share` is the fraction of all requests, `tokensMedian` the size of a typical one. */
export const MODELS = [
  { name: 'wren-mini', share: 0.55, tokensMedian: 420, centsPerToken: '0.00004' },
  { name: 'heron', share: 0.33, tokensMedian: 900, centsPerToken: '0.0003' },
  { name: 'condor-large', share: 0.12, tokensMedian: 1_600, centsPerToken: '0.0015' },
] as const;

/** `markup` multiplies the price: electricity and demand differ. */
export const REGIONS = [
  { name: 'us-east', share: 0.5, markup: '1' },
  { name: 'eu-west', share: 0.35, markup: '1.1' },
  { name: 'ap-south', share: 0.15, markup: '1.25' },
] as const;

/** Beyond this many tokens of a model in a region, a customer pays four fifths of the price. */
const VOLUME_TOKENS = decimal('5000000');
const VOLUME_FACTOR = decimal('0.8');

export const COMPANY_EVENT_TYPE = 'llm_request';

function tokenTiers(centsPerToken: string, markup: string): PriceTier[] {
  const price = decimal(centsPerToken).times(decimal(markup));
  return [
    { size: VOLUME_TOKENS, price },
    { size: null, price: price.times(VOLUME_FACTOR) },
  ];
}

function tokenPrices(): PricedGroup[] {
  return MODELS.flatMap((model) =>
    REGIONS.map((region) => ({
      groupValues: { model: model.name, region: region.name },
      tiers: tokenTiers(model.centsPerToken, region.markup),
    })),
  );
}

export const COMPANY_PRODUCTS: readonly MeteredProduct[] = [
  {
    name: 'Tokens',
    unit: 'tokens',
    aggregation: 'SUM',
    property: 'tokens',
    pricingGroupKey: ['model', 'region'],
    prices: tokenPrices(),
  },
  {
    name: 'Requests',
    unit: 'requests',
    aggregation: 'COUNT',
    property: null,
    pricingGroupKey: [],
    prices: [
      {
        groupValues: {},
        tiers: [
          { size: decimal('1000'), price: decimal('0') },
          { size: decimal('20000'), price: decimal('0.02') },
          { size: null, price: decimal('0.0125') },
        ],
      },
    ],
  },
  {
    name: 'Active users',
    unit: 'users',
    aggregation: 'UNIQUE',
    property: 'user_id',
    pricingGroupKey: [],
    prices: [{ groupValues: {}, tiers: [{ size: null, price: decimal('20') }] }],
  },
];

const CUSTOMER_NAMES = [
  'Alder Analytics',
  'Birchwood Bank',
  'Cobalt Clinics',
  'Driftwood Games',
  'Ember Energy',
  'Fjord Freight',
  'Granite Legal',
  'Harbour Hotels',
  'Indigo Insurance',
  'Juniper Journals',
  'Kestrel Kitchens',
  'Lagoon Logistics',
  'Meadow Media',
  'Nimbus Networks',
  'Orchard Outfitters',
  'Pebble Pharmacy',
  'Quarry Robotics',
  'Redwood Research',
  'Saffron Schools',
  'Tundra Travel',
] as const;

/** `count` customers; beyond the first twenty the names repeat with a number. The run's id keeps aliases apart. */
export function companyCustomers(count: number, runId: string): DemoCustomer[] {
  return Array.from({ length: count }, (_, index) => {
    const round = Math.floor(index / CUSTOMER_NAMES.length);
    const base = CUSTOMER_NAMES[index % CUSTOMER_NAMES.length] ?? 'Customer';
    const name = round === 0 ? base : `${base} ${round + 1}`;
    return { name, alias: `${name.toLowerCase().replaceAll(' ', '-')}-${runId}` };
  });
}

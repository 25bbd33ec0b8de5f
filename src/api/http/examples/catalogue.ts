/** Products, rate cards, pricing units, packages. */
import type { RequestExamples } from './example.ts';
import { EXAMPLE_IDS as ids } from './ids.ts';

const products: RequestExamples = {
  createPricingUnit: { body: { name: 'Compute credits' } },
  createProduct: {
    body: {
      name: 'Tokens by model',
      type: 'USAGE',
      billable_metric_id: ids.metric,
      pricing_group_key: ['model'],
    },
  },
  getProduct: { body: { id: ids.usageProduct } },
  listProducts: { body: { archive_filter: 'NOT_ARCHIVED' } },
  updateProduct: {
    body: { product_id: ids.usageProduct, starting_at: '2026-12-01T00:00:00Z', name: 'Tokens (all models)' },
  },
  archiveProduct: { body: { product_id: ids.fixedProduct } },
};

const tokenRate = {
  product_id: ids.usageProduct,
  starting_at: '2026-12-01T00:00:00Z',
  entitled: true,
  rate_type: 'FLAT',
  price: 0.25,
};
const seatRate = {
  product_id: ids.subscriptionProduct,
  starting_at: '2026-12-01T00:00:00Z',
  entitled: true,
  rate_type: 'FLAT',
  price: 2500,
  billing_frequency: 'MONTHLY',
};

const rateCards: RequestExamples = {
  createRateCard: {
    body: { name: 'List prices 2027', description: 'For all customers who pay list prices.' },
  },
  getRateCard: { body: { id: ids.rateCard } },
  listRateCards: { body: {} },
  updateRateCard: { body: { rate_card_id: ids.rateCard, name: 'List prices' } },
  archiveRateCard: { body: { id: ids.rateCard } },
  setRateCardProductsOrder: {
    body: { rate_card_id: ids.rateCard, product_order: [ids.subscriptionProduct, ids.usageProduct] },
  },
  moveRateCardProducts: {
    body: { rate_card_id: ids.rateCard, product_moves: [{ product_id: ids.usageProduct, position: 0 }] },
  },
  addRate: { body: { rate_card_id: ids.rateCard, ...tokenRate } },
  addRates: { body: { rate_card_id: ids.rateCard, rates: [tokenRate, seatRate] } },
  getRates: { body: { rate_card_id: ids.rateCard, at: '2026-11-10T00:00:00Z' } },
  getRateSchedule: { body: { rate_card_id: ids.rateCard, starting_at: '2026-11-10T00:00:00Z' } },
};

const packages: RequestExamples = {
  createPackage: {
    body: {
      name: 'Starter',
      rate_card_id: ids.rateCard,
      duration: { unit: 'YEARS', value: 1 },
      credits: [
        {
          name: 'Welcome',
          product_id: ids.fixedProduct,
          access_schedule: {
            schedule_items: [
              {
                amount: 10000,
                starting_at_offset: { unit: 'DAYS', value: 0 },
                duration: { unit: 'MONTHS', value: 3 },
              },
            ],
          },
        },
      ],
    },
  },
  getPackage: { body: { package_id: ids.package } },
  listPackages: { body: { archive_filter: 'NOT_ARCHIVED' } },
  archivePackage: { body: { package_id: ids.package } },
  listContractsOnPackage: { body: { package_id: ids.package } },
};

const schedule = { schedule_name: 'account_team' };
const written = { ...schedule, starting_at: '2026-11-01T00:00:00Z', value: { owner: 'Ada' } };
const contract = { customer_id: ids.customer, contract_id: ids.contract };

const namedSchedules: RequestExamples = {
  getCustomerNamedSchedule: { body: { customer_id: ids.customer, ...schedule } },
  updateCustomerNamedSchedule: { body: { customer_id: ids.customer, ...written } },
  getContractNamedSchedule: { body: { ...contract, ...schedule } },
  updateContractNamedSchedule: { body: { ...contract, ...written } },
  getRateCardNamedSchedule: { body: { rate_card_id: ids.rateCard, ...schedule } },
  updateRateCardNamedSchedule: { body: { rate_card_id: ids.rateCard, ...written } },
};

export const catalogueExamples: RequestExamples = {
  ...products,
  ...rateCards,
  ...packages,
  ...namedSchedules,
};

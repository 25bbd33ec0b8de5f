/** Contracts, and the commits and credits that pay for them. */
import type { RequestExamples } from './example.ts';
import { EXAMPLE_IDS as ids } from './ids.ts';

const contract = { customer_id: ids.customer, contract_id: ids.contract };
const year = { starting_at: '2026-12-01T00:00:00Z', ending_before: '2027-12-01T00:00:00Z' };

const access = (amount: number) => ({ schedule_items: [{ amount, ...year }] });
const prepaid = (amount: number) => ({
  type: 'PREPAID',
  name: 'Yearly commitment',
  product_id: ids.fixedProduct,
  access_schedule: access(amount),
  invoice_schedule: { schedule_items: [{ timestamp: '2026-12-01T00:00:00Z', amount }] },
});
const discount = {
  type: 'MULTIPLIER',
  starting_at: '2026-12-01T00:00:00Z',
  multiplier: 0.9,
  override_specifiers: [{ product_id: ids.usageProduct }],
};

const contracts: RequestExamples = {
  createContract: {
    body: {
      customer_id: ids.customer,
      name: 'Enterprise 2027',
      rate_card_id: ids.rateCard,
      ...year,
      net_payment_terms_days: 30,
      spend_limit: { amount: 500000 },
      commits: [prepaid(1200000)],
      overrides: [discount],
    },
  },
  getContract: { body: contract },
  listContracts: { body: { customer_id: ids.customer } },
  getContractV2: { body: { ...contract, include_balance: true } },
  listContractsV2: { body: { customer_id: ids.customer, covering_date: '2026-11-10T00:00:00Z' } },
  updateContractEndDate: { body: { ...contract, ending_before: '2027-10-01T00:00:00Z' } },
  setContractUsageFilter: {
    body: {
      ...contract,
      group_key: 'model',
      group_values: ['large'],
      starting_at: '2026-12-01T00:00:00Z',
    },
  },
  archiveContract: { body: { ...contract, void_invoices: false } },
  releaseCommit: { body: { workflow_id: ids.gatedCommit, outcome: 'PAID' } },
  editContract: {
    body: { ...contract, add_commits: [prepaid(60000)], update_contract_name: 'Enterprise' },
  },
  getContractEditHistory: { body: contract },
  amendContract: { body: { ...contract, starting_at: '2026-12-01T00:00:00Z', overrides: [discount] } },
  getContractRateSchedule: { body: { ...contract, at: '2026-11-10T00:00:00Z' } },
  getSubscriptionQuantityHistory: { body: { ...contract, subscription_id: ids.subscription } },
  getSubscriptionSeatsHistory: { body: { ...contract, subscription_id: ids.seatSubscription } },
};

const balances: RequestExamples = {
  createCustomerCommit: {
    body: {
      customer_id: ids.customer,
      type: 'PREPAID',
      name: 'Top-up',
      product_id: ids.fixedProduct,
      priority: 10,
      access_schedule: access(50000),
    },
  },
  createCustomerCredit: {
    body: {
      customer_id: ids.customer,
      name: 'Goodwill',
      product_id: ids.fixedProduct,
      priority: 5,
      access_schedule: access(2500),
    },
  },
  updateCommitEndDate: {
    body: {
      customer_id: ids.customer,
      commit_id: ids.commit,
      access_ending_before: '2027-06-01T00:00:00Z',
    },
  },
  updateCreditEndDate: {
    body: {
      customer_id: ids.customer,
      credit_id: ids.credit,
      access_ending_before: '2027-06-01T00:00:00Z',
    },
  },
  editCommit: { body: { customer_id: ids.customer, commit_id: ids.commit, priority: 20 } },
  editCredit: { body: { customer_id: ids.customer, credit_id: ids.credit, name: 'Goodwill of November' } },
  archiveCommit: { body: { customer_id: ids.customer, commit_id: ids.commit } },
  archiveCredit: { body: { customer_id: ids.customer, credit_id: ids.credit } },
  disableCommitTrueup: { body: { ...contract, commit_id: ids.contractCommit } },
  listCustomerCommits: { body: { customer_id: ids.customer, include_balance: true } },
  listCustomerCredits: { body: { customer_id: ids.customer, include_balance: true } },
  listCustomerBalances: {
    body: { customer_id: ids.customer, include_balance: true, include_contract_balances: true },
  },
  getNetBalance: { body: { customer_id: ids.customer } },
  addManualBalanceLedgerEntry: {
    body: {
      customer_id: ids.customer,
      id: ids.commit,
      segment_id: ids.segment,
      amount: -500,
      reason: 'Used outside the service.',
    },
  },
  listCreditGrants: { body: { customer_ids: [ids.customer] } },
  listCreditEntries: { body: { customer_ids: [ids.customer] } },
  listSeatBalances: { body: contract },
};

export const contractExamples: RequestExamples = { ...contracts, ...balances };

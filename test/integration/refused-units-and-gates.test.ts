/**
 * Currencies of commits, payment gates and the scope of spend thresholds are checked alike wherever terms are created:
 * 400, the path of the field, and nothing is stored.
 */
import { beforeAll, expect, test } from 'vitest';
import { FIAT_CREDIT_TYPES } from '../../src/core/credit-types.ts';
import { commits } from '../../src/store/balances/commits.tables.ts';
import { packages } from '../../src/store/contracts/packages.tables.ts';
import type { ApiAnswer } from '../support/api-client.ts';
import { CONTRACTS, createdId } from '../support/catalogue-api.ts';
import { createTermsCatalogue, type TermsCatalogue } from '../support/contract-terms.ts';
import { catalogueForFile } from '../support/file-fixtures.ts';
import { type Body, END, START, segment } from '../support/term-fixtures.ts';

const { pool, api } = await catalogueForFile();
let catalogue: TermsCatalogue;
let customer: string;
let contract: string;

beforeAll(async () => {
  catalogue = await createTermsCatalogue(api);
  customer = await createdId(api, '/v1/customers', { name: 'Customer' });
  contract = await createdId(api, CONTRACTS, header());
});

const header = () => ({ customer_id: customer, rate_card_id: catalogue.card, starting_at: START });
const edited = () => ({ customer_id: customer, contract_id: contract });

const EURO = FIAT_CREDIT_TYPES.find(({ name }) => name === 'EUR')?.id ?? '';
const unit = () => catalogue.unit;

/** In units of these ids; undefined: none is named, US cents. */
function commit(type: string, accessUnit?: string, invoiceUnit?: string): Body {
  return {
    type,
    product_id: catalogue.fee,
    access_schedule: { credit_type_id: accessUnit, schedule_items: [segment] },
    invoice_schedule: { credit_type_id: invoiceUnit, schedule_items: [{ timestamp: END, amount: 100 }] },
  };
}

/** The same with the dates of a package. */
function template({ access_schedule, invoice_schedule, ...rest }: Body): Body {
  const offset = { unit: 'DAYS', value: 0 };
  const duration = { unit: 'YEARS', value: 1 };
  return {
    ...rest,
    access_schedule: {
      ...(access_schedule as Body),
      schedule_items: [{ amount: 100, starting_at_offset: offset, duration }],
    },
    invoice_schedule: {
      ...(invoice_schedule as Body),
      schedule_items: [{ amount: 100, date_offset: duration }],
    },
  };
}

/** Every operation that makes commits, the name of their list in it, and what it sends. */
const OPERATIONS: [string, string, (one: Body) => Promise<ApiAnswer>][] = [
  ['a new contract', 'commits', (one) => api.send('POST', CONTRACTS, { ...header(), commits: [one] })],
  [
    'a package',
    'commits',
    (one) =>
      api.send('POST', '/v1/packages/create', {
        name: 'Package',
        rate_card_id: catalogue.card,
        commits: [template(one)],
      }),
  ],
  [
    'an amendment',
    'commits',
    (one) => api.send('POST', '/v1/contracts/amend', { ...edited(), starting_at: START, commits: [one] }),
  ],
  [
    'an edit',
    'add_commits',
    (one) => api.send('POST', '/v2/contracts/edit', { ...edited(), add_commits: [one] }),
  ],
];

const WRONG: [string, () => Body, string][] = [
  ['a postpaid commit of a custom unit', () => commit('POSTPAID', unit()), 'access_schedule.credit_type_id'],
  [
    'a postpaid commit of a custom unit throughout',
    () => commit('POSTPAID', unit(), unit()),
    'access_schedule.credit_type_id',
  ],
  [
    'a postpaid commit that is settled in a custom unit',
    () => commit('POSTPAID', undefined, unit()),
    'invoice_schedule.credit_type_id',
  ],
  [
    'a postpaid commit that is settled in another currency',
    () => commit('POSTPAID', undefined, EURO),
    'invoice_schedule.credit_type_id',
  ],
  [
    'a prepaid commit that is paid for in a custom unit',
    () => commit('PREPAID', unit(), unit()),
    'invoice_schedule.credit_type_id',
  ],
];

async function expectRefusal(answer: Promise<ApiAnswer>, field: string): Promise<void> {
  const stored = async () => [await pool.db.$count(commits), await pool.db.$count(packages)];
  const before = await stored();
  const { status, message } = await answer.then((one) => ({
    status: one.status,
    message: one.text('message'),
  }));
  expect(message.startsWith(`${field}: `), message).toBe(true);
  expect(status).toBe(400);
  expect(await stored()).toEqual(before);
}

test.each(OPERATIONS.flatMap((operation) => WRONG.map((wrong) => ({ operation, wrong }))))(
  '$operation.0 refuses $wrong.0',
  async ({ operation: [, list, send], wrong: [, body, field] }) => {
    await expectRefusal(send(body()), `${list}[0].${field}`);
  },
);

test.each(OPERATIONS)('%s takes what is granted and paid for in money or in units', async (_, __, send) => {
  for (const one of [commit('POSTPAID', EURO, EURO), commit('PREPAID', unit(), EURO)]) {
    expect((await send(one)).status).toBe(200);
  }
});

test.each(OPERATIONS.filter(([, list]) => list === 'commits'))(
  '%s refuses a payment gate: only an edit adds one',
  async (_, list, send) => {
    const payment_gate_config = { payment_gate_type: 'EXTERNAL' };
    const sent = send({ ...commit('PREPAID'), payment_gate_config });
    await expectRefusal(sent, `${list}[0].payment_gate_config`);
  },
);

test('a gate that needs a provider stays refused in an edit', async () => {
  const payment_gate_config = { payment_gate_type: 'STRIPE', stripe_config: { payment_type: 'INVOICE' } };
  const add_commits = [{ ...commit('PREPAID'), payment_gate_config }];
  const sent = api.send('POST', '/v2/contracts/edit', { ...edited(), add_commits });
  await expectRefusal(sent, 'add_commits[0].payment_gate_config.payment_gate_type');
});

const FILTERS: [string, () => unknown[]][] = [
  ['applicable_product_ids', () => [catalogue.tokens]],
  ['applicable_product_tags', () => ['llm']],
  ['specifiers', () => [{ product_tags: ['llm'] }]],
];

function spendThreshold(commitChange: Body): Body {
  return {
    is_enabled: true,
    threshold_amount: 500,
    commit: { product_id: catalogue.fee, ...commitChange },
    payment_gate_config: { payment_gate_type: 'NONE' },
  };
}

test.each(FILTERS)('the commit of a spend threshold has no %s', async (name, value) => {
  const filtered = spendThreshold({ [name]: value() });
  const path = 'spend_threshold_configuration';
  const field = `${path}.commit.${name}`;
  await expectRefusal(api.send('POST', CONTRACTS, { ...header(), [path]: filtered }), field);
  const packaged = { name: 'Package', rate_card_id: catalogue.card, [path]: filtered };
  await expectRefusal(api.send('POST', '/v1/packages/create', packaged), field);
  for (const change of ['add', 'update']) {
    const body = { ...edited(), [`${change}_${path}`]: filtered };
    await expectRefusal(api.send('POST', '/v2/contracts/edit', body), `${change}_${field}`);
  }
});

test('an empty filter of a spend threshold asks for nothing', async () => {
  const nothing = Object.fromEntries(FILTERS.map(([name]) => [name, []]));
  const body = { ...header(), spend_threshold_configuration: spendThreshold(nothing) };
  expect((await api.send('POST', CONTRACTS, body)).status).toBe(200);
});

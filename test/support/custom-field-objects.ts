/** One object of every kind with custom fields: how to create it, and which answers show its fields. */
import type { CustomFieldEntity } from '../../src/core/custom-fields.ts';
import type { ApiAnswer, ApiClient } from './api-client.ts';
import { CONTRACTS, METRICS, PRODUCTS, RATE_CARDS, TOKENS_METRIC } from './catalogue-api.ts';
import type { TermsCatalogue } from './contract-terms.ts';
import { days, months, PACKAGES } from './package-terms.ts';
import { START, termFixtures } from './term-fixtures.ts';

type Fields = Readonly<Record<string, string>>;

export interface ObjectKind {
  readonly entity: CustomFieldEntity;
  /** Where the fields stand in the request that makes one. */
  readonly path: string;
  /** Sends the request; any declared status is fine. */
  create(fields: Fields): Promise<ApiAnswer>;
  idOf(created: ApiAnswer): Promise<string>;
  /** The fields of an object as every answer that has them shows them. */
  shown(id: string): Promise<unknown[]>;
}

const LIST = { query: { limit: 100 } };

/** The catalogue and the customer are read when they are needed, so that they may be filled in later. */
export function objectKinds(
  api: () => ApiClient,
  catalogue: TermsCatalogue,
  customerId: () => string,
): ObjectKind[] {
  return [
    ...catalogueKinds(api, customerId),
    ...contractKinds(api, catalogue, customerId),
    ...templateKinds(api, catalogue),
  ];
}

function catalogueKinds(api: () => ApiClient, customerId: () => string): ObjectKind[] {
  const idOf = async (created: ApiAnswer) => created.text('data.id');
  return [
    {
      entity: 'customer',
      path: '',
      create: (custom_fields) => api().send('POST', '/v1/customers', { name: 'Acme', custom_fields }),
      idOf,
      shown: async (id) => [
        (await api().get(`/v1/customers/${id}`)).at('data.custom_fields'),
        (await api().get('/v1/customers', { query: { customer_ids: [id] } })).at('data[0].custom_fields'),
        (await api().post(`/v1/customers/${id}/setName`, { name: 'Acme' })).at('data.custom_fields'),
      ],
    },
    {
      entity: 'billable_metric',
      path: '',
      create: (custom_fields) => api().send('POST', METRICS, { ...TOKENS_METRIC, custom_fields }),
      idOf,
      shown: async (id) => [
        (await api().get(`/v1/billable-metrics/${id}`)).at('data.custom_fields'),
        fieldsIn(await api().get('/v1/billable-metrics', LIST), id),
        fieldsIn(await api().get(`/v1/customers/${customerId()}/billable-metrics`, LIST), id),
      ],
    },
    {
      entity: 'contract_product',
      path: '',
      create: (custom_fields) => api().send('POST', PRODUCTS, { name: 'Fee', type: 'FIXED', custom_fields }),
      idOf,
      shown: async (id) => [
        (await api().post('/v1/contract-pricing/products/get', { id })).at('data.custom_fields'),
        fieldsIn(await api().post('/v1/contract-pricing/products/list', {}, LIST), id),
      ],
    },
    {
      entity: 'rate_card',
      path: '',
      create: (custom_fields) => api().send('POST', RATE_CARDS, { name: 'List', custom_fields }),
      idOf,
      shown: async (id) => [
        (await api().post('/v1/contract-pricing/rate-cards/get', { id })).at('data.custom_fields'),
        fieldsIn(await api().post('/v1/contract-pricing/rate-cards/list', {}, LIST), id),
      ],
    },
  ];
}

/** The second of its list, beside one without fields: places in lists must not be mixed up. */
function contractKinds(
  api: () => ApiClient,
  catalogue: TermsCatalogue,
  customerId: () => string,
): ObjectKind[] {
  const terms = termFixtures(catalogue);
  const schedule = { schedule_items: [{ timestamp: START, amount: 1 }] };
  const credit = () => terms.commit({ type: undefined });
  const contract = (body: object) =>
    api().send('POST', CONTRACTS, {
      customer_id: customerId(),
      rate_card_id: catalogue.card,
      starting_at: START,
      ...body,
    });
  const shown = async (id: string) => {
    const request = { customer_id: customerId() };
    const answers = await Promise.all([
      api().post('/v1/contracts/list', request),
      api().post('/v2/contracts/list', request),
    ]);
    return answers.flatMap((answer) => allFieldsIn(answer, id));
  };
  const term = (entity: CustomFieldEntity, list: string, plain: () => object): ObjectKind => ({
    entity,
    path: `${list}[1].`,
    create: (custom_fields) => contract({ [list]: [plain(), { ...plain(), custom_fields }] }),
    idOf: async (created) => {
      const contract_id = created.text('data.id');
      const read = await api().post('/v2/contracts/get', { customer_id: customerId(), contract_id });
      return read.text(`data.${list}[1].id`);
    },
    shown,
  });
  return [
    {
      entity: 'contract',
      path: '',
      create: (custom_fields) => contract({ custom_fields }),
      idOf: async (created) => created.text('data.id'),
      shown,
    },
    term('commit', 'commits', () => terms.commit()),
    term('contract_credit', 'credits', credit),
    term('scheduled_charge', 'scheduled_charges', () => terms.charge(schedule)),
    term('discount', 'discounts', () => terms.charge(schedule)),
    term('professional_service', 'professional_services', () => ({
      product_id: catalogue.service,
      unit_price: 1,
      quantity: 1,
      max_amount: 1,
    })),
    term('subscription', 'subscriptions', () => terms.subscription()),
  ];
}

function templateKinds(api: () => ApiClient, catalogue: TermsCatalogue): ObjectKind[] {
  const template = (entity: CustomFieldEntity, list: string): ObjectKind => ({
    entity,
    path: `${list}[1].`,
    create: (custom_fields) =>
      api().send('POST', PACKAGES, packageWith(catalogue, { [list]: [{}, { custom_fields }] })),
    idOf: async (created) => {
      const read = await api().post('/v1/packages/get', { package_id: created.text('data.id') });
      return read.text(`data.${list}[1].id`);
    },
    shown: async (id) => allFieldsIn(await api().post('/v1/packages/list', {}, LIST), id),
  });
  return [
    template('package_commit', 'commits'),
    template('package_credit', 'credits'),
    template('package_scheduled_charge', 'scheduled_charges'),
    template('package_subscription', 'subscriptions'),
  ];
}

/** A package with templates that are sound; `lists` adds members to them, one template for each. */
export function packageWith(
  catalogue: TermsCatalogue,
  lists: Readonly<Record<string, readonly object[]>>,
): Record<string, unknown> {
  const access_schedule = {
    schedule_items: [{ amount: 100, starting_at_offset: days(0), duration: months(1) }],
  };
  const plain: Record<string, object> = {
    commits: { type: 'PREPAID', product_id: catalogue.fee, access_schedule },
    credits: { product_id: catalogue.fee, access_schedule },
    scheduled_charges: {
      product_id: catalogue.fee,
      schedule: { schedule_items: [{ unit_price: 1, quantity: 1, date_offset: days(0) }] },
    },
    subscriptions: termFixtures(catalogue).subscription(),
  };
  const terms = Object.entries(lists).map(([list, changes]) => [
    list,
    changes.map((change) => ({ ...plain[list], ...change })),
  ]);
  return { name: 'Package', rate_card_id: catalogue.card, ...Object.fromEntries(terms) };
}

function fieldsIn(answer: ApiAnswer, id: string): unknown {
  return allFieldsIn(answer, id)[0];
}

/** The `custom_fields` of every object in an answer that has this id, at whatever depth. */
export function allFieldsIn(answer: ApiAnswer, id: string): unknown[] {
  const found: unknown[] = [];
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if ('id' in value && value.id === id && 'custom_fields' in value) found.push(value.custom_fields);
    for (const member of Object.values(value)) walk(member);
  };
  walk(answer.body);
  return found;
}

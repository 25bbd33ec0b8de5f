/** The objects that a field of a form can name. */
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { call, callAll } from '../api/client.ts';
import type { Schemas } from '../api/operations.gen.d.ts';
import { useApi } from '../api/queries.ts';
import { keyOf } from '../api/resources.ts';
import { type CreditType, unitText } from '../format/money.ts';
import { periodText } from '../format/time.ts';
import { type FormField, type Kind, textOf, USD, type Values } from './field.ts';
import type { Reference } from './schema.ts';

interface Option {
  readonly id: string;
  readonly name: string;
}

const PAGE = { limit: '100' };
const PRODUCTS = 'POST /v1/contract-pricing/products/list';
const CARDS = 'POST /v1/contract-pricing/rate-cards/list';
const PACKAGES = 'POST /v1/packages/list';
const METRICS = 'GET /v1/billable-metrics';
const UNITS = 'GET /v1/credit-types/list';
const CONTRACTS = 'POST /v2/contracts/list';

/** The reference of the API, which does not change while the page is open. */
export function useReference(): UseQueryResult<Reference> {
  const query = useApi('GET /openapi.json', {}, { staleTime: Number.POSITIVE_INFINITY });
  return query as unknown as UseQueryResult<Reference>;
}

export function useProducts(): UseQueryResult<readonly Schemas['Product'][]> {
  return useQuery({
    queryKey: keyOf(PRODUCTS, 'options'),
    queryFn: ({ signal }) => callAll(PRODUCTS, { body: {}, query: PAGE }, { signal }),
  });
}

function useRateCards(): UseQueryResult<readonly Schemas['RateCard'][]> {
  return useQuery({
    queryKey: keyOf(CARDS),
    queryFn: ({ signal }) => callAll(CARDS, { body: {}, query: PAGE }, { signal }),
  });
}

function useUnits(): UseQueryResult<readonly CreditType[]> {
  return useQuery({
    queryKey: keyOf(UNITS, 'options'),
    queryFn: ({ signal }) => callAll(UNITS, { query: PAGE }, { signal }),
  });
}

/** The choices of a select of this kind, by name. */
export function useOptions(
  kind: Kind,
  { types, of = 'customer_id' }: FormField,
  values: Values,
): UseQueryResult<readonly Option[]> {
  const customer = textOf(values, of);
  return useQuery({
    queryKey: keyOf(OPERATIONS[kind] ?? PRODUCTS, 'choices', kind, types, customer),
    queryFn: async ({ signal }) => byName(await read(kind, types, customer, signal)),
  });
}

const OPERATIONS: Readonly<Partial<Record<Kind, Parameters<typeof keyOf>[0]>>> = {
  rateCard: CARDS,
  package: PACKAGES,
  metric: METRICS,
  unit: UNITS,
  contract: CONTRACTS,
};

async function read(
  kind: Kind,
  types: readonly string[] | undefined,
  customer: string,
  signal: AbortSignal,
): Promise<readonly Option[]> {
  if (kind === 'rateCard') return await callAll(CARDS, { body: {}, query: PAGE }, { signal });
  if (kind === 'package') return await callAll(PACKAGES, { body: {}, query: PAGE }, { signal });
  if (kind === 'metric') return await callAll(METRICS, { query: PAGE }, { signal });
  if (kind === 'unit') return await unitsFor(signal);
  if (kind === 'contract') return customer === '' ? [] : await contractsOf(customer, signal);
  const products = await callAll(PRODUCTS, { body: {}, query: PAGE }, { signal });
  return products
    .filter(({ type }) => types?.includes(type) ?? true)
    .map(({ id, current }) => ({ id, name: current.name }));
}

/** Units as people write them: `USD` for US cents. */
async function unitsFor(signal: AbortSignal): Promise<readonly Option[]> {
  const units = await callAll(UNITS, { query: PAGE }, { signal });
  return units.map((unit) => ({ id: unit.id, name: unitText(unit) }));
}

async function contractsOf(customer: string, signal: AbortSignal): Promise<readonly Option[]> {
  const { data } = await call(CONTRACTS, { body: { customer_id: customer } }, signal);
  return data.map(({ id, name, starting_at, ending_before }) => ({
    id,
    name: `${name ?? 'Contract'}, ${ending_before === undefined ? `from ${starting_at.slice(0, 10)}` : periodText(starting_at, ending_before)}`,
  }));
}

function byName(options: readonly Option[]): readonly Option[] {
  return [...options].sort((a, b) => a.name.localeCompare(b.name));
}

/** The rate card of the contract that a form changes; undefined without one. */
function useCardOfContract(values: Values): string | undefined {
  const [customer, contract] = [textOf(values, 'customer_id'), textOf(values, 'contract_id')];
  const body = { customer_id: customer };
  const { data } = useApi(CONTRACTS, { body }, { enabled: customer !== '' && contract !== '' });
  return data?.data.find(({ id }) => id === contract)?.rate_card_id;
}

/**
 * The unit of the amounts of a form: the one that is chosen, else that of its rate card or of the card of its contract,
 * else US dollars.
 */
export function useUnit(fields: readonly FormField[], values: Values): CreditType {
  const chosen = fields.find(({ kind }) => kind === 'unit')?.at;
  const cards = useRateCards();
  const units = useUnits();
  const ofContract = useCardOfContract(values);
  if (chosen !== undefined) return units.data?.find(({ id }) => id === textOf(values, chosen)) ?? USD;
  const card = textOf(values, 'rate_card_id') || ofContract;
  return cards.data?.find(({ id }) => id === card)?.fiat_credit_type ?? USD;
}

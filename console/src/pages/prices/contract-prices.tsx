/** The effective prices of a contract with the list prices, and the override that set each. */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { callAll } from '../../api/client.ts';
import type { Exact } from '../../api/exact.ts';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { useApi } from '../../api/queries.ts';
import { keyOf } from '../../api/resources.ts';
import { changeText, quantityText } from '../../format/money.ts';
import { dayText, periodText } from '../../format/time.ts';
import { CustomerField } from '../../parts/customer-field.tsx';
import { Field, Filters, Section } from '../../parts/page.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { RateFigure } from './rate.tsx';
import { valuesText } from './rate-text.ts';

type Row = Schemas['ContractRateSchedule'];
type Contract = Schemas['ContractV2'];
const route = getRouteApi('/prices');

export function ContractPrices({ at }: { readonly at: string }) {
  const { customer } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Section title="Prices of a contract">
      <Filters>
        <CustomerField
          value={customer}
          onChoose={(id) =>
            void navigate({
              search: (before) => ({ ...before, customer: id, contract: undefined }) as never,
            })
          }
        />
      </Filters>
      {customer === undefined ? (
        <Empty>Choose a customer: its contract’s prices are shown beside the list prices.</Empty>
      ) : (
        <OfCustomer customerId={customer} at={at} />
      )}
    </Section>
  );
}

function OfCustomer({ customerId, at }: { readonly customerId: string; readonly at: string }) {
  const { contract: asked } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useApi('POST /v2/contracts/list', { body: { customer_id: customerId } });
  return (
    <Loaded query={query} what="contracts">
      {({ data }) => {
        const contract = data.find(({ id }) => id === asked) ?? data[0];
        if (contract === undefined) return <Empty>This customer has no contract.</Empty>;
        return (
          <>
            {data.length === 1 ? null : (
              <Filters>
                <Field label="Contract">
                  <select
                    value={contract.id}
                    onChange={({ target }) =>
                      void navigate({ search: (before) => ({ ...before, contract: target.value }) })
                    }
                  >
                    {data.map((each) => (
                      <option key={each.id} value={each.id}>
                        {each.name ?? `from ${dayText(each.starting_at)}`}
                      </option>
                    ))}
                  </select>
                </Field>
              </Filters>
            )}
            <Prices customerId={customerId} contract={contract} at={at} />
          </>
        );
      }}
    </Loaded>
  );
}

function Prices(props: { readonly customerId: string; readonly contract: Contract; readonly at: string }) {
  const { customerId, contract, at } = props;
  const query = useQuery({
    queryKey: keyOf('POST /v1/contracts/getContractRateSchedule', contract.id, at),
    queryFn: ({ signal }) =>
      callAll(
        'POST /v1/contracts/getContractRateSchedule',
        { body: { customer_id: customerId, contract_id: contract.id, at }, query: { limit: '100' } },
        { signal },
      ),
  });
  return (
    <Loaded query={query} what="prices">
      {(rows) =>
        rows.length === 0 ? (
          <Empty>
            Nothing is entitled at this instant: the contract has no rate card, or the card no rate.
          </Empty>
        ) : (
          <Table
            label="Prices of the contract"
            columns={columnsFor(contract)}
            rows={rows}
            keyOf={({ product_id, pricing_group_values, billing_frequency, starting_at }) =>
              JSON.stringify([product_id, pricing_group_values, billing_frequency, starting_at])
            }
          />
        )
      }
    </Loaded>
  );
}

function columnsFor(contract: Contract): Column<Row>[] {
  const overrides = new Map(contract.overrides.map((override) => [override.id, override]));
  return [
    {
      title: 'Product',
      cell: ({ product_name, pricing_group_values, billing_frequency }) => (
        <>
          {product_name}{' '}
          <span className="soft">
            {[valuesText(pricing_group_values), billing_frequency?.toLowerCase() ?? '']
              .filter((text) => text !== '')
              .join(', ')}
          </span>
        </>
      ),
    },
    { title: 'List price', kind: 'number', cell: ({ list_rate }) => <RateFigure rate={list_rate} /> },
    {
      title: 'Price of the contract',
      kind: 'number',
      cell: ({ override_rate }) =>
        override_rate === undefined ? (
          <span className="soft">list price</span>
        ) : (
          <b>
            <RateFigure rate={override_rate} />
          </b>
        ),
    },
    { title: '%', kind: 'number', cell: (row) => <span className="nowrap">{changeOfPrice(row)}</span> },
    {
      title: 'Made by',
      cell: ({ override_ids = [] }) =>
        override_ids.map((id) => (
          <MadeBy key={id} id={id} contract={contract} override={overrides.get(id)} />
        )),
    },
    {
      title: 'In force (UTC)',
      cell: ({ starting_at, ending_before }) => (
        <span className="nowrap">
          {ending_before === undefined
            ? `from ${dayText(starting_at)}`
            : periodText(starting_at, ending_before)}
        </span>
      ),
    },
  ];
}

/** Set if every tier changes by the same share. */
function changeOfPrice({ list_rate: list, override_rate: own }: Row): string {
  if (own === undefined || list.credit_type?.id !== own.credit_type?.id) return '';
  const [before, after] = [pricesOf(list), pricesOf(own)];
  const changes = after.map((price, index) => changeText(price, before[index] ?? ('0' as Exact)) ?? '');
  return before.length === after.length && new Set(changes).size === 1 ? (changes[0] ?? '') : '';
}

function pricesOf({ price, tiers }: Row['list_rate']): Exact[] {
  return tiers === undefined ? [price ?? ('0' as Exact)] : tiers.map((tier) => tier.price);
}

function MadeBy(props: {
  readonly id: string;
  readonly contract: Contract;
  readonly override: Contract['overrides'][number] | undefined;
}) {
  const { id, contract, override } = props;
  return (
    <Link
      to="/customers/$customerId"
      params={{ customerId: contract.customer_id }}
      search={{ view: 'contracts', contract: contract.id }}
      title={id}
    >
      {override === undefined ? `override ${id.slice(0, 8)}` : overrideText(override)}
    </Link>
  );
}

/** `× 0.8 for tag llm`, `fixed price for Tokens` */
function overrideText(override: Contract['overrides'][number]): string {
  const {
    type,
    multiplier,
    product,
    applicable_product_tags: tags,
    override_specifiers: specifiers,
  } = override;
  const what =
    multiplier !== undefined
      ? `× ${quantityText(multiplier)}`
      : type === 'TIERED'
        ? 'multipliers by tier'
        : 'fixed price';
  const values = (specifiers ?? [])
    .map((each) => valuesText(each.pricing_group_values))
    .filter((text) => text !== '');
  const specifierTags = (specifiers ?? []).flatMap((each) => each.product_tags ?? []);
  const of = [
    ...(product === undefined ? [] : [product.name]),
    ...[...(tags ?? []), ...specifierTags].map((tag) => `tag ${tag}`),
    ...values,
  ];
  return of.length === 0 ? `${what} for everything` : `${what} for ${of.join('; ')}`;
}

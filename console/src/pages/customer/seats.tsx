/** Seats of the customer's subscriptions, and the balance of each seat. */
import { numberOf } from '../../api/exact.ts';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { useApi } from '../../api/queries.ts';
import { moneyText } from '../../format/money.ts';
import { Section } from '../../parts/page.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';

type Contract = Schemas['ContractV2'];
type Seat = Schemas['SeatBalance'];

export function Seats({ customerId }: { readonly customerId: string }) {
  const query = useApi('POST /v2/contracts/list', { body: { customer_id: customerId } });
  return (
    <Loaded query={query} what="contracts">
      {({ data }) => {
        const seated = data.filter(({ subscriptions = [] }) =>
          subscriptions.some(({ quantity_management_mode: mode }) => mode === 'SEAT_BASED'),
        );
        return seated.length === 0 ? (
          <Empty>No contract of this customer has a subscription with seats.</Empty>
        ) : (
          seated.map((contract) => <SeatsOf key={contract.id} customerId={customerId} contract={contract} />)
        );
      }}
    </Loaded>
  );
}

const SEATS_SHOWN = '100';

function SeatsOf({ customerId, contract }: { readonly customerId: string; readonly contract: Contract }) {
  const query = useApi('POST /v1/contracts/seatBalances/list', {
    body: { customer_id: customerId, contract_id: contract.id, limit: numberOf(SEATS_SHOWN) },
  });
  const units = useApi('GET /v1/credit-types/list', { query: { limit: '100' } });
  const names = new Map(units.data?.data.map(({ id, name }) => [id, name]));
  const columns: Column<Seat>[] = [
    { title: 'Seat', cell: ({ seat_id }) => <span className="mono">{seat_id}</span> },
    {
      title: 'Granted',
      kind: 'number',
      cell: ({ balances }) =>
        balances.map(({ credit_type_id: id, starting_balance }) => (
          <div key={id}>{moneyText(starting_balance, { id, name: names.get(id) ?? '' })}</div>
        )),
    },
    {
      title: 'Left',
      kind: 'number',
      cell: ({ balances }) =>
        balances.map(({ credit_type_id: id, balance }) => (
          <div key={id}>{moneyText(balance, { id, name: names.get(id) ?? '' })}</div>
        )),
    },
  ];
  return (
    <Section title={`Seats of ${contract.name ?? 'the contract'}`}>
      <Loaded query={query} what="seats">
        {({ data, pagination }) =>
          data.length === 0 ? (
            <Empty>No seat has its own commit or credit.</Empty>
          ) : (
            <>
              <Table label="Seats" columns={columns} rows={data} keyOf={({ seat_id }) => seat_id} />
              {pagination.next_page === null ? null : (
                <p className="soft">The first {SEATS_SHOWN} seats are shown.</p>
              )}
            </>
          )
        }
      </Loaded>
    </Section>
  );
}

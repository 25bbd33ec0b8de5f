/** Alerts that watch the customer, and which are in alarm. */
import type { Schemas } from '../../api/operations.gen.d.ts';
import { useApi, useChange } from '../../api/queries.ts';
import { moneyText, quantityText } from '../../format/money.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { CreateLink } from '../../parts/create-link.tsx';
import { Status } from '../../parts/figures.tsx';
import { Section } from '../../parts/page.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';

type CustomerAlert = Schemas['CustomerAlert'];

const COLUMNS: readonly Column<CustomerAlert>[] = [
  { title: 'Alert', cell: ({ alert }) => alert.name },
  { title: 'Kind', cell: ({ alert }) => alert.type.replaceAll('_', ' ') },
  {
    title: 'Threshold',
    kind: 'number',
    cell: ({ alert: { threshold, credit_type } }) =>
      credit_type === null ? quantityText(threshold) : moneyText(threshold, credit_type),
  },
  { title: 'State', cell: ({ customer_status }) => <Status state={customer_status ?? 'not evaluated'} /> },
  { title: 'Why', cell: ({ triggered_by }) => triggered_by },
  { title: '', cell: ({ alert }) => <Archive alert={alert} /> },
];

export function Alerts({ customerId }: { readonly customerId: string }) {
  const query = useApi('POST /v1/customer-alerts/list', { body: { customer_id: customerId } });
  const known = { customer_id: customerId };
  return (
    <Section title="Alerts" aside={<CreateLink form="alert" known={known} />}>
      <Loaded query={query} what="alerts">
        {({ data }) =>
          data.length === 0 ? (
            <Empty action={<CreateLink form="alert" known={known} />}>No alert watches this customer.</Empty>
          ) : (
            <Table label="Alerts" columns={COLUMNS} rows={data} keyOf={({ alert }) => alert.id} />
          )
        }
      </Loaded>
    </Section>
  );
}

function Archive({ alert }: { readonly alert: CustomerAlert['alert'] }) {
  const archive = useChange('POST /v1/alerts/archive');
  return (
    <Confirm
      action="Archive"
      kind="danger"
      title={`Archive the alert ${alert.name}?`}
      run={() => archive.mutateAsync({ body: { id: alert.id } })}
    >
      <p>It watches nobody any more, this customer and all others.</p>
    </Confirm>
  );
}

/** Alerts that watch the customer, and which are in alarm. */
import type { Schemas } from '../../api/operations.gen.d.ts';
import { useApi } from '../../api/queries.ts';
import { moneyText, quantityText } from '../../format/money.ts';
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
];

export function Alerts({ customerId }: { readonly customerId: string }) {
  const query = useApi('POST /v1/customer-alerts/list', { body: { customer_id: customerId } });
  return (
    <Section title="Alerts">
      <Loaded query={query} what="alerts">
        {({ data }) =>
          data.length === 0 ? (
            <Empty>
              No alert watches this customer. <code>POST /v1/alerts/create</code> makes one.
            </Empty>
          ) : (
            <Table label="Alerts" columns={COLUMNS} rows={data} keyOf={({ alert }) => alert.id} />
          )
        }
      </Loaded>
    </Section>
  );
}

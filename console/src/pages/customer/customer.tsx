/** One customer: its usage, its upcoming invoices, the amounts left of its balances, and its terms. */
import { getRouteApi } from '@tanstack/react-router';
import { useApi, useChange } from '../../api/queries.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { CreateLink } from '../../parts/create-link.tsx';
import { CopyId, Day, Status } from '../../parts/figures.tsx';
import { Page, Tabs } from '../../parts/page.tsx';
import { Loaded } from '../../parts/states.tsx';
import { CustomFields } from '../customers/custom-fields.tsx';
import { Alerts } from './alerts.tsx';
import { Audit } from './audit.tsx';
import { Balances } from './balances.tsx';
import { Contracts } from './contracts.tsx';
import { Events } from './events.tsx';
import { InvoiceList } from './invoice-list.tsx';
import { Overview } from './overview.tsx';
import { Seats } from './seats.tsx';
import { Usage } from './usage.tsx';

const route = getRouteApi('/customers/$customerId');

const VIEWS = [
  ['overview', 'Overview'],
  ['usage', 'Usage'],
  ['balances', 'Balances'],
  ['contracts', 'Contracts'],
  ['seats', 'Seats'],
  ['invoices', 'Invoices'],
  ['events', 'Events'],
  ['alerts', 'Alerts'],
  ['audit', 'Audit'],
] as const;

const PAGES: Readonly<Record<string, (props: { readonly customerId: string }) => React.ReactNode>> = {
  overview: Overview,
  usage: Usage,
  balances: Balances,
  contracts: Contracts,
  seats: Seats,
  invoices: InvoiceList,
  events: Events,
  alerts: Alerts,
  audit: Audit,
};

export function Customer() {
  const { customerId } = route.useParams();
  const { view = 'overview' } = route.useSearch();
  const query = useApi('GET /v1/customers/{customer_id}', { params: { customer_id: customerId } });
  const customer = query.data?.data;
  const View = PAGES[view] ?? Overview;
  if (customer === undefined) {
    return (
      <Page title="Customer">
        <Loaded query={query} what="the customer">
          {() => null}
        </Loaded>
      </Page>
    );
  }
  return (
    <Page
      title={customer.name}
      about={
        <>
          {customer.archived_at === null ? null : <Status state="archived" />}
          <span className="mono">{customer.ingest_aliases.slice(0, 3).join(', ')}</span>
          <CopyId id={customer.id} />
          <span>
            since <Day at={customer.created_at} />
          </span>
          <CustomFields fields={customer.custom_fields} />
        </>
      }
      actions={customer.archived_at === null ? <Actions customer={customer} /> : null}
    >
      <Tabs label="Views of the customer" views={VIEWS} current={view} />
      <View customerId={customer.id} />
    </Page>
  );
}

type Named = { readonly id: string; readonly name: string };

function Actions({ customer }: { readonly customer: Named }) {
  const known = { customer_id: customer.id };
  return (
    <>
      <CreateLink form="charge" known={known} />
      <CreateLink form="credit" known={known} />
      <CreateLink form="contract" known={known} />
      <CreateLink form="change-customer" known={known} />
      <Archive customer={customer} />
    </>
  );
}

function Archive({
  customer: { id, name },
}: {
  readonly customer: { readonly id: string; readonly name: string };
}) {
  const archive = useChange('POST /v1/customers/archive');
  return (
    <Confirm
      action="Archive"
      kind="danger"
      title={`Archive ${name}?`}
      run={() => archive.mutateAsync({ body: { id } })}
    >
      <p>
        Its contracts are archived, and <b>all its finalized invoices are voided</b>. It cannot be undone.
      </p>
    </Confirm>
  );
}

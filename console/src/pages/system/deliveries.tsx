/** Deliveries of invoices to billing providers, by their state there. */
import { getRouteApi } from '@tanstack/react-router';
import { useApi } from '../../api/queries.ts';
import { deliveryText } from '../../format/words.ts';
import { DELIVERY_STATUSES, DeliveryTable, REFUND_DUE } from '../../parts/deliveries.tsx';
import { Field, Filters, Section } from '../../parts/page.tsx';
import { Pager } from '../../parts/pager.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';

const route = getRouteApi('/system');

export function Deliveries() {
  const { status = 'INVALID_REQUEST_ERROR', page, cursor } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useApi('GET /v1/invoices', {
    query: {
      ...(status === REFUND_DUE
        ? { refund_due: 'true', status: 'VOID' }
        : { external_status: status, status: 'FINALIZED' }),
      sort: 'date_desc',
      limit: '50',
      next_page: cursor,
    },
  });
  return (
    <Section
      title="Deliveries to billing providers"
      aside={<Pager list={`deliveries ${status}`} search={{ page, cursor }} next={query.data?.next_page} />}
    >
      <Filters>
        <Field label="State at the billing provider">
          <select
            value={status}
            onChange={({ target }) => void navigate({ search: { view: 'deliveries', status: target.value } })}
          >
            <option value={REFUND_DUE}>voided here, and paid there</option>
            {DELIVERY_STATUSES.map((each) => (
              <option key={each} value={each}>
                {deliveryText(each)}
              </option>
            ))}
          </select>
        </Field>
      </Filters>
      <Loaded query={query} what="deliveries">
        {({ data }) =>
          data.length === 0 ? (
            <Empty>
              No invoice is in this state. Invoices are delivered for customers with a billing configuration (
              <code>POST /v1/setCustomerBillingProviderConfigurations</code>).
            </Empty>
          ) : (
            <DeliveryTable label="Deliveries of invoices" invoices={data} />
          )
        }
      </Loaded>
    </Section>
  );
}

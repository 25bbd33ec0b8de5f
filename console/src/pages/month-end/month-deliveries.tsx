/** Deliveries of the month's invoices: the number in each state, and those that need attention. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { callAll } from '../../api/client.ts';
import { keyOf } from '../../api/resources.ts';
import { DeliveryState, DeliveryTable, FAILED_DELIVERIES } from '../../parts/deliveries.tsx';
import { Section } from '../../parts/page.tsx';
import { Loaded } from '../../parts/states.tsx';
import type { MonthSummary } from './month.ts';
import styles from './month-end.module.css';

type Deliveries = MonthSummary['deliveries'];

const isFailure = (status: string) => (FAILED_DELIVERIES as readonly string[]).includes(status);

export function MonthDeliveries(props: { readonly month: string; readonly deliveries: Deliveries }) {
  const { month, deliveries } = props;
  const statuses = deliveries.map(({ external_status }) => external_status).filter(isFailure);
  const failed = useQuery({
    queryKey: keyOf('GET /v1/invoices', 'failed deliveries', month, ...statuses),
    queryFn: async ({ signal }) => {
      const read = statuses.map((status) =>
        callAll(
          'GET /v1/invoices',
          { query: { month, external_status: status, status: 'FINALIZED' } },
          { signal },
        ),
      );
      return (await Promise.all(read)).flat();
    },
  });
  if (deliveries.length === 0) return null;
  return (
    <Section
      title="Deliveries to billing providers"
      aside={
        <Link to="/system" search={{ view: 'deliveries' }}>
          All deliveries
        </Link>
      }
    >
      <p className={styles.states}>
        {deliveries.map(({ external_status: status, invoice_count: count }) => (
          <span key={status} className="nowrap">
            {Number(count).toLocaleString('en-US')} <DeliveryState status={status} />
          </span>
        ))}
      </p>
      <Loaded query={failed} what="failed deliveries">
        {(invoices) =>
          invoices.length === 0 ? (
            <p className="good">✓ No delivery has failed.</p>
          ) : (
            <DeliveryTable label="Failed deliveries" invoices={invoices} />
          )
        }
      </Loaded>
    </Section>
  );
}

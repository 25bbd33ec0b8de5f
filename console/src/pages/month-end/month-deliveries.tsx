/** How the invoices of the month are delivered: how many are in which state, and those that need a person. */
import { Link } from '@tanstack/react-router';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { DeliveryState, DeliveryTable, FAILED_DELIVERIES } from '../../parts/deliveries.tsx';
import { Section } from '../../parts/page.tsx';
import styles from './month-end.module.css';

type Invoice = Schemas['Invoice'];

export function MonthDeliveries({ invoices }: { readonly invoices: readonly Invoice[] }) {
  const counts = new Map<string, number>();
  for (const { external_invoice: external } of invoices) {
    const status = external?.external_status;
    if (status !== undefined) counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  if (counts.size === 0) return null;
  const failed = invoices.filter(
    ({ external_invoice: external, status }) =>
      status !== 'VOID' && (FAILED_DELIVERIES as readonly string[]).includes(external?.external_status ?? ''),
  );
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
        {[...counts].map(([status, count]) => (
          <span key={status} className="nowrap">
            {count.toLocaleString('en-US')} <DeliveryState status={status} />
          </span>
        ))}
      </p>
      {failed.length === 0 ? (
        <p className="good">✓ No delivery has failed.</p>
      ) : (
        <DeliveryTable label="Failed deliveries" invoices={failed} />
      )}
    </Section>
  );
}

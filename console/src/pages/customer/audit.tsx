/** The changes of the customer itself, and their authors. */
import { useApi } from '../../api/queries.ts';
import { AuditTable } from '../../parts/audit-table.tsx';
import { Section } from '../../parts/page.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';

export function Audit({ customerId }: { readonly customerId: string }) {
  const query = useApi('GET /v1/auditLogs', {
    query: { resource_type: 'customer', resource_id: customerId, sort: 'date_desc', limit: '100' },
  });
  return (
    <Section title="Audit log of the customer">
      <Loaded query={query} what="the audit log">
        {({ data }) =>
          data.length === 0 ? (
            <Empty>The customer itself was never changed.</Empty>
          ) : (
            <AuditTable entries={data} />
          )
        }
      </Loaded>
    </Section>
  );
}

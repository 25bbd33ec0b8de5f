/** The audit log with filters, the newest rows first. */
import { getRouteApi } from '@tanstack/react-router';
import { type FormEvent, useId } from 'react';
import { useApi } from '../../api/queries.ts';
import { AuditTable } from '../../parts/audit-table.tsx';
import { Field, Filters, Section } from '../../parts/page.tsx';
import { Pager } from '../../parts/pager.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';

const route = getRouteApi('/system');
const PAGE_ROWS = 50;

export function AuditLog() {
  const { from, to, type, id, page, cursor } = route.useSearch();
  const day = (text: string | undefined) => (text === undefined ? undefined : `${text}T00:00:00Z`);
  const query = useApi('GET /v1/auditLogs', {
    query:
      cursor === undefined
        ? {
            sort: 'date_desc',
            limit: String(PAGE_ROWS),
            starting_on: day(from),
            ending_before: day(to),
            resource_type: type,
            resource_id: id,
          }
        : { limit: String(PAGE_ROWS), next_page: cursor },
  });
  // The log has no last page: a short page is the end.
  const next = query.data?.data.length === PAGE_ROWS ? query.data.next_page : null;
  return (
    <Section
      title="Audit log"
      aside={<Pager list={`audit ${from} ${to} ${type} ${id}`} search={{ page, cursor }} next={next} />}
    >
      <AuditFilters />
      <Loaded query={query} what="the audit log">
        {({ data }) =>
          data.length === 0 ? <Empty>No changes in this time range.</Empty> : <AuditTable entries={data} />
        }
      </Loaded>
    </Section>
  );
}

function AuditFilters() {
  const { from, to, type, id } = route.useSearch();
  const navigate = route.useNavigate();
  const formId = useId();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const sent = new FormData(event.currentTarget);
    const text = (name: string) => String(sent.get(name) ?? '').trim();
    void navigate({
      search: { view: 'audit', from: text('from'), to: text('to'), type: text('type'), id: text('id') },
    });
  };
  return (
    <form id={formId} onSubmit={submit}>
      <Filters>
        <Field label="From (UTC)">
          <input type="date" name="from" defaultValue={from ?? ''} />
        </Field>
        <Field label="Before (UTC)">
          <input type="date" name="to" defaultValue={to ?? ''} />
        </Field>
        <Field label="Kind of object">
          <input name="type" defaultValue={type ?? ''} placeholder="invoice, contract, …" />
        </Field>
        <Field label="Its id">
          <input name="id" defaultValue={id ?? ''} size={38} />
        </Field>
        <button type="submit">Run</button>
      </Filters>
    </form>
  );
}

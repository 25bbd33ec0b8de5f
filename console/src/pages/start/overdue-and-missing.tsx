/** Overdue invoices, and customers whose events have stopped. */
import { Link } from '@tanstack/react-router';
import { Fragment, type ReactNode } from 'react';
import { useApi } from '../../api/queries.ts';
import { dayText } from '../../format/time.ts';
import { countText } from '../../format/words.ts';
import type { Look } from './look.ts';

const COUNTED = '100';
const NAMED = 3;

/** Customers that sent events on each of seven days, and none for at least a day. */
export function useMissingEvents(): Look {
  const query = useApi('GET /v1/events/missing', { query: { limit: COUNTED } }, { staleTime: 5 * 60_000 });
  const found = query.data?.data ?? [];
  const isMore = query.data?.next_page != null;
  const named = found.slice(0, NAMED).map(({ customer_id, customer_name, last_timestamp }) => (
    <Fragment key={customer_id}>
      <Link to="/customers/$customerId" params={{ customerId: customer_id }} search={{ view: 'usage' }}>
        {customer_name}
      </Link>{' '}
      (last on {dayText(last_timestamp)})
    </Fragment>
  ));
  const text = (
    <>
      {isMore ? 'more than ' : ''}
      {countText(found.length, 'customer', 'customers')} sent events every day and then none: {listed(named)}
      {found.length > NAMED || isMore ? ', …' : ''}. Ask whether their sender runs.
    </>
  );
  return { at: 'missing usage', query, matters: found.length === 0 ? [] : [{ key: 'missing events', text }] };
}

/** Unpaid invoices whose due date has passed. */
export function useOverdue(): Look {
  const query = useApi(
    'GET /v1/invoices',
    { query: { overdue: 'true', limit: COUNTED, sort: 'date_asc' } },
    { staleTime: 60_000 },
  );
  const found = query.data?.data ?? [];
  const isMore = query.data?.next_page != null;
  const named = found.slice(0, NAMED).map(({ id, customer_id, customer_name, invoice_number, due_at }) => (
    <Fragment key={id}>
      <Link to="/invoices/$customerId/$invoiceId" params={{ customerId: customer_id, invoiceId: id }}>
        {invoice_number ?? id.slice(0, 8)}
      </Link>{' '}
      of {customer_name ?? customer_id}
      {due_at === undefined ? '' : `, due on ${dayText(due_at)}`}
    </Fragment>
  ));
  const text = (
    <>
      {isMore ? 'more than ' : ''}
      {countText(found.length, 'invoice is', 'invoices are')} overdue: {listed(named, '; ')}
      {found.length > NAMED || isMore ? '; …' : ''}
    </>
  );
  return { at: 'overdue invoices', query, matters: found.length === 0 ? [] : [{ key: 'overdue', text }] };
}

function listed(parts: readonly ReactNode[], between = ', '): ReactNode {
  return parts.map((part, index) => [index === 0 ? '' : between, part]);
}

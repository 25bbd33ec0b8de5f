/** The tasks that need a person, each with the way to it. Nothing is listed that is in order. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { call, callAll } from '../../api/client.ts';
import { useApi } from '../../api/queries.ts';
import { intervalOf, monthAfter, monthOf, monthText } from '../../format/time.ts';
import { FAILED_DELIVERIES } from '../../parts/deliveries.tsx';
import { readLateInvoices } from '../../parts/late-usage.ts';
import { Fact, Facts, Section } from '../../parts/page.tsx';
import { Failure, Loading } from '../../parts/states.tsx';
import { useSession } from '../../session/session.ts';
import styles from './needs-person.module.css';

const REFRESH_MS = 15_000;
const WARNED_MAX = '100';

interface Matter {
  readonly key: string;
  readonly text: ReactNode;
}

export function NeedsPerson() {
  const matters = [
    ...useDamage(),
    ...useJobs(),
    ...useWarnings(),
    ...useLateUsage(),
    ...useDeliveries(),
    ...useWebhooks(),
  ];
  return (
    <Section title="Needs a person">
      {matters.length === 0 ? (
        <p className="good">✓ Nothing at present.</p>
      ) : (
        <ul className={styles.matters}>
          {matters.map(({ key, text }) => (
            <li key={key}>{text}</li>
          ))}
        </ul>
      )}
    </Section>
  );
}

/** The faults of `/readyz`: damaged data, a store that does not answer, a full disk. */
function useDamage(): Matter[] {
  const { data } = useQuery({
    queryKey: ['ready'],
    refetchInterval: REFRESH_MS,
    queryFn: () =>
      call('GET /readyz', {}).then(
        () => null,
        (error: Error) => error.message,
      ),
  });
  return data == null ? [] : [{ key: 'ready', text: <span className="bad">{data}</span> }];
}

function useJobs(): Matter[] {
  const { data } = useApi('GET /v1/system/status', {}, { refetchInterval: REFRESH_MS });
  const jobs = data?.data.jobs ?? [];
  const failing = jobs.reduce((all, each) => all + Number(each.failing), 0);
  const overdue = jobs.reduce((all, each) => all + Number(each.overdue), 0);
  return [
    ...(failing === 0
      ? []
      : [
          {
            key: 'failing',
            text: <Link to="/system">{countText(failing, 'job has failed', 'jobs have failed')}</Link>,
          },
        ]),
    ...(overdue === 0
      ? []
      : [
          {
            key: 'overdue',
            text: <Link to="/system">{countText(overdue, 'job is overdue', 'jobs are overdue')}</Link>,
          },
        ]),
  ];
}

/** Usage that no invoice bills: drafts and issued invoices of the present and the last month with warnings. */
function useWarnings(): Matter[] {
  const { now } = useSession();
  const month = monthOf(now);
  const issued = useApi('GET /v1/invoices', {
    query: {
      has_warnings: 'true',
      limit: WARNED_MAX,
      starting_on: `${monthAfter(month, -1)}-01T00:00:00Z`,
      status: 'FINALIZED',
    },
  });
  const drafts = useQuery({
    queryKey: ['warned drafts'],
    staleTime: 60_000,
    queryFn: ({ signal }) =>
      callAll(
        'GET /v1/invoices',
        { query: { has_warnings: 'true', limit: WARNED_MAX, status: 'DRAFT' } },
        { signal },
      ),
  });
  const matter = (key: string, count: number, of: string, text: string): Matter[] =>
    count === 0
      ? []
      : [
          {
            key,
            text: (
              <Link to="/month-end" search={{ month: of, show: 'warnings' }}>
                {countText(count, `${text} has`, `${text}s have`)} warnings: usage is not billed
              </Link>
            ),
          },
        ];
  return [
    ...matter('drafts', drafts.data?.length ?? 0, month, 'draft'),
    ...matter(
      'issued',
      issued.data?.data.length ?? 0,
      monthAfter(month, -1),
      `invoice since ${monthText(monthAfter(month, -1))}`,
    ),
  ];
}

/** Usage of the last two months that came after its invoice. */
function useLateUsage(): Matter[] {
  const { now } = useSession();
  const month = monthOf(now);
  const former = monthAfter(month, -1);
  const interval = {
    starting_on: intervalOf(former).starting_on,
    ending_before: intervalOf(month).ending_before,
  };
  const { data } = useQuery({
    queryKey: ['late usage', interval],
    staleTime: 60_000,
    queryFn: ({ signal }) => readLateInvoices(interval, signal),
  });
  if (data === undefined || data.length === 0) return [];
  return [
    {
      key: 'late',
      text: (
        <Link to="/month-end" search={{ month: former, show: 'late' }}>
          {countText(data.length, 'invoice misses', 'invoices miss')} usage that came after it was issued
        </Link>
      ),
    },
  ];
}

const DELIVERIES_COUNTED = '100';

/** Invoices that a billing provider has refused, whose payment has failed, or whose draft was deleted there. */
function useDeliveries(): Matter[] {
  const { data } = useQuery({
    queryKey: ['failed deliveries'],
    staleTime: 60_000,
    queryFn: async ({ signal }) =>
      await Promise.all(
        FAILED_DELIVERIES.map(async (status) => {
          const query = { external_status: status, status: 'FINALIZED', limit: DELIVERIES_COUNTED };
          const found = await call('GET /v1/invoices', { query }, signal);
          return { status, count: found.data.length, isMore: found.next_page !== null };
        }),
      ),
  });
  return (data ?? [])
    .filter(({ count }) => count > 0)
    .map(({ status, count, isMore }) => ({
      key: `delivery ${status}`,
      text: (
        <Link to="/system" search={{ view: 'deliveries', status }}>
          {isMore ? 'more than ' : ''}
          {countText(count, 'delivery of an invoice is', 'deliveries of invoices are')}{' '}
          {status.toLowerCase().replaceAll('_', ' ')}
        </Link>
      ),
    }));
}

/** Webhooks with messages that nobody has acknowledged. Only a token of scope write sees them. */
function useWebhooks(): Matter[] {
  const { scope } = useSession();
  const { data } = useQuery({
    enabled: scope === 'write',
    queryKey: ['failing webhooks'],
    refetchInterval: REFRESH_MS,
    async queryFn({ signal }) {
      const { data: webhooks } = await call('GET /v1/webhooks', { query: { limit: '100' } }, signal);
      const read = webhooks
        .filter(({ archived_at }) => archived_at === null)
        .map(async ({ id, name }) => {
          const deliveries = await Promise.all(
            ['FAILED', 'PENDING'].map((status) =>
              call(
                'GET /v1/webhooks/{webhook_id}/deliveries',
                { params: { webhook_id: id }, query: { status, limit: '25' } },
                signal,
              ),
            ),
          );
          const failing = deliveries
            .flatMap((each) => each.data)
            .filter(({ attempts }) => Number(attempts) > 0);
          return { id, name, failing: failing.length };
        });
      return (await Promise.all(read)).filter(({ failing }) => failing > 0);
    },
  });
  return (data ?? []).map(({ id, name, failing }) => ({
    key: `webhook ${id}`,
    text: (
      <Link to="/system" search={{ view: 'webhooks', webhook: id }}>
        Webhook {name}: {countText(failing, 'message is', 'messages are')} not acknowledged
      </Link>
    ),
  }));
}

function countText(count: number, one: string, many: string): string {
  return count === 1 ? `1 ${one}` : `${count.toLocaleString('en-US')} ${many}`;
}

/** Invoices by state, from the answers of SQL: drafts are computed, so their number comes from their contracts. */
export function InvoiceStates() {
  const sql = 'SELECT invoice_status, COUNT(*) AS invoices_made FROM invoices GROUP BY invoice_status';
  const issued = useApi('POST /v1/sql', { body: { sql } }, { staleTime: 60_000 });
  const drafts = useQuery({
    queryKey: ['drafts'],
    staleTime: 5 * 60_000,
    queryFn: ({ signal }) =>
      callAll('GET /v1/invoices', { query: { limit: '100', status: 'DRAFT' } }, { signal }).then(
        ({ length }) => length,
      ),
  });
  if (issued.isError) return <Failure error={issued.error} again={() => void issued.refetch()} />;
  if (issued.data === undefined) return <Loading what="invoices" />;
  const counts = new Map(
    issued.data.data.map((row) => [String(row.invoice_status), String(row.invoices_made)]),
  );
  return (
    <Facts>
      <Fact label="Drafts">{drafts.data?.toLocaleString('en-US') ?? <span role="status">…</span>}</Fact>
      <Fact label="Finalized">{counts.get('FINALIZED') ?? '0'}</Fact>
      <Fact label="Void">{counts.get('VOID') ?? '0'}</Fact>
    </Facts>
  );
}

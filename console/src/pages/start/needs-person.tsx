/** The tasks that need attention, each with a link. Only problems are listed. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { call } from '../../api/client.ts';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { useApi } from '../../api/queries.ts';
import { keyOf } from '../../api/resources.ts';
import { monthAfter, monthOf, monthOfInvoice, monthText } from '../../format/time.ts';
import { countText, deliveryCountText } from '../../format/words.ts';
import { FAILED_DELIVERIES, REFUND_DUE } from '../../parts/deliveries.tsx';
import { readLateInvoices } from '../../parts/late-usage.ts';
import { Section } from '../../parts/page.tsx';
import { Failure } from '../../parts/states.tsx';
import { useSession } from '../../session/session.ts';
import type { Look, Matter } from './look.ts';

import styles from './needs-person.module.css';
import { useMissingEvents, useOverdue } from './overdue-and-missing.tsx';
import { useMissingPrices } from './price-lines.tsx';
import { useWarnedDrafts } from './warned-drafts.ts';

const REFRESH_MS = 15_000;
const WARNED_MAX = '100';
const UNMATCHED_SHOWN = '100';
const NAMES_SHOWN = 3;

export function NeedsPerson() {
  const looks = [
    useDamage(),
    useJobs(),
    useMissingPrices(),
    ...useWarnings(),
    ...useLateUsage(),
    useUnmatchedEvents(),
    useMissingEvents(),
    useDeliveries(),
    useFailingDeliveries(),
    useOverdue(),
    useWebhooks(),
  ];
  const matters = looks.flatMap((look) => look.matters);
  const failed = looks.filter(({ query }) => query.isError);
  const isLooking = looks.some(({ query }) => query.isLoading);
  return (
    <Section title="Needs a person">
      {matters.length === 0 ? null : (
        <ul className={styles.matters}>
          {matters.map(({ key, text }) => (
            <li key={key}>{text}</li>
          ))}
        </ul>
      )}
      {failed.map(({ at, query }) => (
        <Failure
          key={at}
          error={new Error(`Not known: ${at}. ${query.error?.message ?? ''}`)}
          again={() => void query.refetch()}
        />
      ))}
      {isLooking ? (
        <p role="status">Looking…</p>
      ) : matters.length === 0 && failed.length === 0 ? (
        <p className="good">✓ Nothing at present.</p>
      ) : null}
    </Section>
  );
}

/** The problems of `/readyz`: damaged data, a store that does not respond, a full disk. */
function useDamage(): Look {
  const query = useQuery({
    queryKey: keyOf('GET /readyz'),
    refetchInterval: REFRESH_MS,
    queryFn: () =>
      call('GET /readyz', {}).then(
        () => null,
        (error: Error) => error.message,
      ),
  });
  const text = query.data ?? null;
  const matters = text === null ? [] : [{ key: 'ready', text: <span className="bad">{text}</span> }];
  return { at: 'the state of the service', query, matters };
}

function useJobs(): Look {
  const query = useApi('GET /v1/system/status', {}, { refetchInterval: REFRESH_MS });
  const jobs = query.data?.data.jobs ?? [];
  const failing = jobs.reduce((all, each) => all + Number(each.failing), 0);
  const overdue = jobs.reduce((all, each) => all + Number(each.overdue), 0);
  const matter = (key: string, count: number, one: string, many: string): Matter[] =>
    count === 0 ? [] : [{ key, text: <Link to="/system">{countText(count, one, many)}</Link> }];
  const matters = [
    ...matter('failing', failing, 'job has failed', 'jobs have failed'),
    ...matter('overdue', overdue, 'job is overdue', 'jobs are overdue'),
  ];
  return { at: 'jobs', query, matters };
}

/**
 * Counts by the month of the invoices, the first month first. A consolidated invoice repeats the warnings of others.
 */
function countByMonth(invoices: readonly Schemas['Invoice'][]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const invoice of invoices) {
    if (invoice.type === 'USAGE_CONSOLIDATED') continue;
    const month = monthOfInvoice(invoice);
    counts.set(month, (counts.get(month) ?? 0) + 1);
  }
  return [...counts].sort(([one], [other]) => (one < other ? -1 : 1));
}

/** Usage that no invoice bills: drafts, and issued invoices of the current and the last month, with warnings. */
function useWarnings(): Look[] {
  const { now } = useSession();
  const month = monthOf(now);
  const months = [monthAfter(month, -1), month];
  const issued = useQuery({
    queryKey: keyOf('GET /v1/invoices', 'warned', month),
    queryFn: async ({ signal }) => {
      const pages = months.map((of) => {
        const query = { has_warnings: 'true', limit: WARNED_MAX, month: of, status: 'FINALIZED' };
        return call('GET /v1/invoices', { query }, signal);
      });
      return (await Promise.all(pages)).flatMap(({ data }) => data);
    },
  });
  const drafts = useWarnedDrafts();
  const matters = (key: string, warned: readonly Schemas['Invoice'][], one: string): Matter[] =>
    countByMonth(warned).map(([of, count]) => ({
      key: `${key} ${of}`,
      text: (
        <Link to="/month-end" search={{ month: of, show: 'warnings' }}>
          {countText(count, `${one} of ${monthText(of)} has`, `${one}s of ${monthText(of)} have`)} warnings:
          usage is not billed
        </Link>
      ),
    }));
  return [
    { at: 'warnings of drafts', query: drafts, matters: matters('drafts', drafts.data ?? [], 'draft') },
    { at: 'warnings of invoices', query: issued, matters: matters('issued', issued.data ?? [], 'invoice') },
  ];
}

/** Usage of this month and the last one that arrived after its invoice. */
function useLateUsage(): Look[] {
  const { now } = useSession();
  const month = monthOf(now);
  return [useLateUsageOf(monthAfter(month, -1)), useLateUsageOf(month)];
}

function useLateUsageOf(month: string): Look {
  const query = useQuery({
    queryKey: keyOf('GET /v1/late-usage', month),
    staleTime: 60_000,
    queryFn: ({ signal }) => readLateInvoices(month, signal),
  });
  const count = query.data?.length ?? 0;
  const text = (
    <Link to="/month-end" search={{ month, show: 'late' }}>
      {countText(count, `invoice of ${monthText(month)} misses`, `invoices of ${monthText(month)} miss`)}{' '}
      usage that came after {count === 1 ? 'it was' : 'they were'} issued
    </Link>
  );
  const matters = count === 0 ? [] : [{ key: `late ${month}`, text }];
  return { at: `usage after invoices of ${monthText(month)}`, query, matters };
}

/** Usage that was sent for unknown customer ids. */
function useUnmatchedEvents(): Look {
  const query = useApi(
    'GET /v1/events/unmatched',
    { query: { limit: UNMATCHED_SHOWN } },
    { staleTime: 5 * 60_000 },
  );
  const found = query.data?.data ?? [];
  const events = found.reduce((all, one) => all + Number(one.events), 0);
  const names = found.slice(0, NAMES_SHOWN).map(({ customer_id }) => customer_id);
  const isMore = query.data?.next_page != null;
  const text = (
    <Link to="/events">
      {isMore ? 'more than ' : ''}
      {countText(events, 'event belongs', 'events belong')} to no customer: {names.join(', ')}
      {found.length > names.length || isMore ? ', …' : ''}
    </Link>
  );
  return { at: 'events of nobody', query, matters: found.length === 0 ? [] : [{ key: 'unmatched', text }] };
}

const DELIVERIES_COUNTED = '100';

/** Invoices that a billing provider refused, whose payment failed, or whose draft was deleted there. */
function useDeliveries(): Look {
  const query = useQuery({
    queryKey: keyOf('GET /v1/invoices', 'failed deliveries'),
    staleTime: 60_000,
    queryFn: async ({ signal }) =>
      await Promise.all(
        [...FAILED_DELIVERIES, REFUND_DUE].map(async (status) => {
          const of =
            status === REFUND_DUE
              ? { refund_due: 'true', status: 'VOID' }
              : { external_status: status, status: 'FINALIZED' };
          const query = { ...of, limit: DELIVERIES_COUNTED };
          const found = await call('GET /v1/invoices', { query }, signal);
          return { status, count: found.data.length, isMore: found.next_page !== null };
        }),
      ),
  });
  const matters = (query.data ?? [])
    .filter(({ count }) => count > 0)
    .map(({ status, count, isMore }) => ({
      key: `delivery ${status}`,
      text: (
        <Link to="/system" search={{ view: 'deliveries', status }}>
          {isMore ? 'more than ' : ''}
          {status === REFUND_DUE
            ? `${countText(count, 'voided invoice was paid', 'voided invoices were paid')}: a refund is due`
            : deliveryCountText(status, count)}
        </Link>
      ),
    }));
  return { at: 'deliveries of invoices', query, matters };
}

/** Invoices whose delivery has been tried for more than an hour, by the reason. */
function useFailingDeliveries(): Look {
  const query = useApi('GET /v1/system/failedJobs', {}, { refetchInterval: REFRESH_MS });
  const byReason = new Map<string, number>();
  for (const { invoice_id, last_error } of query.data?.data ?? []) {
    if (invoice_id === null) continue;
    const reason = last_error ?? 'without a reason';
    byReason.set(reason, (byReason.get(reason) ?? 0) + 1);
  }
  const matters = [...byReason].map(([reason, count]) => ({
    key: `failing ${reason}`,
    text: (
      <>
        <Link to="/system">
          {countText(count, 'invoice has', 'invoices have')} been tried for over an hour
        </Link>
        : {reason}
      </>
    ),
  }));
  return { at: 'deliveries that fail', query, matters };
}

/** Webhooks with unacknowledged messages. Visible only to a token of scope write. */
function useWebhooks(): Look {
  const { scope } = useSession();
  const query = useQuery({
    enabled: scope === 'write',
    queryKey: keyOf('GET /v1/webhooks/{webhook_id}/deliveries', 'failing'),
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
  const matters = (query.data ?? []).map(({ id, name, failing }) => ({
    key: `webhook ${id}`,
    text: (
      <Link to="/system" search={{ view: 'webhooks', webhook: id }}>
        Webhook {name}: {countText(failing, 'message is', 'messages are')} not acknowledged
      </Link>
    ),
  }));
  return { at: 'webhooks', query, matters };
}

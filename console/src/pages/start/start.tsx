/** The start page: arriving events, revenue, running work, and the tasks that need attention. */
import { Link } from '@tanstack/react-router';
import Big from 'big.js';
import { useMemo } from 'react';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { useApi } from '../../api/queries.ts';
import { quantityText } from '../../format/money.ts';
import { Chart } from '../../parts/chart.tsx';
import { Ago } from '../../parts/figures.tsx';
import { Fact, Facts, Page, Section } from '../../parts/page.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { useSession } from '../../session/session.ts';
import { InvoiceStates } from './invoice-states.tsx';
import { NeedsPerson } from './needs-person.tsx';
import { Revenue } from './revenue.tsx';

const REFRESH_MS = 5_000;

export function Start() {
  return (
    <Page title="Start" about={<LastEvent />}>
      <NeedsPerson />
      <Section title="Invoices by state" aside={<Link to="/month-end">Month end</Link>}>
        <InvoiceStates />
      </Section>
      <Revenue />
      <EventsByDay />
    </Page>
  );
}

function LastEvent() {
  const { offsetMs } = useSession();
  const { data } = useApi('GET /v1/system/status', {}, { refetchInterval: REFRESH_MS });
  if (data === undefined) return <span> </span>;
  const { last_at } = data.data.events;
  return (
    <span>
      {last_at === null ? (
        'No event came within the last day'
      ) : (
        <>
          Last event <Ago at={last_at} offsetMs={offsetMs} />
        </>
      )}
      . All times are UTC.
    </span>
  );
}

const SECONDS_A_MINUTE = 60;

/** Events by the day of their timestamps. */
function EventsByDay() {
  const days = useApi('GET /v1/events/days', {}, { staleTime: 60_000 });
  const status = useApi('GET /v1/system/status', {}, { refetchInterval: REFRESH_MS });
  return (
    <Section title="Events" aside={<Link to="/system">Ingest and jobs</Link>}>
      {status.data === undefined ? null : (
        <Facts>
          <Fact label="Events a second" note="in the last minute">
            {rateText(status.data.data.events.last_minute)}
          </Fact>
          <Fact label="Events in 24 hours" note="of the last two days">
            {quantityText(status.data.data.events.last_day)}
          </Fact>
        </Facts>
      )}
      <Loaded query={days} what="events by day">
        {({ data }) => <DayChart days={data} />}
      </Loaded>
    </Section>
  );
}

function DayChart({ days }: { readonly days: readonly Schemas['EventsOfDay'][] }) {
  const starts = useMemo(() => days.map(({ starting_on }) => starting_on), [days]);
  const series = useMemo(
    () => [{ key: 'events', label: 'events', values: days.map(({ events }) => new Big(events)) }],
    [days],
  );
  if (days.every(({ events }) => Number(events) === 0)) {
    return (
      <Empty>
        No event happened in the last {days.length} days. <code>POST /v1/ingest</code> takes them;{' '}
        <code>npm run demo</code> sends a month of them.
      </Empty>
    );
  }
  return (
    <Chart
      label="Events by day"
      kind="bars"
      window="day"
      size="small"
      starts={starts}
      series={series}
      text={(value) => quantityText(value)}
    />
  );
}

function rateText(lastMinute: string): string {
  return quantityText(new Big(lastMinute).div(SECONDS_A_MINUTE).round(1));
}

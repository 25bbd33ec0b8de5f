/** The start page: arriving events, revenue, running work, and the tasks that need attention. */
import { Link } from '@tanstack/react-router';
import Big from 'big.js';
import { useMemo } from 'react';
import { useApi } from '../../api/queries.ts';
import { quantityText } from '../../format/money.ts';
import { daysOf } from '../../format/time.ts';
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

const DAYS = 30;
const DAY_MS = 86_400_000;
const SECONDS_A_MINUTE = 60;

/** Events by the day of their timestamps. */
function EventsByDay() {
  const { now } = useSession();
  const end = Math.floor(Date.parse(now) / DAY_MS) * DAY_MS + DAY_MS;
  const interval = {
    starting_on: new Date(end - DAYS * DAY_MS).toISOString(),
    ending_before: new Date(end).toISOString(),
  };
  const sql = `SELECT DATE_TRUNC('day', timestamp) AS day, COUNT(*) AS sent FROM events
    WHERE timestamp >= '${interval.starting_on}' AND timestamp < '${interval.ending_before}' GROUP BY day ORDER BY day`;
  const days = useApi('POST /v1/sql', { body: { sql } }, { staleTime: 60_000 });
  const status = useApi('GET /v1/system/status', {}, { refetchInterval: REFRESH_MS });
  const starts = daysOf(interval);
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
        {({ data }) => <DayChart starts={starts} rows={data} />}
      </Loaded>
    </Section>
  );
}

function DayChart(props: {
  readonly starts: readonly string[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}) {
  const key = props.starts.join();
  const starts = useMemo(() => key.split(','), [key]);
  const { rows } = props;
  const series = useMemo(() => {
    const counts = new Map(rows.map(({ day, sent }) => [Date.parse(String(day)), new Big(String(sent))]));
    const values = starts.map((start) => counts.get(Date.parse(start)) ?? new Big(0));
    return [{ key: 'events', label: 'events', values }];
  }, [rows, starts]);
  if (rows.length === 0) {
    return (
      <Empty>
        No event happened in the last {DAYS} days. <code>POST /v1/ingest</code> takes them;{' '}
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

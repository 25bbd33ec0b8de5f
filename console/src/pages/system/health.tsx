/** The current state of ingest and jobs. */
import { useQuery } from '@tanstack/react-query';
import { useRef } from 'react';
import { callFile } from '../../api/client.ts';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { useApi } from '../../api/queries.ts';
import { keyOf } from '../../api/resources.ts';
import { FailedJobs } from '../../parts/failed-jobs.tsx';
import { Ago, Time } from '../../parts/figures.tsx';
import { Fact, Facts, Section } from '../../parts/page.tsx';
import { Loaded } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { useSession } from '../../session/session.ts';
import { figureOf, parseMetrics, quantileOf, type Sample } from './metrics-text.ts';

const REFRESH_MS = 5_000;
const LATENCY = 'tallyhouse_http_request_duration_seconds';
const INGEST = '/v1/ingest';

export function Health() {
  return (
    <>
      <Ingest />
      <Section title="Jobs that have failed">
        <FailedJobs none="No job has failed." />
      </Section>
      <Section title="Jobs that are due">
        <Queue />
      </Section>
    </>
  );
}

interface Measured {
  readonly at: number;
  readonly samples: readonly Sample[];
}

/** Metrics of the answering process, read twice, so that rates can be computed. */
function useMetrics(): { readonly last: Measured; readonly rate: number | null } | undefined {
  const before = useRef<Measured | null>(null);
  const { data } = useQuery({
    queryKey: keyOf('GET /metrics'),
    refetchInterval: REFRESH_MS,
    async queryFn(): Promise<Measured> {
      const file = await callFile('GET /metrics', {}, 'text/plain');
      return { at: performance.now(), samples: parseMetrics(await file.text()) };
    },
    structuralSharing: false,
  });
  if (data === undefined) return undefined;
  const former = before.current;
  if (former !== data) before.current = data;
  const accepted = ({ samples }: Measured) => figureOf(samples, 'tallyhouse_events_accepted_total');
  const rate =
    former === null || former === data
      ? null
      : ((accepted(data) - accepted(former)) * 1_000) / (data.at - former.at);
  return { last: data, rate };
}

function Ingest() {
  const { offsetMs } = useSession();
  const status = useApi('GET /v1/system/status', {}, { refetchInterval: REFRESH_MS });
  const metrics = useMetrics();
  return (
    <Section title="Ingest" aside={<span className="soft small">figures of the process that answers</span>}>
      <Loaded query={status} what="the status">
        {({ data: { events } }) => (
          <Facts>
            <Fact label="Last event">
              {events.last_at === null ? 'none today' : <Ago at={events.last_at} offsetMs={offsetMs} />}
            </Fact>
            <Fact label="Events in the last minute">
              {Number(events.last_minute).toLocaleString('en-US')}
            </Fact>
            <Fact label="Events in 24 hours" note="of the last two days">
              {Number(events.last_day).toLocaleString('en-US')}
            </Fact>
            {metrics === undefined ? null : <ProcessFigures {...metrics} />}
            <Fact label="Window of ids" note="how far back events are accepted">
              {events.window_days} days
            </Fact>
          </Facts>
        )}
      </Loaded>
    </Section>
  );
}

const MB = 1_048_576;

function ProcessFigures({
  last: { samples },
  rate,
}: {
  readonly last: Measured;
  readonly rate: number | null;
}) {
  const figure = (name: string) => figureOf(samples, name).toLocaleString('en-US');
  return (
    <>
      <Fact label="Events a second" note="since the last look">
        {rate === null ? '–' : rate.toLocaleString('en-US', { maximumFractionDigits: 1 })}
      </Fact>
      <Fact label="Latency of ingest" note="p50 and p99 at most, since the start">
        {msText(quantileOf(samples, LATENCY, INGEST, 0.5))},{' '}
        {msText(quantileOf(samples, LATENCY, INGEST, 0.99))}
      </Fact>
      <Fact
        label="Known ids"
        note={`${(figureOf(samples, 'tallyhouse_known_transaction_ids_bytes') / MB).toFixed(1)} MB of memory`}
      >
        {figure('tallyhouse_known_transaction_ids')}
      </Fact>
      <Fact label="Repeats dropped" note="since the start">
        {figure('tallyhouse_events_duplicate_total')}
      </Fact>
    </>
  );
}

function msText(seconds: number | null): string {
  if (seconds === null) return '–';
  return Number.isFinite(seconds) ? `${(seconds * 1_000).toLocaleString('en-US')} ms` : 'above 10 s';
}

type Kind = Schemas['SystemStatus']['jobs'][number];

const COLUMNS: readonly Column<Kind>[] = [
  { title: 'Kind', cell: ({ kind }) => kind.replaceAll('_', ' ') },
  { title: 'Due', kind: 'number', cell: ({ due }) => due },
  { title: 'Overdue', kind: 'number', cell: ({ overdue }) => overdue },
  { title: 'Failing', kind: 'number', cell: ({ failing }) => failing },
  {
    title: 'Oldest failing',
    cell: ({ oldest_failing }) => (oldest_failing === null ? '' : <Time at={oldest_failing} />),
  },
];

function Queue() {
  const status = useApi('GET /v1/system/status', {}, { refetchInterval: REFRESH_MS });
  return (
    <Loaded query={status} what="the queue">
      {({ data: { jobs } }) =>
        jobs.length === 0 ? (
          <p className="good">✓ Nothing is due.</p>
        ) : (
          <Table label="Jobs by kind" columns={COLUMNS} rows={jobs} keyOf={({ kind }) => kind} />
        )
      }
    </Loaded>
  );
}

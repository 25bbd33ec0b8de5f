/**
 * The cost of a CloudEvent beside an event of `POST /v1/ingest`: the same events in both forms, in turns, each load on
 * a separate service. The share of CPU time is compared, because it depends least on other work of the machine.
 */
import { type Measurement, measure, microsecondsPerEvent, type Run } from './ingest.ts';
import { table } from './report.ts';
import { startTemporaryService } from './temporary-service.ts';

const ROUNDS = 3;
const FORMS = ['events', 'cloudevents'] as const;

function runOf(form: (typeof FORMS)[number]): Run {
  return { name: form, form, connections: 128, eventsPerSecond: 0, eventsPerRequest: 100, target: '' };
}

/** Loads a service with either form in turns and returns the report. `seconds` is the length of each. */
export async function benchCloudEvents(seconds: number): Promise<string> {
  const rows: string[][] = [];
  const shares: number[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const costs: number[] = [];
    for (const form of FORMS) {
      const measured = await loaded(runOf(form), seconds);
      costs.push(Number(microsecondsPerEvent(measured)));
      rows.push(rowOf(round, measured));
    }
    const [event = Number.NaN, cloudEvent = Number.NaN] = costs;
    shares.push(cloudEvent / event);
  }
  const median = shares.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? Number.NaN;
  const header = ['round', 'form', 'events/s', 'p99 ms', 'failed requests', 'CPU µs/event', 'bytes/event'];
  return `${table(header, rows)}\n\nA CloudEvent costs ${median.toFixed(2)} × an event of POST /v1/ingest (median of ${ROUNDS}; target 1.3).`;
}

async function loaded(run: Run, seconds: number): Promise<Measurement> {
  const service = await startTemporaryService();
  try {
    return await measure(service, run, seconds);
  } finally {
    await service.close();
  }
}

function rowOf(round: number, measured: Measurement): string[] {
  const { run, load } = measured;
  return [
    String(round),
    run.name,
    Math.round(load.accepted / load.seconds).toLocaleString('en-US'),
    load.latencyMs.p99.toFixed(1),
    String(load.failures),
    microsecondsPerEvent(measured),
    load.bytesPerEvent.toFixed(0),
  ];
}

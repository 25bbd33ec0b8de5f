/** The figures of `/metrics` that come from the parts of the service. */
import { deliveryMeasures } from '../../api/http/delivery-measures.ts';
import { evaluationMeasures } from '../../api/http/evaluation-measures.ts';
import { holdMeasures } from '../../api/http/hold-measures.ts';
import type { RegisterMeasures } from '../../api/http/metrics.ts';
import {
  backupMeasures,
  ingestMeasures,
  invoiceLifeMeasures,
  invoiceMeasures,
  jobMeasures,
  knownIdMeasures,
  laneMeasures,
  lossMeasures,
  mechanismMeasures,
  repeatMeasures,
  retentionMeasures,
  spanMeasures,
  unmatchedMeasures,
} from '../../api/http/service-measures.ts';
import { webhookMeasures } from '../../api/http/webhook-measures.ts';
import type { Holds } from '../../billing/holds/holds.ts';
import type { InvoiceAlarms } from '../../billing/invoice-log/invoice-alarms.ts';
import type { InvoiceLog } from '../../billing/invoice-log/invoice-log.ts';
import type { Clock } from '../../core/clock.ts';
import type { UnmatchedEventsCount } from '../../jobs/count-unmatched-events.ts';
import type { Deliveries } from '../../jobs/deliveries/deliveries.ts';
import type { Evaluations } from '../../jobs/evaluations/evaluations.ts';
import type { EventRetentionWork } from '../../jobs/event-retention.ts';
import type { JobRunner } from '../../jobs/job-runner.ts';
import type { ClickHouse } from '../../metering/client/clickhouse.ts';
import type { RepeatLog } from '../../metering/events/repeat-log.ts';
import type { Ingest } from '../../metering/ingest/ingest-operations.ts';
import type { SpanIngest } from '../../metering/otlp/ingest-spans.ts';
import type { Deliverer } from '../../notifications/webhooks/deliverer.ts';
import type { StripeAccounts } from '../../payments/accounts.ts';
import type { Backups } from '../backups/backups.ts';
import type { PartsWatch } from '../readiness/parts-watch.ts';

interface MeasuredParts {
  readonly ingest: Ingest;
  readonly spans: SpanIngest;
  readonly repeats: RepeatLog;
  readonly jobs: JobRunner;
  readonly alarms: InvoiceAlarms;
  readonly evaluations: Evaluations;
  readonly invoiceLog: InvoiceLog;
  readonly retention: EventRetentionWork;
  readonly unmatched: Pick<UnmatchedEventsCount, 'totals'>;
  readonly deliverer: Deliverer;
  readonly deliveries: Deliveries;
  readonly accounts: StripeAccounts;
  readonly holds: Holds;
  readonly watch: PartsWatch;
  readonly clickhouse: Pick<ClickHouse, 'laneFigures'>;
  readonly clock: Clock;
  readonly backups: Pick<Backups, 'figures'> | undefined;
}

/** Each figure is read when the metrics are. */
export function serviceFigures(of: MeasuredParts): RegisterMeasures {
  return (registry) => {
    ingestMeasures(registry, () => of.ingest.stats());
    knownIdMeasures(registry, of.ingest);
    spanMeasures(registry, () => of.spans.stats());
    repeatMeasures(registry, () => of.repeats.stats());
    jobMeasures(registry, () => of.jobs.stats(), of.clock);
    invoiceMeasures(registry, () => of.alarms.stats());
    evaluationMeasures(registry, () => of.evaluations.figures());
    invoiceLifeMeasures(registry, { life: () => of.invoiceLog.stats(), jobs: () => of.jobs.stats() });
    laneMeasures(registry, () => of.clickhouse.laneFigures());
    retentionMeasures(registry, () => of.retention.stats());
    unmatchedMeasures(registry, () => of.unmatched.totals());
    webhookMeasures(registry, () => of.deliverer.stats());
    deliveryMeasures(registry, {
      stats: () => of.deliveries.stats(),
      requests: () => of.accounts.counts(),
      clock: of.clock,
    });
    holdMeasures(registry, of.holds);
    const { backups } = of;
    if (backups !== undefined) backupMeasures(registry, () => backups.figures());
    lossMeasures(registry, () => of.watch.problems().length);
    mechanismMeasures(registry);
  };
}

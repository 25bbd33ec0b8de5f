/** The Prometheus metrics of the delivery of invoices to billing providers. */
import type { Registry } from 'prom-client';
import type { Clock } from '../../core/clock.ts';
import { SECOND_MS } from '../../core/time.ts';
import type { DeliveryStats } from '../../jobs/deliveries/deliveries.ts';
import { registerCounter, registerGauge } from './metrics.ts';

interface DeliveryMeasures {
  stats(): DeliveryStats;
  /** Requests to Stripe since the start, by outcome. */
  requests(): Readonly<Record<string, number>>;
  readonly clock: Clock;
}

export function deliveryMeasures(registry: Registry, { stats, requests, clock }: DeliveryMeasures): void {
  registerCounter(registry, {
    name: 'tallyhouse_delivery_attempts_total',
    help: 'Attempts of this process to deliver an invoice or to ask for it: done, waiting, refused, failed (tried again).',
    label: 'result',
    values: () => new Map(Object.entries(stats().attempts)),
  });
  registerCounter(registry, {
    name: 'tallyhouse_delivery_requests_total',
    help: 'Requests of this process to Stripe: answered, refused, busy (too many), unclear (without a clear answer).',
    label: 'result',
    values: () => new Map(Object.entries(requests())),
  });
  registerGauge(registry, {
    name: 'tallyhouse_delivery_invoices',
    help: 'Invoices by their status at the billing provider, as of a few seconds ago.',
    label: 'status',
    values: () => new Map(stats().byStatus),
  });
  registerGauge(registry, {
    name: 'tallyhouse_delivery_oldest_undelivered_seconds',
    help: 'How long the oldest invoice that is not delivered has waited; 0 if there is none. Refused ones are not counted.',
    value: () => {
      const { oldestUndeliveredAt } = stats();
      return oldestUndeliveredAt === null ? 0 : Math.max(0, clock.now() - oldestUndeliveredAt) / SECOND_MS;
    },
  });
}

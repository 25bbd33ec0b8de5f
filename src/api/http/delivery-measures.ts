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
    help: 'Attempts of this process to deliver an invoice or to read its state: done, waiting, refused, failed (retried).',
    label: 'result',
    values: () => new Map(Object.entries(stats().attempts)),
  });
  registerCounter(registry, {
    name: 'tallyhouse_delivery_requests_total',
    help: 'Requests of this process to Stripe: answered, refused, busy (rate limited), unclear (response lost).',
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
    help: 'Age of the oldest undelivered invoice; 0 if there is none. Refused invoices are not counted.',
    value: () => {
      const { oldestUndeliveredAt } = stats();
      return oldestUndeliveredAt === null ? 0 : Math.max(0, clock.now() - oldestUndeliveredAt) / SECOND_MS;
    },
  });
}

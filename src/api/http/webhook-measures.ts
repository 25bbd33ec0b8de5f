/** The Prometheus metrics of the delivery of webhooks. */
import type { Registry } from 'prom-client';
import { SECOND_MS } from '../../core/time.ts';
import type { DeliveryStats } from '../../notifications/webhooks/deliverer.ts';
import { registerCounter, registerGauge } from './metrics.ts';

export function webhookMeasures(registry: Registry, stats: () => DeliveryStats): void {
  registerCounter(registry, {
    name: 'tallyhouse_webhook_attempts_total',
    help: 'Attempts of this process to deliver a message: acknowledged, refused (another status), unanswered.',
    label: 'result',
    values: () => new Map(Object.entries(stats().attempts)),
  });
  registerCounter(registry, {
    name: 'tallyhouse_webhook_deliveries_failed_total',
    help: 'Deliveries abandoned by this process after two days.',
    value: () => stats().givenUp,
  });
  registerGauge(registry, {
    name: 'tallyhouse_webhook_deliveries_pending',
    help: 'Unacknowledged deliveries, as of a few seconds ago.',
    value: () => stats().pending,
  });
  registerGauge(registry, {
    name: 'tallyhouse_webhook_oldest_pending_seconds',
    help: 'Age of the oldest unacknowledged message; 0 if there is none.',
    value: () => {
      const { oldestAt } = stats();
      return oldestAt === null ? 0 : Math.max(0, Date.now() - oldestAt) / SECOND_MS;
    },
  });
}

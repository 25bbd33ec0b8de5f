/** The Prometheus metrics of holds. The time of requests is in `tallyhouse_http_request_duration_seconds`. */
import type { Registry } from 'prom-client';
import type { Holds } from '../../billing/holds/holds.ts';
import { registerCounter, registerGauge, registerTimes } from './metrics.ts';

export function holdMeasures(
  registry: Registry,
  { figures, observeEvaluations }: Pick<Holds, 'figures' | 'observeEvaluations'>,
): void {
  registerCounter(registry, {
    name: 'tallyhouse_holds_granted_total',
    help: 'Holds that this process has granted. Repeated requests are not counted.',
    value: () => figures().granted,
  });
  registerCounter(registry, {
    name: 'tallyhouse_holds_refused_total',
    help: 'Refusals of this process, by reason.',
    label: 'reason',
    values: () => figures().refused,
  });
  registerCounter(registry, {
    name: 'tallyhouse_hold_checks_total',
    help: 'Checks of usage that this process has answered: allowed, or the reason against it.',
    label: 'result',
    values: () => figures().checked,
  });
  registerGauge(registry, {
    name: 'tallyhouse_holds_outstanding',
    help: 'Active holds of all processes, as of some seconds ago.',
    value: () => figures().outstanding.count,
  });
  registerGauge(registry, {
    name: 'tallyhouse_holds_outstanding_amount',
    help: 'Amounts on hold, by pricing unit: cents for US dollars, otherwise whole units.',
    label: 'credit_type',
    values: () => figures().outstanding.amounts,
  });
  registerGauge(registry, {
    name: 'tallyhouse_hold_families',
    help: 'Families of customers in the memory of this process: all known families, and families evaluated ahead for the next hour.',
    label: 'state',
    values: () => new Map(Object.entries(figures().families)),
  });
  const observe = registerTimes(registry, {
    name: 'tallyhouse_hold_evaluation_seconds',
    help: 'Duration of the evaluations from which holds are granted, by group of customers.',
  });
  observeEvaluations(observe);
}

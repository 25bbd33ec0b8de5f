/** The Prometheus metrics of evaluations. */
import type { Registry } from 'prom-client';
import type { EvaluationFigures } from '../../jobs/evaluations/evaluations.ts';
import { registerCounter, registerGauge } from './metrics.ts';

/** The evaluation of thresholds and alerts. */
export function evaluationMeasures(registry: Registry, figures: () => EvaluationFigures): void {
  registerGauge(registry, {
    name: 'tallyhouse_evaluations_watched',
    help: 'Customers with thresholds or alerts.',
    value: () => figures().watched,
  });
  registerGauge(registry, {
    name: 'tallyhouse_evaluations_waiting',
    help: 'Customers whose thresholds and alerts wait for an evaluation.',
    value: () => figures().waiting,
  });
  registerCounter(registry, {
    name: 'tallyhouse_evaluations_total',
    help: 'Evaluations of customers.',
    value: () => figures().evaluated,
  });
  registerCounter(registry, {
    name: 'tallyhouse_evaluations_failed_total',
    help: 'Evaluations of customers that failed and were retried.',
    value: () => figures().failed,
  });
}

/** On the wire: the input of a usage line, up to the priced quantity. */
import { z } from 'zod';
import type { ExplainedLine } from '../../../billing/invoices/explain/explain-invoice.ts';
import { formatInstant } from '../../../core/time.ts';
import type { ExplainedUsage } from '../../../rating/explain/explanation.ts';
import { exactValue, given, timestamp } from '../../wire/fields.ts';
import { metric, metricToWire } from '../metrics/output.ts';

const explainedMetric = metric.omit({ custom_fields: true }).meta({ id: 'ExplainedMetric' });

export const usageSchema = z
  .object({
    metric: explainedMetric.optional(),
    grouped_by: z
      .array(z.string())
      .meta({ description: 'Properties whose combinations are separate lines.' }),
    usage_filter: z.object({ group_key: z.string(), group_values: z.array(z.string()) }).optional(),
    evaluated: z.enum(['HOUR', 'SERVICE_PERIOD']).meta({
      description: 'When the metric is evaluated: at the end of every hour, or at the end of its period.',
    }),
    counted_from: timestamp.meta({ description: 'The time at which values and counter start at 0.' }),
    event_count: exactValue.meta({
      type: 'number',
      description: 'Matching events in the time of the line. For a SQL metric: all events of the customer.',
    }),
    value_at_start: exactValue.meta({ type: 'number', description: 'V, the value of the metric so far.' }),
    value_at_end: exactValue,
    quantity_conversion: z
      .object({ operation: z.enum(['MULTIPLY', 'DIVIDE']), conversion_factor: exactValue })
      .optional(),
    quantity_rounding: z
      .object({
        rounding_method: z.enum(['ROUND_UP', 'ROUND_DOWN', 'ROUND_HALF_UP']),
        decimal_places: z.int(),
      })
      .optional(),
    continued: z.object({ at: timestamp, value: exactValue, quantity: exactValue }).optional().meta({
      description:
        'Present if value and quantity continue from another metric, filter, conversion or rounding.',
    }),
    quantity_at_start: exactValue.meta({
      type: 'number',
      description: 'Q, the quantity so far: V after conversion and rounding.',
    }),
    quantity_at_end: exactValue,
  })
  .meta({ id: 'ExplainedUsage' });

export function usageToWire(
  usage: ExplainedUsage,
  counted: ExplainedLine['metric'],
): z.input<typeof usageSchema> {
  const { need, version, continued } = usage;
  return {
    metric: counted === null ? undefined : definitionOf(counted),
    grouped_by: [...need.groupKeys],
    usage_filter: given(need.usageFilter, ({ property, values }) => ({
      group_key: property,
      group_values: [...values],
    })),
    evaluated: need.evaluatedAt === 'hour' ? 'HOUR' : 'SERVICE_PERIOD',
    counted_from: formatInstant(usage.countedFrom),
    event_count: usage.eventCount,
    value_at_start: usage.valueAtStart,
    value_at_end: usage.valueAtEnd,
    quantity_conversion: given(version.quantityConversion, ({ operation, conversionFactor }) => ({
      operation,
      conversion_factor: conversionFactor,
    })),
    quantity_rounding: given(version.quantityRounding, ({ method, decimalPlaces }) => ({
      rounding_method: method,
      decimal_places: decimalPlaces,
    })),
    continued: given(continued, ({ at, value, counter }) => ({
      at: formatInstant(at),
      value,
      quantity: counter,
    })),
    quantity_at_start: usage.counterAtStart,
    quantity_at_end: usage.counterAtEnd,
  };
}

function definitionOf(counted: NonNullable<ExplainedLine['metric']>): z.input<typeof explainedMetric> {
  const { custom_fields: _, ...definition } = metricToWire({ ...counted, customFields: {} });
  return definition;
}

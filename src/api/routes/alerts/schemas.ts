/** Alerts on the wire. */
import { z } from 'zod';
import type { NewAlert } from '../../../billing/alerts/alert-definition.ts';
import type { CustomerAlert } from '../../../billing/alerts/customer-alerts.ts';
import {
  ALERT_FIELD_ENTITIES,
  ALERT_STATES,
  ALERT_TYPES,
  type AlertFieldFilter,
  type AlertFilters,
  type AlertSpecifier,
} from '../../../core/alerts.ts';
import { formatInstant } from '../../../core/time.ts';
import {
  creditType,
  customFields,
  enumIn,
  exactNumber,
  exactValue,
  given,
  timestamp,
  uuid,
} from '../../wire/fields.ts';

const NAME_LENGTH_MAX = 200;
const KEY_LENGTH_MAX = 128;
const FILTERS_MAX = 100;
const TEXT_LENGTH_MAX = 1_000;

const text = z.string().min(1).max(TEXT_LENGTH_MAX);
const entity = z.enum(ALERT_FIELD_ENTITIES);
const listOf = <Item extends z.ZodType>(item: Item) => z.array(item).max(FILTERS_MAX);

/** Also the filter of a request for the state of one value. */
export const fieldFilter = z.strictObject({ entity, key: text, value: z.string().max(TEXT_LENGTH_MAX) });
export const groupValue = z.strictObject({ key: text, value: z.string().max(TEXT_LENGTH_MAX) });
const openGroupValue = groupValue.partial({ value: true });
const openFieldFilter = fieldFilter.partial({ value: true });
export const exclusion = z.strictObject({ custom_field_filters: listOf(fieldFilter).optional() });

const specifier = z.strictObject({
  custom_field_filters: listOf(openFieldFilter).optional(),
  exclude: listOf(exclusion).optional(),
});

const seatFilter = z.strictObject({ seat_group_key: text, seat_group_value: text.optional() });

const INVOICE_TYPES = ['USAGE', 'SCHEDULED'] as const;

/** Members of another way of billing, which clients may still send empty. */
const noPlans = { plan_id: z.null().optional(), credit_grant_type_filters: z.array(z.never()).nullish() };

export const newAlert = z
  .strictObject({
    alert_type: z.enum(ALERT_TYPES),
    name: z.string().min(1).max(NAME_LENGTH_MAX),
    uniqueness_key: z.string().min(1).max(KEY_LENGTH_MAX).nullish(),
    threshold: exactNumber({ min: '0' }).meta({ description: 'An amount, days, or a percentage.' }),
    credit_type_id: uuid.nullish().meta({ description: 'The unit of amounts. Default: US cents.' }),
    customer_id: uuid.nullish().meta({ description: 'Absent: every customer.' }),
    billable_metric_id: uuid.nullish(),
    evaluate_on_create: z.boolean().nullish().meta({
      description:
        'If false, customers already past the threshold are notified only after they have recovered and crossed it again.',
    }),
    custom_field_filters: listOf(fieldFilter).nullish(),
    group_values: listOf(openGroupValue).nullish(),
    invoice_types_filter: listOf(enumIn(INVOICE_TYPES)).nullish(),
    seat_filter: seatFilter.nullish(),
    alert_specifiers: listOf(specifier).nullish(),
    count_holds: z.boolean().nullish().meta({
      description:
        'If true, active holds count as usage. Only for spend, and for the combined balance of commits and credits, without filters.',
    }),
    ...noPlans,
  })
  .meta({ id: 'CreateAlert' });

export function newAlertFromWire(body: z.output<typeof newAlert>, createdBy: string): NewAlert {
  const { seat_filter: seat } = body;
  return {
    name: body.name,
    type: body.alert_type,
    uniquenessKey: body.uniqueness_key ?? null,
    threshold: body.threshold,
    creditTypeId: body.credit_type_id ?? null,
    customerId: body.customer_id ?? null,
    billableMetricId: body.billable_metric_id ?? null,
    evaluateOnCreate: body.evaluate_on_create ?? true,
    filters: {
      customFieldFilters: fieldsFromWire(body.custom_field_filters ?? []),
      groupValues: (body.group_values ?? []).map(({ key, value }) => ({ key, value: value ?? null })),
      invoiceTypes: body.invoice_types_filter ?? [],
      seat: seat ? { groupKey: seat.seat_group_key, value: seat.seat_group_value ?? null } : null,
      specifiers: (body.alert_specifiers ?? []).map(({ custom_field_filters, exclude }) => ({
        customFieldFilters: fieldsFromWire(custom_field_filters ?? []),
        exclude: (exclude ?? []).map((one) => ({
          customFieldFilters: fieldsFromWire(one.custom_field_filters ?? []),
        })),
      })),
      countHolds: body.count_holds ?? false,
    },
    createdBy,
  };
}

function fieldsFromWire(filters: readonly z.output<typeof openFieldFilter>[]): AlertFieldFilter[] {
  return filters.map(({ entity, key, value }) => ({ entity, key, value: value ?? null }));
}

const alert = z
  .object({
    id: uuid,
    name: z.string(),
    uniqueness_key: z.string().optional(),
    type: z.enum(ALERT_TYPES),
    status: z.enum(['enabled', 'archived', 'disabled']),
    credit_type: creditType.nullable(),
    threshold: exactValue,
    updated_at: timestamp.meta({ description: 'When customer_status last changed.' }),
    custom_field_filters: z.array(fieldFilter).optional(),
    invoice_types_filter: z.array(z.string()).optional(),
    group_key_filter: groupValue.optional().meta({ description: 'The single entry of group_values.' }),
    group_values: z.array(openGroupValue).optional(),
    seat_filter: seatFilter.optional(),
    alert_specifiers: z.array(specifier).optional(),
    count_holds: z.literal(true).optional(),
    custom_fields: customFields.optional().meta({ description: 'Absent without any.' }),
  })
  .meta({ id: 'Alert' });

export const customerAlert = z
  .object({
    customer_status: z.enum(ALERT_STATES).nullable().meta({ description: 'Null if the alert is archived.' }),
    triggered_by: z.string().nullable(),
    alert,
  })
  .meta({ id: 'CustomerAlert' });

export function customerAlertToWire(shown: CustomerAlert) {
  const { alert, creditType, customFields, state, triggeredBy, updatedAt } = shown;
  return {
    customer_status: state,
    triggered_by: triggeredBy,
    alert: {
      id: alert.id,
      name: alert.name,
      uniqueness_key: alert.uniquenessKey ?? undefined,
      type: alert.type,
      status: alert.archivedAt === null ? ('enabled' as const) : ('archived' as const),
      credit_type: creditType,
      threshold: alert.threshold,
      updated_at: formatInstant(updatedAt),
      ...filtersToWire(alert.filters),
      ...(Object.keys(customFields).length === 0 ? {} : { custom_fields: customFields }),
    },
  };
}

/** Without those that do not narrow the alert. */
function filtersToWire({
  customFieldFilters,
  groupValues,
  invoiceTypes,
  seat,
  specifiers,
  countHolds,
}: AlertFilters) {
  const [onlyGroup = null] = groupValues.length === 1 ? groupValues : [];
  return {
    group_key_filter: given(onlyGroup?.value, (value) => ({ key: onlyGroup?.key ?? '', value })),
    custom_field_filters: someOf(customFieldFilters, closedFieldToWire),
    group_values: someOf(groupValues, ({ key, value }) => ({ key, value: value ?? undefined })),
    invoice_types_filter: someOf(invoiceTypes, (type) => type),
    seat_filter: given(seat, ({ groupKey, value }) => ({
      seat_group_key: groupKey,
      seat_group_value: value ?? undefined,
    })),
    alert_specifiers: someOf(specifiers, specifierToWire),
    count_holds: countHolds ? (true as const) : undefined,
  };
}

function specifierToWire({ customFieldFilters, exclude }: AlertSpecifier) {
  return {
    custom_field_filters: customFieldFilters.map(({ entity, key, value }) => ({
      entity,
      key,
      value: value ?? undefined,
    })),
    exclude: exclude.map((one) => ({ custom_field_filters: one.customFieldFilters.map(closedFieldToWire) })),
  };
}

function closedFieldToWire({ entity, key, value }: AlertFieldFilter) {
  return { entity, key, value: value ?? '' };
}

/** An empty list is not written. */
function someOf<Item, Wire>(items: readonly Item[], write: (item: Item) => Wire): Wire[] | undefined {
  return items.length === 0 ? undefined : items.map((item) => write(item));
}

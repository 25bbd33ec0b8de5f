/** Alerts: threshold notifications, and their states for customers. */
import { z } from 'zod';
import { archiveAlert, createAlert } from '../../../billing/alerts/create-alert.ts';
import {
  getCustomerAlert,
  listCustomerAlerts,
  resetCustomerAlert,
} from '../../../billing/alerts/customer-alerts.ts';
import type { BillingContext } from '../../../billing/billing-context.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { createdId, enumIn, uuid } from '../../wire/fields.ts';
import { keysetPosition, pageOf, pageQuery, pageRequest, pageToWire } from '../../wire/paging.ts';
import {
  customerAlert,
  customerAlertToWire,
  exclusion,
  fieldFilter,
  groupValue,
  newAlert,
  newAlertFromWire,
} from './schemas.ts';

const tags = ['Alerts'];
const PAGE_SIZE = 100;

const ofCustomer = { customer_id: uuid, alert_id: uuid };

/** The requested alarm, where a customer has several of one alert. */
const asked = z.strictObject({
  group_values: z.array(groupValue).nullish(),
  seat_filter: z.strictObject({ seat_group_key: z.string(), seat_group_value: z.string() }).nullish(),
  alert_specifiers: z
    .array(
      z.strictObject({
        custom_field_filters: z.array(fieldFilter),
        exclude: z.array(exclusion).optional(),
      }),
    )
    .nullish(),
  custom_field_filters: z.array(fieldFilter).nullish(),
  plans_or_contracts: enumIn(['PLANS', 'CONTRACTS']).nullish(),
});

export function alertRoutes(context: BillingContext): RouteDefinition[] {
  return [...definitionRoutes(context), ...stateRoutes(context)];
}

function definitionRoutes(context: BillingContext): RouteDefinition[] {
  return [
    route({
      method: 'post',
      path: '/v1/alerts/create',
      operationId: 'createAlert',
      summary: 'Create an alert',
      description:
        'Compares a value of one customer, or of every customer, with a threshold whenever it changes. A member that ' +
        'the type does not take answers 400, a uniqueness_key that was used before 409.',
      tags,
      scope: 'write',
      body: newAlert,
      response: createdId,
      errors: [400, 404, 409],
      async handler({ body, actor }) {
        return { data: { id: await createAlert(context, newAlertFromWire(body, actor.name)) } };
      },
    }),
    route({
      method: 'post',
      path: '/v1/alerts/archive',
      operationId: 'archiveAlert',
      summary: 'Archive an alert',
      description:
        'Archiving is permanent. The uniqueness_key of the alert stays in use unless it is released.',
      tags,
      scope: 'write',
      body: z
        .strictObject({ id: uuid, release_uniqueness_key: z.boolean().nullish() })
        .meta({ id: 'ArchiveAlert' }),
      response: createdId,
      errors: [400, 404],
      async handler({ body: { id, release_uniqueness_key: releaseKey } }) {
        await archiveAlert(context, id, { releaseKey: releaseKey ?? false });
        return { data: { id } };
      },
    }),
  ];
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a list of routes, one after the other.
function stateRoutes(context: BillingContext): RouteDefinition[] {
  return [
    route({
      method: 'post',
      path: '/v1/customer-alerts/get',
      operationId: 'getCustomerAlert',
      summary: 'Get the state of an alert for a customer',
      description:
        'Covers all alarms of the customer, or the alarm that group_values, seat_filter, alert_specifiers or custom_field_filters select.',
      tags,
      scope: 'read',
      body: asked.extend(ofCustomer).meta({ id: 'GetCustomerAlert' }),
      response: z.object({ data: customerAlert }),
      errors: [404],
      async handler({ body }) {
        const { customer_id: customerId, alert_id: alertId } = body;
        const asked = { values: askedValues(body), seatId: body.seat_filter?.seat_group_value ?? null };
        return { data: customerAlertToWire(await getCustomerAlert(context, { customerId, alertId, asked })) };
      },
    }),
    route({
      method: 'post',
      path: '/v1/customer-alerts/list',
      operationId: 'listCustomerAlerts',
      summary: 'List the alerts of a customer',
      description: `Alerts of this customer and of every customer, in the order of creation, ${PAGE_SIZE} a page.`,
      tags,
      scope: 'read',
      query: pageQuery(keysetPosition, PAGE_SIZE),
      body: z
        .strictObject({
          customer_id: uuid,
          alert_statuses: z
            .array(enumIn(['ENABLED', 'DISABLED', 'ARCHIVED']))
            .min(1)
            .nullish()
            .meta({ description: 'Default: ENABLED. No alert is DISABLED.' }),
        })
        .meta({ id: 'ListCustomerAlerts' }),
      response: pageOf(customerAlert),
      errors: [400, 404],
      async handler({ query, body: { customer_id: customerId, alert_statuses } }) {
        const statuses = alert_statuses ?? ['ENABLED'];
        const of = { active: statuses.includes('ENABLED'), archived: statuses.includes('ARCHIVED') };
        const found = await listCustomerAlerts(context, { customerId, ...of }, pageRequest(query));
        return pageToWire(found, customerAlertToWire);
      },
    }),
    route({
      method: 'post',
      path: '/v1/customer-alerts/reset',
      operationId: 'resetCustomerAlert',
      summary: 'Forget the state of an alert for a customer',
      description: 'The alert is evaluated again within two seconds and may notify again.',
      tags,
      scope: 'write',
      body: z.strictObject(ofCustomer).meta({ id: 'ResetCustomerAlert' }),
      errors: [404],
      response: 'empty',
      async handler({ body: { customer_id: customerId, alert_id: alertId } }) {
        await resetCustomerAlert(context, { customerId, alertId });
      },
    }),
  ];
}

/** By group key or custom field. */
function askedValues(body: z.output<typeof asked>) {
  const { group_values: groups, alert_specifiers: specifiers, custom_field_filters: filters } = body;
  const fields = [...(filters ?? []), ...(specifiers ?? []).flatMap((one) => one.custom_field_filters)];
  return new Map([...(groups ?? []), ...fields].map(({ key, value }) => [key, value]));
}

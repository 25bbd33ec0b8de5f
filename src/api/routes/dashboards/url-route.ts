/** The signed address of a dashboard, for a frame in a page of the operator. */
import { z } from 'zod';
import { getCustomer } from '../../../billing/customers/change-customer.ts';
import {
  DASHBOARD_COLORS,
  DASHBOARD_OPTIONS,
  DASHBOARDS,
  type Dashboard,
  type DashboardOptions,
  dashboardHas,
  isDashboardOption,
} from '../../../core/dashboards.ts';
import { invalid } from '../../../core/errors.ts';
import { originOf } from '../../http/request-origin.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { uuid } from '../../wire/fields.ts';
import type { RouteContext } from '../route-context.ts';

const OPTIONS_MAX = 20;
const GROUPS_MAX = 50;
const NAMES_MAX = 200;

const optionMeanings = Object.entries(DASHBOARD_OPTIONS).map(
  ([key, { meaning, of }]) => `\`${key}\` (${[...of].sort().join(', ')}): ${meaning}`,
);

const text = z.string().min(1).max(200);

const urlBody = z
  .object({
    customer_id: uuid,
    dashboard: z.enum(DASHBOARDS),
    dashboard_options: z
      .array(z.object({ key: z.string(), value: z.string() }))
      .max(OPTIONS_MAX)
      .nullish()
      .meta({ description: `Each with the dashboards that have it:\n- ${optionMeanings.join(';\n- ')}.` }),
    color_overrides: z
      .array(
        z.object({
          name: z.enum(DASHBOARD_COLORS),
          value: z
            .string()
            .regex(/^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i, 'must be a hexadecimal colour such as #2b4fc7'),
        }),
      )
      .max(DASHBOARD_COLORS.length)
      .nullish()
      .meta({ description: 'Colours of the page, by purpose.' }),
    bm_group_key_overrides: z
      .array(
        z.object({
          group_key_name: text,
          display_name: text.nullish(),
          value_display_names: z
            .record(text, text)
            .refine(
              (names) => Object.keys(names).length <= NAMES_MAX,
              `must have at most ${NAMES_MAX} values`,
            )
            .nullish(),
        }),
      )
      .max(GROUPS_MAX)
      .nullish()
      .meta({ description: 'For the dashboard `usage`: display names of group keys and values.' }),
  })
  .meta({ id: 'EmbeddableDashboardRequest' });

type Body = z.output<typeof urlBody>;

export function dashboardUrlRoute({ db, links, publicUrl }: RouteContext): RouteDefinition {
  const definition = route({
    method: 'post',
    path: '/v1/dashboards/getEmbeddableUrl',
    operationId: 'getEmbeddableDashboardUrl',
    summary: 'Get the address of a dashboard for a customer',
    description:
      'The address is signed: it shows one dashboard of one customer, for an hour unless the options say otherwise, and ' +
      'ends with the token that asked for it. Pages of the origins in `DASHBOARD_ORIGINS` may show it in a frame.',
    tags: ['Dashboards'],
    scope: 'read',
    body: urlBody,
    response: z.object({ data: z.object({ url: z.string() }) }),
    errors: [404],
    async handler({ body, actor }) {
      const view = viewOf(body);
      await getCustomer({ db }, view.customerId);
      return { data: { url: `/dashboards/${await links.sign(view, actor.id)}` } };
    },
  });
  return {
    ...definition,
    async run(input) {
      const { data } = (await definition.run(input)) as { readonly data: { readonly url: string } };
      return { data: { url: (publicUrl ?? originOf(input.http)) + data.url } };
    },
  };
}

function viewOf(body: Body) {
  return {
    customerId: body.customer_id,
    dashboard: body.dashboard,
    options: optionsOf(body.dashboard, body.dashboard_options ?? []),
    colors: Object.fromEntries((body.color_overrides ?? []).map(({ name, value }) => [name, value])),
    groups: (body.bm_group_key_overrides ?? []).map((group) => ({
      key: group.group_key_name,
      ...(group.display_name == null ? {} : { name: group.display_name }),
      ...(group.value_display_names == null ? {} : { values: group.value_display_names }),
    })),
  };
}

function optionsOf(
  dashboard: Dashboard,
  sent: readonly { readonly key: string; readonly value: string }[],
): DashboardOptions {
  const options: Record<string, string> = {};
  for (const [index, { key, value }] of sent.entries()) {
    const place = ['dashboardOptions', index];
    if (!isDashboardOption(key))
      throw invalid([...place, 'key'], `${key.slice(0, 100)} is not an option of dashboards`);
    if (!dashboardHas(dashboard, key)) {
      throw invalid([...place, 'key'], `${key} is not an option of the dashboard ${dashboard}`);
    }
    if (Object.hasOwn(options, key)) throw invalid([...place, 'key'], `repeats ${key}`);
    const checked = DASHBOARD_OPTIONS[key].value.safeParse(value);
    if (!checked.success)
      throw invalid([...place, 'value'], checked.error.issues[0]?.message ?? 'is not valid');
    options[key] = value;
  }
  return options;
}

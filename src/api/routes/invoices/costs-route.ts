/** The costs of a customer day by day. */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import { type CostInUnit, type DayCosts, listCosts } from '../../../billing/invoices/breakdowns/costs.ts';
import { createKeptDrafts } from '../../../billing/invoices/breakdowns/kept-drafts.ts';
import { pricingUnitsOf } from '../../../billing/invoices/read/pricing-units.ts';
import type { CreditType } from '../../../core/credit-types.ts';
import { assert, invalid } from '../../../core/errors.ts';
import { formatInstant } from '../../../core/time.ts';
import { type CsvColumn, csvTable } from '../../http/csv.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { dayAlignedTimestamp, exactValue, timestamp, uuid } from '../../wire/fields.ts';
import { pageOf, pageQuery, pageRequest, pageToWire } from '../../wire/paging.ts';

const lineSchema = z
  .object({
    name: z.string(),
    cost: exactValue,
    group_key: z.string().optional().meta({ description: 'The group value of lines with exactly one.' }),
    group_value: z.string().optional(),
    group: z
      .record(z.string(), z.string())
      .optional()
      .meta({ description: 'All group values of the lines.' }),
  })
  .meta({ id: 'LineItemBreakdown' });

const costsSchema = z
  .object({
    start_timestamp: timestamp,
    end_timestamp: timestamp,
    credit_types: z
      .record(
        z.string(),
        z.object({ name: z.string(), cost: exactValue, line_item_breakdown: z.array(lineSchema) }),
      )
      .meta({ description: 'By id of the currency or custom unit; empty on a day without costs.' }),
  })
  .meta({ id: 'Costs' });

type CostsWire = z.input<typeof costsSchema>;

interface CostRow extends Omit<CostsWire, 'credit_types'> {
  readonly unit: string;
  readonly line: z.input<typeof lineSchema>;
}

const COLUMNS: readonly CsvColumn<CostRow>[] = [
  { name: 'day_start', description: 'Midnight UTC.', value: (row) => row.start_timestamp },
  { name: 'day_end', description: 'End of the day, exclusive.', value: (row) => row.end_timestamp },
  { name: 'unit', description: 'The currency, or a custom pricing unit.', value: (row) => row.unit },
  { name: 'line_name', description: 'Name of the lines.', value: (row) => row.line.name },
  {
    name: 'group',
    description: 'JSON of the group values; empty without values.',
    value: (row) => row.line.group,
  },
  { name: 'cost', description: 'Exact, in `unit`.', value: (row) => row.line.cost },
];

const costsCsv = csvTable(COLUMNS, ({ credit_types, ...day }: CostsWire): CostRow[] =>
  Object.values(credit_types).flatMap((unit) =>
    unit.line_item_breakdown.map((line) => ({ ...day, unit: unit.name, line })),
  ),
);

export function costsRoute(context: BillingContext): RouteDefinition {
  return route({
    method: 'get',
    path: '/v1/customers/{customer_id}/costs',
    operationId: 'listCosts',
    summary: 'List the costs of a customer by day',
    description:
      'The sums of the daily breakdowns of all its drafts and finalized invoices, before commits and credits. Lines ' +
      'in a custom unit are under their unit, and their conversion is under the currency.',
    tags: ['Invoices'],
    scope: 'read',
    params: z.object({ customer_id: uuid }),
    query: pageQuery(z.int(), 35).extend({
      starting_on: dayAlignedTimestamp,
      ending_before: dayAlignedTimestamp,
    }),
    response: pageOf(costsSchema),
    csv: costsCsv,
    errors: [400, 404, 413],
    handler: async ({ params, query, shared }) => {
      const range = { start: query.starting_on, end: query.ending_before };
      if (range.start >= range.end) throw invalid(['endingBefore'], 'must be after starting_on');
      const drafts = shared?.(createKeptDrafts) ?? null;
      const page = await listCosts(context, params.customer_id, range, pageRequest(query), drafts);
      const ids = page.rows.flatMap(({ units }) => units.map(({ creditTypeId }) => creditTypeId));
      const units = await pricingUnitsOf(
        context,
        ids.map((creditTypeId) => ({ id: creditTypeId, creditTypeId, lines: [] })),
      );
      return pageToWire(page, (one) => costsToWire(one, units));
    },
  });
}

function costsToWire({ day, units }: DayCosts, creditTypes: ReadonlyMap<string, CreditType>): CostsWire {
  return {
    start_timestamp: formatInstant(day.start),
    end_timestamp: formatInstant(day.end),
    credit_types: Object.fromEntries(
      units.map((unit) => [unit.creditTypeId, unitToWire(unit, creditTypes.get(unit.creditTypeId))]),
    ),
  };
}

function unitToWire({ cost, lines }: CostInUnit, creditType: CreditType | undefined) {
  assert(creditType !== undefined, 'the pricing unit of a line exists');
  return {
    name: creditType.name,
    cost,
    line_item_breakdown: lines.map(({ name, groupValues, cost: own }) => {
      const [[key, value] = [], ...others] = Object.entries(groupValues);
      return {
        name,
        cost: own,
        ...(key === undefined || others.length > 0 ? {} : { group_key: key, group_value: value }),
        ...(key === undefined ? {} : { group: groupValues }),
      };
    }),
  };
}

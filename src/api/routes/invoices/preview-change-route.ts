/** Invoices as they would be after a change that is not applied. */

import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import { type PreviewedChange, previewChange } from '../../../billing/invoices/previews/preview-change.ts';
import { pricingUnitsOf } from '../../../billing/invoices/read/pricing-units.ts';
import { assert, invalid, Refusal } from '../../../core/errors.ts';
import { afterOtherWork, mapInChunks } from '../../../core/in-chunks.ts';
import type { Interval } from '../../../core/time.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { timestamp, uuid } from '../../wire/fields.ts';
import { pageOf, pageQuery, pageRequest, pageToWire } from '../../wire/paging.ts';
import { editContractBody, editFromWire } from '../contract-edits/edit.ts';
import { EDIT_WORDS } from '../contract-edits/routes.ts';
import { addRatesBody } from '../rate-cards/rate-routes.ts';
import { rateFromWire } from '../rate-cards/rate-schemas.ts';
import { previewDifferencesCsv } from './preview-csv.ts';
import { customerDifferenceSchema, customerToWire } from './preview-schemas.ts';
import { viewOf } from './routes.ts';

const body = z.object({
  edit: editContractBody.optional().meta({ description: 'As for `POST /v2/contracts/edit`.' }),
  add_rates: addRatesBody.optional().meta({ description: 'As for `addRates`.' }),
  customer_id: uuid.nullish().meta({ description: 'With `add_rates`: only this customer.' }),
  starting_on: timestamp.nullish(),
  ending_before: timestamp.nullish().meta({
    description: 'Invoices whose period shares time with this range. Default: the current periods.',
  }),
  include_invoices: z.boolean().nullish(),
  include_list_prices: z.boolean().nullish(),
  skip_zero_qty_line_items: z.boolean().nullish(),
});

type Body = z.output<typeof body>;

export function previewChangeRoute(context: BillingContext): RouteDefinition {
  return route({
    method: 'post',
    path: '/v1/invoices/preview',
    operationId: 'previewInvoices',
    summary: 'Preview invoices with edits of a contract, or with rates of a rate card',
    description:
      'What the customer would be billed, and the difference to the draft or to what was billed. Issued invoices ' +
      'are computed again with the present usage and terms. With rates, one item per customer with a contract on ' +
      'the card. Nothing is stored.',
    tags: ['Invoices'],
    scope: 'read',
    undoesChanges: true,
    wireWords: EDIT_WORDS,
    query: pageQuery(z.uuid(), 25),
    body,
    response: pageOf(customerDifferenceSchema),
    csv: previewDifferencesCsv,
    errors: [400, 404, 409, 413],
    async handler({ query, body: sent, actor }) {
      const change = await changeOf(sent, actor.name);
      const page = await inEdit(change, () =>
        previewChange(context, change, rangeOf(sent), pageRequest(query)),
      );
      const all = page.rows.flatMap(({ invoices }) => invoices);
      // Each part of a large invoice takes a turn of the event loop.
      await afterOtherWork();
      const view = await viewOf(
        context,
        all.flatMap(({ draft, preview }) => [draft, preview].flatMap((one) => one ?? [])),
        {
          skip_zero_qty_line_items: sent.skip_zero_qty_line_items ?? false,
          include_list_prices: sent.include_list_prices ?? false,
        },
      );
      const units = await pricingUnitsOf(
        context,
        all.map(({ contractId, creditTypeId }) => ({ id: contractId, creditTypeId, lines: [] })),
      );
      const showsInvoices = sent.include_invoices === true;
      await afterOtherWork();
      return pageToWire(page, (one) => customerToWire(one, units, showsInvoices ? view : null));
    },
  });
}

async function changeOf(
  { edit, add_rates: rates, customer_id: customerId }: Body,
  name: string,
): Promise<PreviewedChange> {
  if ((edit === undefined) === (rates === undefined)) {
    throw new Refusal('invalid', 'either edit or add_rates is required');
  }
  if (edit !== undefined) {
    if (customerId != null) throw invalid(['customerId'], 'requires add_rates; an edit names its customer');
    return {
      kind: 'edit',
      edit: {
        customerId: edit.customerId,
        contractId: edit.contractId,
        edit: editFromWire(edit),
        uniquenessKey: edit.uniquenessKey,
        editedBy: name,
      },
    };
  }
  assert(rates !== undefined, 'one of the two is given');
  const pathOf = (index: number) => ['addRates', 'rates', index];
  return {
    kind: 'rates',
    customerId: customerId ?? null,
    added: {
      rateCardId: rates.rate_card_id,
      rates: await mapInChunks(rates.rates, rateFromWire),
      pathOf,
      createdBy: name,
    },
  };
}

/** Fields that an edit refuses are named where they stand in this request. */
async function inEdit<Result>(change: PreviewedChange, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof Refusal) || change.kind !== 'edit' || error.path.length === 0) throw error;
    const { kind, problem, path, code, details } = error;
    throw new Refusal(kind, problem, { path: ['edit', ...path], code, details });
  }
}

function rangeOf({ starting_on: start, ending_before: end }: Body): Interval | null {
  if (start == null && end == null) return null;
  if (start == null || end == null)
    throw new Refusal('invalid', 'starting_on and ending_before belong together');
  if (start >= end) throw invalid(['endingBefore'], 'must be after starting_on');
  return { start, end };
}

/** Operations that set the end date or the usage filter of a contract, or archive it. */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import { archiveContract } from '../../../billing/contracts/archive-contracts.ts';
import { setUsageFilter, updateEndDate } from '../../../billing/contracts/contract-changes.ts';
import { rolloverWarningsOfContract } from '../../../billing/contracts/rollover-warnings.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { answerWarnings } from '../../wire/answer-warnings.ts';
import { createdId, hourAlignedEnd, uuid } from '../../wire/fields.ts';
import { hour, id } from '../../wire/kinds.ts';
import { noRolloverToWire } from '../../wire/no-rollover.ts';
import { record } from '../../wire/record.ts';
import { usageFilterFields } from './input.ts';

const common = { method: 'post', tags: ['Contracts'], scope: 'write', errors: [400, 404] } as const;

const usageFilterBody = record({ customerId: id, contractId: id, ...usageFilterFields, startingAt: hour });

const reference = { customer_id: uuid, contract_id: uuid };

export function contractChangeRoutes(context: BillingContext): RouteDefinition[] {
  return [updateEndDateRoute(context), setUsageFilterRoute(context), archiveRoute(context)];
}

function updateEndDateRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    path: '/v1/contracts/updateEndDate',
    operationId: 'updateContractEndDate',
    summary: 'Set, move or remove the end of a contract',
    description:
      'An earlier end cuts drafts and terms and removes what is scheduled after it. A later one lengthens ' +
      'the contract and nothing else.',
    body: z.object({
      ...reference,
      ending_before: hourAlignedEnd.nullish().meta({ description: 'If omitted, the contract has no end.' }),
      allow_ending_before_finalized_invoice: z.boolean().nullish().meta({ description: 'Default: true.' }),
    }),
    response: createdId.extend({ warnings: answerWarnings }),
    async handler({ body, actor }) {
      await updateEndDate(context, {
        customerId: body.customer_id,
        contractId: body.contract_id,
        changedBy: actor.name,
        endingBefore: body.ending_before ?? null,
        allowEndingBeforeFinalizedInvoice: body.allow_ending_before_finalized_invoice ?? true,
      });
      return {
        data: { id: body.contract_id },
        ...noRolloverToWire(await rolloverWarningsOfContract(context.db, body.contract_id)),
      };
    },
  });
}

function setUsageFilterRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    path: '/v1/contracts/setUsageFilter',
    operationId: 'setContractUsageFilter',
    summary: 'Set which usage belongs to a contract from a date on',
    body: usageFilterBody.input.tolerant,
    response: 'empty',
    async handler({ body: { customerId, contractId, ...filter }, actor }) {
      await setUsageFilter(context, { customerId, contractId, changedBy: actor.name, filter });
    },
  });
}

function archiveRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    path: '/v1/contracts/archive',
    errors: [400, 404, 503],
    operationId: 'archiveContract',
    summary: 'Archive a contract',
    description: 'Removes drafts and stops invoicing. Cannot be undone.',
    body: z.object({
      ...reference,
      void_invoices: z.boolean().meta({ description: 'If true, finalized invoices are voided too.' }),
    }),
    response: createdId,
    async handler({ body, actor }) {
      await archiveContract(context, {
        customerId: body.customer_id,
        contractId: body.contract_id,
        changedBy: actor.name,
        voidInvoices: body.void_invoices,
      });
      return { data: { id: body.contract_id } };
    },
  });
}

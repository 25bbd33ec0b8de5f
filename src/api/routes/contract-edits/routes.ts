/** Editing and amending contracts, and the edit history. */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import { getEditHistory, viewEdit } from '../../../billing/contract-views/edit-history.ts';
import { amendContract } from '../../../billing/contracts/edits/amend-contract.ts';
import { editContract } from '../../../billing/contracts/edits/edit-contract.ts';
import { rolloverWarningsOfEdit } from '../../../billing/contracts/rollover-warnings.ts';
import type { WireWords } from '../../base/names.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { answerWarnings } from '../../wire/answer-warnings.ts';
import { described } from '../../wire/description.ts';
import { createdId, uuid } from '../../wire/fields.ts';
import { customFields, hour, id } from '../../wire/kinds.ts';
import { noRolloverToWire } from '../../wire/no-rollover.ts';
import { beside, record } from '../../wire/record.ts';
import { contractTerms } from '../../wire/terms/contract-terms.ts';
import { contractEditOutput, editContractBody, editFromWire, editToWire } from './edit.ts';

const common = { method: 'post', tags: ['Contracts'] } as const;

export function contractEditRoutes(context: BillingContext): RouteDefinition[] {
  return [editRoute(context), historyRoute(context), amendRoute(context)];
}

/** Wire names of an edit: lists have a prefix such as `add_`, and patches name the id of their term. */
export const EDIT_WORDS: WireWords = {
  header: '',
  'header.endingBefore': 'update_contract_end_date',
  billingConfigurationId: 'add_billing_provider_configuration_update',
  billingConfiguration: 'add_billing_provider_configuration_update.billing_provider_configuration',
  removals: '',
  updates: '',
  'updateCommits.id': 'commit_id',
  'updateCredits.id': 'credit_id',
  'updateRecurringCommits.id': 'recurring_commit_id',
  'updateRecurringCredits.id': 'recurring_credit_id',
  'updateScheduledCharges.id': 'scheduled_charge_id',
  'updateSubscriptions.id': 'subscription_id',
  'updateSubscriptions.seatGroupKey': 'quantity_management_mode_update',
  'updateSubscriptions.quantityManagementMode': 'quantity_management_mode_update.quantity_management_mode',
  updateSpendThreshold: 'update_spend_threshold_configuration',
  updatePrepaidBalanceThreshold: 'update_prepaid_balance_threshold_configuration',
  additions: 'add_',
};

function editRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    path: '/v2/contracts/edit',
    wireWords: EDIT_WORDS,
    operationId: 'editContract',
    summary: 'Edit a contract',
    description:
      'All changes are applied or none is, in this order: end date and header, archived and removed terms, ' +
      'what is updated, what is added. Drafts follow at once, finalized invoices do not change. A ' +
      'uniqueness_key that an edit used before answers 409 and changes nothing.',
    scope: 'write',
    body: editContractBody,
    response: z.object({
      data: z.object({
        id: uuid.meta({ description: 'The id of the contract. The id of the edit is in `edit`.' }),
        edit: contractEditOutput,
      }),
      warnings: answerWarnings,
    }),
    errors: [400, 404, 409],
    async handler({ body, actor }) {
      const edit = await editContract(context, {
        customerId: body.customerId,
        contractId: body.contractId,
        edit: editFromWire(body),
        uniquenessKey: body.uniquenessKey,
        editedBy: actor.name,
      });
      return {
        data: { id: body.contractId, edit: editToWire(edit, await viewEdit(context, body.customerId, edit)) },
        ...noRolloverToWire(await rolloverWarningsOfEdit(context.db, edit)),
      };
    },
  });
}

function historyRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    path: '/v2/contracts/getEditHistory',
    operationId: 'getContractEditHistory',
    summary: 'Get every change of a contract',
    description: 'In chronological order, regardless of the operation that caused them.',
    scope: 'read',
    body: z.object({ customer_id: uuid, contract_id: uuid }),
    response: z.object({ data: z.array(contractEditOutput) }),
    errors: [400, 404],
    async handler({ body }) {
      const reference = { customerId: body.customer_id, contractId: body.contract_id };
      const history = await getEditHistory(context, reference);
      return { data: history.edits.map((edit) => editToWire(edit, history)) };
    },
  });
}

function amendRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    path: '/v1/contracts/amend',
    operationId: 'amendContract',
    summary: 'Add terms to a contract from a date on',
    description: 'For older clients: the same as an edit that only adds.',
    scope: 'write',
    body: amendContractBody,
    response: createdId.extend({ warnings: answerWarnings }),
    errors: [400, 404, 409],
    async handler({ body, actor }) {
      const edit = await amendContract(context, { ...body, createdBy: actor.name });
      return { data: { id: edit.id }, ...noRolloverToWire(await rolloverWarningsOfEdit(context.db, edit)) };
    },
  });
}

const { commits, credits, overrides, scheduledCharges, discounts, professionalServices } = contractTerms;

const amendment = record(
  {
    customerId: id,
    contractId: id,
    startingAt: described('No added term may begin earlier.', hour),
    terms: beside({ commits, credits, overrides, scheduledCharges, discounts, professionalServices }),
    customFields,
  },
  { id: { sent: 'AmendContract' } },
);

const amendContractBody = amendment.input.tolerant;

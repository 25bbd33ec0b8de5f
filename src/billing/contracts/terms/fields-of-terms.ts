/** Assigns the custom fields of a request to its new objects. Pure. */
import type { CustomFieldEntity, CustomFields, ObjectFields } from '../../../core/custom-fields.ts';
import { assert, type FieldPath } from '../../../core/errors.ts';
import type { ContractTerms } from '../../../core/terms/contract.ts';
import type { TermsInput } from './build-terms.ts';

/** The fields of terms built from `input`, in its order. `path`: the path of its lists in the request. */
export function fieldsOfTerms(
  input: Pick<
    TermsInput,
    'commits' | 'credits' | 'scheduledCharges' | 'discounts' | 'professionalServices' | 'subscriptions'
  >,
  built: Pick<ContractTerms, 'commits' | 'scheduledCharges' | 'professionalServices' | 'subscriptions'>,
  path: FieldPath,
): ObjectFields[] {
  const commits = built.commits.filter(({ type }) => type !== 'CREDIT');
  const credits = built.commits.filter(({ type }) => type === 'CREDIT');
  const charges = built.scheduledCharges.filter(({ kind }) => kind === 'CHARGE');
  const discounts = built.scheduledCharges.filter(({ kind }) => kind === 'DISCOUNT');
  return [
    ...located('commit', input.commits, commits, [...path, 'commits']),
    ...located('contract_credit', input.credits, credits, [...path, 'credits']),
    ...located('scheduled_charge', input.scheduledCharges, charges, [...path, 'scheduledCharges']),
    ...located('discount', input.discounts, discounts, [...path, 'discounts']),
    ...located('professional_service', input.professionalServices, built.professionalServices, [
      ...path,
      'professionalServices',
    ]),
    ...located('subscription', input.subscriptions, built.subscriptions, [...path, 'subscriptions']),
  ];
}

/** The fields of objects built from `inputs`, in their order; `list`: the path of these. */
export function located(
  entity: CustomFieldEntity,
  inputs: readonly { readonly customFields: CustomFields }[],
  objects: readonly { readonly id: string }[],
  list: FieldPath,
): ObjectFields[] {
  assert(inputs.length === objects.length, `every one of ${list.join('.')} has been built`);
  return objects.map(({ id }, index) => ({
    entity,
    entityId: id,
    fields: inputs[index]?.customFields ?? {},
    path: [...list, index],
  }));
}

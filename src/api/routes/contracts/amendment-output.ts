/** How amendments look in answers of v1. */
import type { ContractView } from '../../../billing/contract-views/contract-views.ts';
import { addedTerms, type ContractEdit } from '../../../core/terms/contract-edits.ts';
import { anyText, id, instant } from '../../wire/kinds.ts';
import { beside, record } from '../../wire/record.ts';
import { addedTermsView, contractTerms } from '../../wire/terms/contract-terms.ts';

const { commits, credits, overrides, scheduledCharges, discounts, professionalServices } = contractTerms;

export const amendment = record(
  {
    id,
    startingAt: instant,
    terms: beside({ commits, credits, overrides, scheduledCharges, discounts, professionalServices }),
    createdAt: instant,
    createdBy: anyText,
  },
  { id: { answered: 'ContractAmendment' } },
);

/** `edit` must be an amendment. */
export function amendmentView(edit: ContractEdit, view: ContractView) {
  return {
    ...edit,
    startingAt: edit.amendmentStartingAt ?? edit.timestamp,
    terms: addedTermsView(addedTerms(edit.changes), { ...view, contract: view.current.contract }),
    createdAt: edit.timestamp,
  };
}

/** The body of a request that amends a contract. */

import { described } from '../../wire/description.ts';
import { customFields, hour, id } from '../../wire/kinds.ts';
import { beside, record } from '../../wire/record.ts';
import { contractTerms } from '../../wire/terms/contract-terms.ts';

const { commits, credits, overrides, scheduledCharges, discounts, professionalServices } = contractTerms;

const amendment = record(
  {
    customerId: id,
    contractId: id,
    startingAt: described('None of the added terms may begin earlier.', hour),
    terms: beside({ commits, credits, overrides, scheduledCharges, discounts, professionalServices }),
    customFields,
  },
  { id: { sent: 'AmendContract' } },
);

export const amendContractBody = amendment.input.tolerant;

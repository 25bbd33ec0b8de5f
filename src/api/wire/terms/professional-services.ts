/** Professional services on the wire. */

import type { TermNames } from '../../../billing/contracts/term-names.ts';
import { customFieldsOf } from '../../../core/custom-fields.ts';
import type { ProfessionalService } from '../../../core/terms/professional-services.ts';
import { answered, described, optional } from '../description.ts';
import { anyText, customFields, exact, id } from '../kinds.ts';
import { record } from '../record.ts';

const amount = exact({ min: '0' });

export const professionalService = record(
  {
    id: answered(id),
    productId: described('A PROFESSIONAL_SERVICE product.', id),
    description: optional(anyText),
    unitPrice: amount,
    quantity: amount,
    maxAmount: described('The limit for the total of all invoices of the service.', amount),
    customFields,
  },
  { id: { sent: 'ProServiceInput', answered: 'ProService' } },
);

/** A service with all data that answers show. */
export function professionalServiceView(from: ProfessionalService, names: TermNames) {
  return { ...from, customFields: customFieldsOf(names.customFields, from.id) };
}

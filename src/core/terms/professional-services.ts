/** Professional services: invoiced on demand, up to a maximum. */
import { z } from 'zod';
import { exactText, instantValue, listOf, objectOf } from './values.ts';

/** An amount that was requested for an invoice. `amount` is `unitPrice` × `quantity`. */
const requestedItem = objectOf({
  id: z.string(),
  /** The items of one request are on a separate invoice. */
  invoiceId: z.string(),
  timestamp: instantValue,
  creditTypeId: z.string(),
  unitPrice: exactText,
  quantity: exactText,
  amount: exactText,
  /** Free text from the client, shown on the line. */
  metadata: z.string().nullable(),
});
export type RequestedItem = z.output<typeof requestedItem>;

export const professionalService = objectOf({
  id: z.string(),
  contractId: z.string(),
  /** A PROFESSIONAL_SERVICE product. */
  productId: z.string(),
  description: z.string().nullable(),
  /** The agreed price and quantity. An invoice may have others. */
  unitPrice: exactText,
  quantity: exactText,
  /** The maximum total of all items. */
  maxAmount: exactText,
  /** In the order of the requests. */
  items: listOf(requestedItem),
  createdAt: instantValue,
  createdBy: z.string(),
});
export type ProfessionalService = z.output<typeof professionalService>;

/** A professional service as a client describes it. */
export type ProfessionalServiceInput = Omit<
  ProfessionalService,
  'id' | 'contractId' | 'items' | 'createdAt' | 'createdBy'
> & {
  readonly customFields: Readonly<Record<string, string>>;
};

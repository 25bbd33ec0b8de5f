/** Validates and creates professional services (docs/explanation/contracts.md, "Professional services"). Pure. */
import { type FieldPath, invalid } from '../../../core/errors.ts';
import type {
  ProfessionalService,
  ProfessionalServiceInput,
} from '../../../core/terms/professional-services.ts';
import { requireProduct, type TermsContext } from './terms-context.ts';

/** Refuses (`invalid`) the first invalid field; `path` is the place of the service in the request. */
export function buildProfessionalService(
  input: ProfessionalServiceInput,
  path: FieldPath,
  context: TermsContext,
  origin: Pick<ProfessionalService, 'id' | 'contractId' | 'createdAt' | 'createdBy'>,
): ProfessionalService {
  const field = [...path, 'productId'];
  const product = requireProduct(context, input.productId, field);
  if (product.type !== 'PROFESSIONAL_SERVICE') {
    throw invalid(field, `must be a PROFESSIONAL_SERVICE product, not ${product.type}`);
  }
  if (product.archivedAt !== null) throw invalid(field, `product ${product.id} is archived`);
  const { customFields: _, ...described } = input;
  return { ...described, ...origin, items: [] };
}

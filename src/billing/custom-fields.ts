/**
 * Which custom fields an entity may carry: only keys that were declared for its type
 * (docs/decisions.md, "Custom fields"). No operation declares keys yet, so every key is refused; that is
 * better than to accept metadata and drop it.
 */
import { invalid } from '../core/errors.ts';

export type CustomFieldEntity =
  | 'customer'
  | 'billable_metric'
  | 'contract_product'
  | 'rate_card'
  | 'contract';

/** Refuses keys that are not declared for `entity`. */
export function requireDeclaredCustomFields(
  entity: CustomFieldEntity,
  customFields: Readonly<Record<string, string>>,
): void {
  const [key] = Object.keys(customFields);
  if (key !== undefined) {
    throw invalid(`custom_fields.${key}`, `is not a declared custom field of entity ${entity}`);
  }
}

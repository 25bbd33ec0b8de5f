/** Parents and children of contracts in answers. */
import { z } from 'zod';
import type { ContractView } from '../../../billing/contract-views/contract-views.ts';
import type { FullContract } from '../../../core/terms/contract.ts';
import { uuid } from '../../wire/fields.ts';

const link = z.object({ contract_id: uuid, customer_id: uuid });

export const hierarchyOutput = z
  .union([
    z.object({
      parent: link,
      payer: z.enum(['SELF', 'PARENT']).optional(),
      usage_statement_behavior: z.enum(['CONSOLIDATE', 'SEPARATE']).optional(),
    }),
    z.object({
      children: z.array(link),
      parent_behavior: z.object({ invoice_consolidation_type: z.enum(['CONCATENATE', 'NONE']) }).optional(),
    }),
  ])
  .meta({ id: 'HierarchyConfiguration' });

/** Present children, whichever state of the contract is shown. */
export function hierarchyToWire(
  { contract }: FullContract,
  { children }: ContractView,
): z.input<typeof hierarchyOutput> | null {
  const { parent, invoiceConsolidationType: type } = contract;
  if (parent !== null) {
    return {
      parent: { contract_id: parent.contractId, customer_id: parent.customerId },
      payer: parent.payer ?? undefined,
      usage_statement_behavior: parent.usageStatementBehavior ?? undefined,
    };
  }
  if (children.length === 0 && type === null) return null;
  return {
    children: children.map((child) => ({ contract_id: child.id, customer_id: child.customerId })),
    parent_behavior: type === null ? undefined : { invoice_consolidation_type: type },
  };
}

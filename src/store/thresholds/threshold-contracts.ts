/** Which customers have thresholds to evaluate. */
import { and, asc, eq, exists, isNull, or } from 'drizzle-orm';
import type { Database } from '../base/database.ts';
import { isOneOf } from '../base/is-one-of.ts';
import { prepaidBalanceThresholds, spendThresholds } from '../contracts/contract-settings.tables.ts';
import { contracts } from '../contracts/contracts.tables.ts';
import { thresholdCharges } from './threshold-charges.tables.ts';

/**
 * Ids of customers with a contract whose threshold is enabled, or whose charge is pending, whether or not it has
 * started or ended. Null: all customers.
 */
export async function customersWithThresholds(
  db: Database,
  customerIds: readonly string[] | null,
): Promise<string[]> {
  const enabled = [spendThresholds, prepaidBalanceThresholds].map((table) =>
    exists(
      db
        .select({ contractId: table.contractId })
        .from(table)
        .where(and(eq(table.contractId, contracts.id), table.isEnabled)),
    ),
  );
  const inFlight = exists(
    db
      .select({ contractId: thresholdCharges.contractId })
      .from(thresholdCharges)
      .where(and(eq(thresholdCharges.contractId, contracts.id), thresholdCharges.isInFlight)),
  );
  const rows = await db
    .selectDistinct({ customerId: contracts.customerId })
    .from(contracts)
    .where(
      and(
        isNull(contracts.archivedAt),
        customerIds === null ? undefined : isOneOf(contracts.customerId, customerIds),
        or(...enabled, inFlight),
      ),
    )
    .orderBy(asc(contracts.customerId));
  return rows.map(({ customerId }) => customerId);
}

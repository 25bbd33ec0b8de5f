/** Creates commits and credits of a customer, which belong to none of its contracts. */
import { newId } from '../../core/ids.ts';
import type { Commit, CommitInput } from '../../core/terms/commits.ts';
import { publishCommitChanges } from '../../notifications/lifecycle-messages.ts';
import { insertCommits } from '../../store/balances/commits.ts';
import { noteCustomerChanges } from '../../store/customers/customer-changes.ts';
import type { RowContext } from '../billing-context.ts';
import { NO_TERMS_INPUT } from '../contracts/terms/build-terms.ts';
import { buildCommit } from '../contracts/terms/commits.ts';
import { namedIds } from '../contracts/terms/named-ids.ts';
import { loadTermsContext } from '../contracts/terms/terms-context.ts';
import { storeCustomFields } from '../custom-fields/store-fields.ts';
import { requireActiveCustomer } from '../customers/active-customer.ts';
import { planScheduledInvoices } from '../invoice-queue/scheduled-jobs.ts';
import { checkInvoiceContract, lockInvoiceContracts, requireOwnContracts } from './invoice-contract.ts';

export interface CreateCommitInput {
  readonly customerId: string;
  /** A credit if its type is CREDIT. */
  readonly commit: CommitInput;
  /** The contract that invoices it; null if nothing is invoiced. */
  readonly invoiceContractId: string | null;
  /** Empty: it applies to all contracts of the customer. */
  readonly applicableContractIds: readonly string[];
  readonly uniquenessKey: string | null;
  readonly createdBy: string;
}

/**
 * Returns the id. Refuses an unknown customer or contract (`not_found`), the first invalid field (`invalid`), a
 * uniqueness key that a commit or credit has used before, and a custom field value of another object (`conflict`).
 */
export async function createCommit({ db, clock }: RowContext, input: CreateCommitInput): Promise<string> {
  const { customerId, invoiceContractId, uniquenessKey } = input;
  const applicableContractIds = [...new Set(input.applicableContractIds)];
  return db.transaction(async (tx) => {
    await requireActiveCustomer(tx, customerId);
    const contracts = await lockInvoiceContracts(
      tx,
      customerId,
      invoiceContractId === null ? [] : [invoiceContractId],
    );
    await requireOwnContracts(tx, customerId, input.applicableContractIds, ['applicableContractIds']);
    const named = namedIds({ ...NO_TERMS_INPUT, commits: [input.commit] });
    const context = await loadTermsContext(tx, null, named, { contract: null, paymentProvider: undefined });
    const origin = {
      id: newId(),
      customerId,
      contractId: null,
      createdAt: clock.now(),
      createdBy: input.createdBy,
    };
    const built = buildCommit(input.commit, [], context, origin);
    const commit: Commit = { ...built, invoiceContractId, applicableContractIds, uniquenessKey };
    checkInvoiceContract(commit, contracts);
    await insertCommits(tx, [commit]);
    await planScheduledInvoices(tx, contracts, clock.now());
    await noteCustomerChanges(tx, [customerId]);
    const entity = commit.type === 'CREDIT' ? 'contract_credit' : 'commit';
    const { customFields: fields } = input.commit;
    await storeCustomFields(tx, [{ entity, entityId: commit.id, fields, path: [] }]);
    await publishCommitChanges(tx, [{ before: null, after: commit }], commit.createdAt);
    return commit.id;
  });
}

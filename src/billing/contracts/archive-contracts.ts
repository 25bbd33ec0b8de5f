/**
 * Archives contracts with their commits, credits and charges (docs/explanation/contracts.md, "Archiving"). It cannot be
 * undone. Drafts disappear and no further invoices are created.
 */
import { Refusal } from '../../core/errors.ts';
import type { FullContract } from '../../core/terms/contract.ts';
import type { Instant } from '../../core/time.ts';
import type { Transaction } from '../../store/base/database.ts';
import { lockContractsOf } from '../../store/contracts/contracts.ts';
import { voidInvoicesOfContract } from '../../store/invoices/voided-invoices.ts';
import type { BillingContext } from '../billing-context.ts';
import {
  CONTRACTS_PER_CALL_MAX,
  type ContractReference,
  changeContract,
  changeLockedContracts,
} from './change-contract.ts';
import { lockRenewedBy, reopenRenewed } from './reopen-renewed.ts';
import type { ChangeOrigin, ContractChange } from './settle-contract.ts';

export interface ArchiveContractInput extends ContractReference {
  readonly changedBy: string;
  /** Whether finalized invoices are voided too. */
  readonly voidInvoices: boolean;
}

/** Archives a contract, and reopens the one that it renews (reopen-renewed.ts). Refuses a missing contract, and an archived one (`invalid`). */
export async function archiveContract(context: BillingContext, input: ArchiveContractInput): Promise<void> {
  const { changedBy, contractId, voidInvoices } = input;
  const now = context.clock.now();
  const voided = await context.db.transaction(async (tx) => {
    const renewed = await lockRenewedBy(tx, contractId);
    await changeContract(tx, context, input, { now, changedBy }, (full) => {
      if (full.contract.archivedAt !== null)
        throw new Refusal('invalid', `contract ${contractId} is already archived`);
      return archival(full, now);
    });
    const invoices = voidInvoices ? await voidInvoicesOfContract(tx, contractId, now) : [];
    if (renewed !== null) await reopenRenewed(tx, context, renewed, contractId, { now, changedBy });
    return invoices;
  });
  for (const invoice of voided) context.invoiceLog.voided(invoice);
}

/**
 * Archives all contracts of a customer that this transaction has locked. Refuses (`invalid`) more contracts
 * than one call may change.
 */
export async function archiveContractsOf(
  tx: Transaction,
  context: Pick<BillingContext, 'gracePeriodHours'>,
  customerId: string,
  origin: Pick<ChangeOrigin, 'now' | 'changedBy'>,
): Promise<void> {
  const contracts = await lockContractsOf(tx, customerId, { limit: CONTRACTS_PER_CALL_MAX + 1 });
  if (contracts.length > CONTRACTS_PER_CALL_MAX) {
    throw new Refusal(
      'invalid',
      `customer ${customerId} has more than ${CONTRACTS_PER_CALL_MAX} contracts: archive some of them first`,
    );
  }
  await changeLockedContracts(tx, context, contracts, origin, (full) => archival(full, origin.now));
}

/** The history lists the contract, and the terms that were still active; it has no group for discounts. */
function archival(full: FullContract, now: Instant): ContractChange {
  const { commits, scheduledCharges } = full.terms;
  const active = commits.filter((commit) => commit.archivedAt === null);
  return {
    after: archived(full, now),
    changes: {
      archivedAt: now,
      archiveCommits: active.filter(({ type }) => type !== 'CREDIT').map(({ id }) => id),
      archiveCredits: active.filter(({ type }) => type === 'CREDIT').map(({ id }) => id),
      archiveScheduledCharges: scheduledCharges
        .filter((charge) => charge.kind === 'CHARGE' && charge.archivedAt === null)
        .map(({ id }) => id),
    },
  };
}

function archived({ contract, terms }: FullContract, now: Instant): FullContract {
  const archive = <Term extends { readonly archivedAt: Instant | null }>(term: Term): Term => ({
    ...term,
    archivedAt: term.archivedAt ?? now,
  });
  return {
    contract: archive(contract),
    terms: {
      ...terms,
      commits: terms.commits.map(archive),
      scheduledCharges: terms.scheduledCharges.map(archive),
    },
  };
}

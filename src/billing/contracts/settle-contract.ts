/**
 * Stores a created or changed contract with all consequences, in one transaction (docs/explanation/contracts.md, "What
 * follows from a change"). Creation and every kind of change end here; nothing else writes the terms, versions and
 * history of contracts. New consequences of every change belong here.
 *
 * Lock order, common to all transactions: contracts, from the older to those that renew them; then jobs; then balances
 * (`lockBalances`); then commits; then custom field keys, which other requests wait for.
 */
import type { CustomFields, ObjectFields } from '../../core/custom-fields.ts';
import { keyUsed } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import type { FullContract } from '../../core/terms/contract.ts';
import { type ContractChanges, type ContractEdit, NO_CHANGES } from '../../core/terms/contract-edits.ts';
import type { Instant } from '../../core/time.ts';
import { publishContractChanges } from '../../notifications/lifecycle-messages.ts';
import type { Transaction } from '../../store/base/database.ts';
import { sentTogether } from '../../store/base/sent-together.ts';
import { insertTerms, saveContract } from '../../store/contract-terms/contract-terms.ts';
import { editWithKey, insertContractEdits } from '../../store/contracts/contract-edits.ts';
import { insertContractVersions } from '../../store/contracts/contract-versions.ts';
import { noteCustomerChanges } from '../../store/customers/customer-changes.ts';
import type { BillingContext } from '../billing-context.ts';
import { mergeCustomFields, storeCustomFields } from '../custom-fields/store-fields.ts';
import { planFinalizations } from '../invoice-queue/finalization.ts';
import { planScheduledInvoices } from '../invoice-queue/scheduled-jobs.ts';
import { renewalsThatFollow } from './follow-renewal.ts';
import { planGrants, withGrantsOf } from './grants/grant-jobs.ts';

export interface ChangeOrigin {
  readonly now: Instant;
  readonly changedBy: string;
  /** The uniqueness key of an edit, in the key space of edits. */
  readonly uniquenessKey?: string | null;
  /** Marks the change as an amendment; see `ContractEdit`. */
  readonly amendmentStartingAt?: Instant;
}

export interface ContractChange {
  readonly after: FullContract;
  /** The changes for the history; absent parts did not change. */
  readonly changes: Partial<ContractChanges>;
  /** Custom fields of objects that the change creates. */
  readonly newFields?: readonly ObjectFields[];
  /** Set on the contract itself; its other fields stay. */
  readonly ownFields?: CustomFields;
}

export interface SettledChange extends ContractChange {
  /** The former state, locked; null for a new contract, whose header is stored already. */
  readonly before: FullContract | null;
}

/** The stored state. */
export interface Settled {
  /** The states after the changes, including the children of their recurring terms. In the order of the changes. */
  readonly states: readonly FullContract[];
  /** The history entries, one per change of an existing contract. */
  readonly edits: readonly ContractEdit[];
}

/**
 * Stores the states after the changes with all consequences. Refuses a uniqueness key that an edit used before, and a
 * custom field value of another object (`conflict`).
 */
export async function settleContracts(
  tx: Transaction,
  { gracePeriodHours }: Pick<BillingContext, 'gracePeriodHours'>,
  requested: readonly SettledChange[],
  origin: ChangeOrigin,
): Promise<Settled> {
  const changes = await withGrantsOf(tx, requested, origin.now);
  const edits = await writeChanges(tx, changes, origin);
  const followed = await followRenewals(tx, changes, origin);
  const headers = [...changes, ...followed].map(({ before, after }) => ({
    before: before?.contract ?? null,
    after: after.contract,
  }));
  const upcoming = await planGrants(
    tx,
    changes.map(({ after }) => after),
    origin.now,
  );
  await planFinalizations(tx, headers, gracePeriodHours);
  await planScheduledInvoices(
    tx,
    [...changes, ...followed].filter(mayBeScheduled).map(({ after }) => after.contract),
    origin.now,
  );
  await storeCustomFields(
    tx,
    changes.flatMap(({ newFields }) => newFields ?? []),
  );
  for (const { after, ownFields: fields } of changes) {
    if (fields === undefined) continue;
    await mergeCustomFields(tx, [{ entity: 'contract', entityId: after.contract.id, fields, path: [] }]);
  }
  await sentTogether(
    () =>
      noteCustomerChanges(
        tx,
        headers.flatMap(({ after: { customerId, parent } }) => [
          customerId,
          parent?.customerId ?? customerId,
        ]),
      ),
    () => publishContractChanges(tx, [...changes, ...followed], upcoming, origin.now),
  );
  return { states: changes.map(({ after }) => after), edits };
}

/** Whether the contract may have, or have had, a scheduled invoice: a new one has only those of its terms. */
function mayBeScheduled({ before, after: { terms } }: SettledChange): boolean {
  const invoiced = [terms.commits, terms.scheduledCharges, terms.professionalServices, terms.subscriptions];
  return before !== null || invoiced.some(({ length }) => length > 0);
}

async function writeChanges(
  tx: Transaction,
  changes: readonly SettledChange[],
  origin: ChangeOrigin,
): Promise<ContractEdit[]> {
  const changed = changes.flatMap(({ before, ...rest }) => (before === null ? [] : [{ before, ...rest }]));
  const replaced = changed.map(({ before }) => before);
  await insertContractVersions(tx, replaced, origin.now);
  for (const { before, after } of changes) {
    if (before === null) await insertTerms(tx, after.contract.id, after.terms);
    else await saveContract(tx, before, after, origin.now);
  }
  const edits = changed.map((change) => editOf(change, origin));
  // Two edits of different contracts may have the same key: only the insertion decides between them.
  if (!(await insertContractEdits(tx, edits))) {
    throw keyUsed(origin.uniquenessKey == null ? null : await editWithKey(tx, origin.uniquenessKey));
  }
  return edits;
}

function editOf({ after, changes }: ContractChange, origin: ChangeOrigin): ContractEdit {
  return {
    id: newId(),
    contractId: after.contract.id,
    timestamp: origin.now,
    uniquenessKey: origin.uniquenessKey ?? null,
    amendmentStartingAt: origin.amendmentStartingAt ?? null,
    createdBy: origin.changedBy,
    changes: { ...NO_CHANGES, ...changes },
  };
}

/** Follows the chains of renewals of the changed contracts to their ends. */
async function followRenewals(
  tx: Transaction,
  changes: readonly SettledChange[],
  { now, changedBy }: ChangeOrigin,
): Promise<SettledChange[]> {
  const followed: SettledChange[] = [];
  // A new contract has no renewal yet.
  let sources = changes.filter(({ before }) => before !== null);
  while (sources.length > 0) {
    const states = sources.map(({ after }) => after);
    sources = await renewalsThatFollow(tx, states, now);
    await writeChanges(tx, sources, { now, changedBy });
    followed.push(...sources);
  }
  return followed;
}

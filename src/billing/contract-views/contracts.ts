/** Reading contracts. */
import { assert, invalid, notFound, words } from '../../core/errors.ts';
import type { Instant } from '../../core/time.ts';
import { findVersionAsOf } from '../../store/contracts/contract-versions.ts';
import { loadContracts } from '../../store/contracts/contracts.ts';
import { customerExists } from '../../store/customers/customers.ts';
import type { BillingContext } from '../billing-context.ts';
import { findContractOf } from '../contracts/find-contract.ts';
import { type ContractView, contractViews, viewsOf } from './contract-views.ts';

export interface GetContractInput {
  readonly customerId: string;
  readonly contractId: string;
  /** The instant of the requested state; null: the current one. */
  readonly asOfDate: Instant | null;
  readonly withHistory: boolean;
  readonly withBalances: boolean;
}

/** Refuses a missing contract (see `findContractOf`), and a date before its creation (`invalid`). */
export async function getContract(context: BillingContext, input: GetContractInput): Promise<ContractView> {
  const contract = await findContractOf(context.db, input.customerId, input.contractId);
  const now = context.clock.now();
  const { asOfDate } = input;
  if (asOfDate !== null && asOfDate < contract.createdAt) {
    throw invalid(['asOfDate'], 'the contract did not exist then');
  }
  const earlier = asOfDate === null ? null : await findVersionAsOf(context.db, contract.id, asOfDate);
  const [view] =
    earlier === null
      ? await contractViews(context, [contract], now, input)
      : await viewsOf(context, [earlier], now, input);
  assert(view !== undefined, `contract ${contract.id} has a view`);
  return view;
}

export interface ListContractsInput {
  readonly customerId: string;
  readonly includeArchived: boolean;
  /** Only contracts that start at or after this instant. Mutually exclusive with `coveringDate`. */
  readonly startingAt: Instant | null;
  /** Only contracts in force at this instant. */
  readonly coveringDate: Instant | null;
  /** Latest start first, and for equal starts the last created first; else earliest start first. */
  readonly isNewestFirst: boolean;
  readonly withHistory: boolean;
  readonly withBalances: boolean;
}

/** The customer's contracts. Refuses an unknown customer (`CustomerNotFound`). */
export async function listContracts(
  context: BillingContext,
  input: ListContractsInput,
): Promise<ContractView[]> {
  const { customerId, includeArchived, startingAt, coveringDate } = input;
  if (startingAt !== null && coveringDate !== null) {
    throw invalid(['coveringDate'], words`cannot be combined with ${['startingFrom']}`);
  }
  if (!(await customerExists(context.db, customerId))) {
    throw notFound('customer', customerId, 'CustomerNotFound');
  }
  const contracts = await loadContracts(context.db, {
    customerIds: [customerId],
    includeArchived,
    ...(startingAt === null ? {} : { startingFrom: startingAt }),
    ...(coveringDate === null ? {} : { coveringDate }),
  });
  const inOrder = input.isNewestFirst
    ? contracts.toSorted(
        (a, b) => b.startingAt - a.startingAt || b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1),
      )
    : contracts;
  return contractViews(context, inOrder, context.clock.now(), input);
}

/** Requests for commits and credits of customers, and for edits of one commit or credit. */
import { z } from 'zod';
import { described, kind, list, optional, optionalMany, patched } from '../description.ts';
import { customFields, exact, id } from '../kinds.ts';
import { beside, dropped, readAs, record } from '../record.ts';
import { OF_CREDITS, patchFields, plain, purchaseType } from './commits.ts';
import { accessSchedule, invoiceSchedule, invoiceSchedulePatch } from './schedules.ts';
import { applicability } from './scope.ts';

/** A commit or credit of a customer, in the request that creates it. */
const ofCustomer = {
  customerId: id,
  ...plain,
  priority: described('Lower is used first.', exact({ min: '0' })),
  accessSchedule,
  applicability: beside(applicability),
  applicableContractIds: described(
    'Applicable contracts. Default: all contracts of the customer.',
    optionalMany(list(id, { max: 1_000 }), []),
  ),
  customFields,
  uniquenessKey: described(
    'A repeated key answers 409 and creates nothing.',
    optional(kind(z.string().min(1).max(128), z.string())),
  ),
};

const NOT_OF_CUSTOMERS = { rolloverFraction: null, hierarchyAccess: null, ...OF_CREDITS } as const;

export const customerCommit = readAs(
  record(
    {
      ...ofCustomer,
      type: purchaseType,
      invoiceSchedule: described(
        'Required for POSTPAID. A PREPAID commit without an invoice schedule is free.',
        optional(invoiceSchedule),
      ),
      invoiceContractId: described(
        'The contract that invoices it. Required for POSTPAID, and for PREPAID with an invoice.',
        optional(id),
      ),
    },
    { id: { sent: 'CreateCustomerCommit' } },
  ),
  ({ customerId, applicableContractIds, uniquenessKey: key, invoiceContractId, ...commit }) => ({
    customerId,
    applicableContractIds,
    uniquenessKey: key,
    invoiceContractId,
    commit: {
      ...NOT_OF_CUSTOMERS,
      ...commit,
    },
  }),
);

export const customerCredit = readAs(
  record(ofCustomer, { id: { sent: 'CreateCustomerCredit' } }),
  ({ customerId, applicableContractIds, uniquenessKey: key, ...credit }) => ({
    customerId,
    applicableContractIds,
    uniquenessKey: key,
    invoiceContractId: null,
    commit: { ...credit, ...NOT_OF_CUSTOMERS },
  }),
);

/** Accepted and without effect (docs/explanation/contracts.md, "Not supported"). */
const ignored = dropped(z.unknown().optional());

const editFields = {
  customerId: id,
  ...patchFields,
  ...patched({ applicableContractIds: optionalMany(list(id, { max: 1_000 }), []) }),
  netsuiteSalesOrderId: ignored,
  salesforceOpportunityId: ignored,
};

/** The request that edits one commit. */
export const commitEdit = record(
  {
    ...editFields,
    id: { ...id, sentAs: 'commit_id' },
    ...patched({ invoiceSchedule: invoiceSchedulePatch, invoiceContractId: id }),
  },
  { id: { sent: 'EditCommit' } },
);

/** The request that edits one credit. */
export const creditEdit = record(
  { ...editFields, id: { ...id, sentAs: 'credit_id' } },
  { id: { sent: 'EditCredit' } },
);

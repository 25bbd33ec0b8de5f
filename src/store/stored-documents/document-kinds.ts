/**
 * Every kind of JSON document in the database. A change of its schema adds a step here (docs/explanation/upgrades.md).
 */
import { alertFilters } from '../../core/alerts.ts';
import { invoiceBalances } from '../../core/invoice-balances.ts';
import { cardTerms, contractUsageTerms } from '../../core/invoice-terms.ts';
import { fullContract } from '../../core/terms/contract.ts';
import { contractChanges } from '../../core/terms/contract-edits.ts';
import { headerTemplate, termTemplates } from '../../core/terms/packages.ts';
import { createDocument } from './documents.ts';

/** `contract_versions.document`: a former state of a contract with its terms. */
export const contractVersionDocument = createDocument({
  name: 'a contract version',
  schema: fullContract,
  steps: [],
});

/** `contract_edits.changes`: the changes of an edit of a contract. */
export const contractChangesDocument = createDocument({
  name: 'a contract edit',
  schema: contractChanges,
  steps: [],
});

/** `packages.header`. */
export const packageHeaderDocument = createDocument({
  name: 'the header of a package',
  schema: headerTemplate,
  steps: [],
});

/** `packages.terms`. */
export const packageTermsDocument = createDocument({
  name: 'the terms of a package',
  schema: termTemplates,
  steps: [],
});

/** `invoice_terms.terms` of a rate card. */
export const cardTermsDocument = createDocument({
  name: 'the card terms of an invoice',
  schema: cardTerms,
  steps: [],
});

/** `invoice_terms.terms` of a contract. */
export const contractTermsDocument = createDocument({
  name: 'the contract terms of an invoice',
  schema: contractUsageTerms,
  steps: [],
});

/** `invoice_terms.terms` with the balances offered to an invoice. */
export const invoiceBalancesDocument = createDocument({
  name: 'the balances of an invoice',
  schema: invoiceBalances,
  steps: [],
});

/** `alerts.filters`. */
export const alertFiltersDocument = createDocument({
  name: 'the filters of an alert',
  schema: alertFilters,
  steps: [],
});

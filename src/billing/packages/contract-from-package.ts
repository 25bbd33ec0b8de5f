/** Provisions a customer: creates a contract from a package (docs/explanation/packages.md, "Provisioning"). */

import type { CustomFieldEntity, CustomFields, CustomFieldsById } from '../../core/custom-fields.ts';
import { type FieldPath, invalid, notFound, Refusal, words } from '../../core/errors.ts';
import { addRelative, type RelativeDate } from '../../core/relative-time.ts';
import type { FullContract } from '../../core/terms/contract.ts';
import type { Package } from '../../core/terms/packages.ts';
import { formatInstant, type Instant } from '../../core/time.ts';
import { assignmentAt, assignmentsInForce } from '../../rating/rates/alias-schedule.ts';
import type { Transaction } from '../../store/base/database.ts';
import { holdPackage, loadPackageAliases } from '../../store/contracts/packages.ts';
import { loadCustomFields, loadKeys } from '../../store/custom-fields/custom-fields.ts';
import type { BillingContext } from '../billing-context.ts';
import { type CreateContractInput, createContractIn } from '../contracts/create-contract.ts';
import type { TermsInput } from '../contracts/terms/build-terms.ts';
import { declareKey } from '../custom-fields/keys.ts';
import { resolveTerms } from './relative-terms.ts';
import { relativeTermsOf, templateIdsWithFields } from './term-templates.ts';

/** The members that are allowed beside a package, which states everything else. */
export interface ContractFromPackageInput
  extends Pick<
    CreateContractInput,
    'customerId' | 'startingAt' | 'transition' | 'uniquenessKey' | 'customFields' | 'createdBy'
  > {
  /** Exactly one of both is given. */
  readonly packageId: string | null;
  readonly packageAlias: string | null;
}

/** Timestamps end here everywhere else, too: both stores can hold them. */
const LAST_INSTANT = Date.UTC(2200, 0, 1);

/**
 * Resolves the templates of a package against the start of the contract and creates it as if the client had sent its
 * terms. Refuses the same as `createContract`, an unknown package (`PackageNotFound`), an alias without a package at
 * the start, and an archived package (`invalid`); nothing is stored then.
 */
export async function createContractFromPackage(
  context: BillingContext,
  input: ContractFromPackageInput,
): Promise<FullContract> {
  const field = [input.packageAlias === null ? 'packageId' : 'packageAlias'];
  return context.db.transaction(async (tx) => {
    const template = await packageOf(tx, input, field);
    const fields = await loadCustomFields(tx, templateIdsWithFields(template.terms));
    const contract = contractInput(template, input, fields);
    await declareCopiedKeys(tx, contract.terms, context.clock.now(), field);
    try {
      return await createContractIn(tx, context, contract);
    } catch (error) {
      throw error instanceof Refusal ? refusalOfPackage(error, field) : error;
    }
  });
}

async function packageOf(
  tx: Transaction,
  { packageId, packageAlias, startingAt }: ContractFromPackageInput,
  field: FieldPath,
): Promise<Package> {
  if (packageId !== null && packageAlias !== null) {
    throw invalid(['packageAlias'], words`cannot be combined with ${['packageId']}`);
  }
  const id = packageId ?? (await packageBehind(tx, packageAlias ?? '', startingAt));
  const found = await holdPackage(tx, id);
  if (found === null) throw notFound('package', id, 'PackageNotFound');
  if (found.archivedAt !== null) {
    throw invalid(field, `package ${id} is archived and takes no new contracts`);
  }
  return found;
}

async function packageBehind(tx: Transaction, alias: string, at: Instant): Promise<string> {
  const assignments = await loadPackageAliases(tx, [alias]);
  const holder = assignmentAt(
    assignmentsInForce(assignments, (one) => one.packageId),
    at,
  );
  if (holder !== null) return holder.packageId;
  throw invalid(
    ['packageAlias'],
    `no package has the alias ${JSON.stringify(alias)} at ${formatInstant(at)}, where the contract starts`,
  );
}

function contractInput(
  from: Package,
  input: ContractFromPackageInput,
  customFields: CustomFieldsById,
): CreateContractInput {
  const { header, terms } = from;
  const { packageId: _, packageAlias: __, startingAt, ...rest } = input;
  const { invoiceGenerationStartingAtOffset, ...statement } = header.statementSchedule;
  const resolved = (date: RelativeDate | null) => (date === null ? null : addWithinReach(startingAt, date));
  return {
    ...rest,
    startingAt,
    packageId: from.id,
    name: header.contractName ?? from.name,
    rateCardId: header.rateCardId,
    rateCardAlias: header.rateCardAlias,
    endingBefore: resolved(header.duration),
    statementSchedule: { ...statement, anchor: null },
    invoiceGenerationStartingAt: resolved(invoiceGenerationStartingAtOffset),
    netPaymentTermsDays: header.netPaymentTermsDays,
    spendLimit: header.spendLimit,
    multiplierPrioritization: header.multiplierPrioritization,
    scheduledChargesOnUsageInvoices: header.scheduledChargesOnUsageInvoices,
    billingConfiguration:
      header.billing === null
        ? null
        : {
            id: null,
            billingProvider: header.billing.provider,
            deliveryMethod: header.billing.deliveryMethod,
          },
    hierarchy: null,
    usageFilter: null,
    terms: resolveTerms(relativeTermsOf(terms, customFields), startingAt, addWithinReach),
  };
}

function addWithinReach(from: Instant, date: RelativeDate): Instant {
  const at = addRelative(from, date);
  if (at <= LAST_INSTANT) return at;
  throw invalid(['startingAt'], `the terms of the package would reach beyond ${formatInstant(LAST_INSTANT)}`);
}

/** Fields of the contract that come from the package; the others are the request's own. */
const FROM_PACKAGE: readonly unknown[] = [
  'rateCardId',
  'rateCardAlias',
  'billingConfiguration',
  'spendLimit',
  'terms',
] satisfies (keyof CreateContractInput)[];

/** A fault of a field that the request did not have is reported as one of its package. */
function refusalOfPackage(refusal: Refusal, field: FieldPath): Refusal {
  const { kind, path, code, details } = refusal;
  if (!FROM_PACKAGE.includes(path[0])) return refusal;
  return new Refusal(kind, words`the package's ${refusal}`, { path: field, code, details });
}

/**
 * Fields of templates are copied to the terms of the contract (docs/explanation/custom-fields.md, "Packages"), with their
 * keys. Declares the keys of the terms' fields where the contract's own entities do not have them, without
 * uniqueness. Refuses one key too many (`invalid`, naming `field`).
 */
async function declareCopiedKeys(
  tx: Transaction,
  terms: TermsInput,
  now: Instant,
  field: FieldPath,
): Promise<void> {
  const copied = [
    ...keysOf('commit', terms.commits),
    ...keysOf('contract_credit', terms.credits),
    ...keysOf('scheduled_charge', terms.scheduledCharges),
    ...keysOf('subscription', terms.subscriptions),
  ];
  const known = await loadKeys(tx, [...new Set(copied.map(({ entity }) => entity))]);
  const names = new Set(known.map(nameOf));
  for (const one of copied) {
    if (names.has(nameOf(one))) continue;
    names.add(nameOf(one));
    await declareKey(tx, { ...one, enforceUniqueness: false }, now, field);
  }
}

interface EntityKey {
  readonly entity: CustomFieldEntity;
  readonly key: string;
}

function keysOf(
  entity: CustomFieldEntity,
  terms: readonly { readonly customFields: CustomFields }[],
): EntityKey[] {
  return terms.flatMap(({ customFields }) => Object.keys(customFields).map((key) => ({ entity, key })));
}

function nameOf({ entity, key }: EntityKey): string {
  return `${entity}:${key}`;
}

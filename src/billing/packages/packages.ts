/** Reads and archives packages, and lists the contracts created from them. */

import type { CreditType } from '../../core/credit-types.ts';
import type { CustomFieldsById } from '../../core/custom-fields.ts';
import { invalid, notFound, words } from '../../core/errors.ts';
import { groupBy } from '../../core/group-by.ts';
import type { Page, PageRequest } from '../../core/paging.ts';
import { addRelative } from '../../core/relative-time.ts';
import type { Package } from '../../core/terms/packages.ts';
import type { Instant } from '../../core/time.ts';
import { versionAt } from '../../rating/quantities/product-spans.ts';
import { assignmentsInForce } from '../../rating/rates/alias-schedule.ts';
import type { Database } from '../../store/base/database.ts';
import {
  type ArchiveFilter,
  aliasNamesOfPackages,
  type ContractSummary,
  type ContractsOfPackageFilter,
  findPackage,
  listContractsOfPackage,
  listPackages as listStoredPackages,
  loadPackageAliases,
  type PackageAliasAssignment,
  archivePackage as setArchived,
} from '../../store/contracts/packages.ts';
import { loadCreditTypes } from '../../store/credit-types/credit-types.ts';
import { loadCustomFields } from '../../store/custom-fields/custom-fields.ts';
import { loadProducts } from '../../store/products/products.ts';
import { loadRateCards } from '../../store/rate-cards/rate-cards.ts';
import type { RowContext } from '../billing-context.ts';
import { namedIds } from '../contracts/terms/named-ids.ts';
import { resolveTerms } from './relative-terms.ts';
import { relativeTermsOf, templateIdsWithFields } from './term-templates.ts';

/** A package with everything that a reader sees of it. */
export interface PackageView {
  readonly package: Package;
  /** The assignments of its aliases as they really hold. */
  readonly aliases: readonly PackageAliasAssignment[];
  /** The names, as they are now, of products that the terms name. */
  readonly products: ReadonlyMap<string, string>;
  readonly creditTypes: ReadonlyMap<string, CreditType>;
  /** The custom fields of the templates. */
  readonly customFields: CustomFieldsById;
  /** The currency of its rate card; null where that is known at a contract's start only. */
  readonly fiatCreditTypeId: string | null;
}

/** The package, archived or not. Refuses an unknown one (`PackageNotFound`). */
export async function getPackage(context: RowContext, id: string): Promise<PackageView> {
  const found = await findPackage(context.db, id);
  const [view] = found === null ? [] : await viewsOf(context, [found]);
  if (view === undefined) throw notFound('package', id, 'PackageNotFound');
  return view;
}

export async function listPackages(
  context: RowContext,
  filter: ArchiveFilter,
  page: PageRequest,
): Promise<Page<PackageView>> {
  const { rows, next } = await listStoredPackages(context.db, filter, page);
  return { rows: await viewsOf(context, rows), next };
}

/**
 * Archives a package: no new contracts can be created from it, existing ones continue. It cannot be undone.
 * Refuses an unknown package (`PackageNotFound`) and an archived one (`invalid`).
 */
export async function archivePackage(context: RowContext, id: string): Promise<void> {
  if (await context.db.transaction((tx) => setArchived(tx, id, context.clock.now()))) return;
  if ((await findPackage(context.db, id)) === null) throw notFound('package', id, 'PackageNotFound');
  throw invalid(['packageId'], `package ${id} is already archived`);
}

/** Refuses an unknown package (`PackageNotFound`) and two conditions at once (`invalid`). */
export async function listContractsOnPackage(
  context: Pick<RowContext, 'db'>,
  filter: ContractsOfPackageFilter,
  page: PageRequest,
): Promise<Page<ContractSummary>> {
  const { packageId, startingFrom, coveringDate } = filter;
  if (startingFrom !== null && coveringDate !== null) {
    throw invalid(['coveringDate'], words`cannot be combined with ${['startingFrom']}`);
  }
  if ((await findPackage(context.db, packageId)) === null) {
    throw notFound('package', packageId, 'PackageNotFound');
  }
  return listContractsOfPackage(context.db, filter, page);
}

async function viewsOf({ db, clock }: RowContext, packages: readonly Package[]): Promise<PackageView[]> {
  const aliases = await aliasesOf(db, packages);
  const named = packages.map(idsNamedBy);
  const products = await loadProducts(db, [...new Set(named.flatMap((ids) => ids.productIds))]);
  const creditTypes = await loadCreditTypes(db, [...new Set(named.flatMap((ids) => ids.creditTypeIds))]);
  const customFields = await loadCustomFields(
    db,
    packages.flatMap(({ terms }) => templateIdsWithFields(terms)),
  );
  const cardIds = packages.flatMap(({ header }) => (header.rateCardId === null ? [] : [header.rateCardId]));
  const cards = await loadRateCards(db, [...new Set(cardIds)]);
  const now = clock.now();
  const names = new Map([...products].map(([id, product]) => [id, versionAt(product, now).name]));
  return packages.map((one) => ({
    package: one,
    aliases: aliases.get(one.id) ?? [],
    products: names,
    creditTypes,
    customFields,
    fiatCreditTypeId: cards.get(one.header.rateCardId ?? '')?.fiatCreditTypeId ?? null,
  }));
}

async function aliasesOf(
  db: Database,
  packages: readonly Package[],
): Promise<Map<string, PackageAliasAssignment[]>> {
  const names = await aliasNamesOfPackages(
    db,
    packages.map(({ id }) => id),
  );
  const assignments = groupBy(await loadPackageAliases(db, names), ({ name }) => name);
  const inForce = [...assignments.values()].flatMap((all) => assignmentsInForce(all, holderOf));
  return groupBy(
    inForce.toSorted((a, b) => a.sequence - b.sequence),
    holderOf,
  );
}

/** Uses the same walk over the terms as contracts; the dates do not matter here. */
function idsNamedBy({ terms }: Package): ReturnType<typeof namedIds> {
  const anyStart: Instant = 0;
  return namedIds(resolveTerms(relativeTermsOf(terms, new Map()), anyStart, addRelative));
}

function holderOf({ packageId }: PackageAliasAssignment): string {
  return packageId;
}

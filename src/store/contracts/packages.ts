/** Packages, the assignments of their aliases, and the contracts created from them. */
import { and, asc, eq, gte, inArray, isNotNull, isNull } from 'drizzle-orm';
import { isUuid } from '../../core/ids.ts';
import type { Page, PageRequest } from '../../core/paging.ts';
import type { Package } from '../../core/terms/packages.ts';
import type { Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { behind, keysetPage } from '../base/keyset.ts';
import { packageHeaderDocument, packageTermsDocument } from '../stored-documents/document-kinds.ts';
import { jsonbInParts } from '../stored-documents/jsonb-in-parts.ts';
import { contracts } from './contracts.tables.ts';
import { inForceAt } from './contracts.ts';
import { packageAliases, packages } from './packages.tables.ts';

/** The assignment of an alias to a package, as it was submitted. */
export interface PackageAliasAssignment {
  readonly name: string;
  readonly packageId: string;
  /** Null: from the beginning of time. */
  readonly startingAt: Instant | null;
  readonly endingBefore: Instant | null;
  /** Order of assignment over all packages; the later one takes the alias over. */
  readonly sequence: number;
}

export type NewPackageAlias = Omit<PackageAliasAssignment, 'packageId' | 'sequence'>;

/**
 * Stores a package with the assignments of its aliases. Returns false, and stores nothing, if its uniqueness key has
 * been used before. If two transactions use one key, the second waits for the first.
 */
export async function insertPackage(
  tx: Transaction,
  from: Package,
  aliases: readonly NewPackageAlias[],
): Promise<boolean> {
  const rows = await tx
    .insert(packages)
    .values(await toRow(from))
    .onConflictDoNothing({ target: packages.uniquenessKey })
    .returning({ id: packages.id });
  if (rows.length === 0) return false;
  if (aliases.length > 0) {
    await tx.insert(packageAliases).values(aliases.map((alias) => ({ ...alias, packageId: from.id })));
  }
  return true;
}

/** The package that was created with the uniqueness key. */
export async function packageWithKey(db: Database | Transaction, key: string): Promise<string | null> {
  const [row] = await db.select({ id: packages.id }).from(packages).where(eq(packages.uniquenessKey, key));
  return row?.id ?? null;
}

/** The package, archived or not; null if the id is unknown or not a UUID. */
export async function findPackage(db: Database | Transaction, id: string): Promise<Package | null> {
  if (!isUuid(id)) return null;
  const [row] = await db.select().from(packages).where(eq(packages.id, id));
  return row === undefined ? null : fromRow(row);
}

/** Keeps a package from being archived until the transaction ends. */
export async function holdPackage(tx: Transaction, id: string): Promise<Package | null> {
  if (!isUuid(id)) return null;
  const [row] = await tx.select().from(packages).where(eq(packages.id, id)).for('share');
  return row === undefined ? null : fromRow(row);
}

/** Returns false if the package is unknown or archived already. */
export async function archivePackage(db: Database | Transaction, id: string, at: Instant): Promise<boolean> {
  const rows = await db
    .update(packages)
    .set({ archivedAt: at })
    .where(and(eq(packages.id, id), isNull(packages.archivedAt)))
    .returning({ id: packages.id });
  return rows.length > 0;
}

export type ArchiveFilter = 'ARCHIVED' | 'NOT_ARCHIVED' | 'ALL';

export async function listPackages(
  db: Database | Transaction,
  filter: ArchiveFilter,
  page: PageRequest,
): Promise<Page<Package>> {
  const archived = { ARCHIVED: isNotNull, NOT_ARCHIVED: isNull, ALL: () => undefined }[filter];
  const rows = await db
    .select()
    .from(packages)
    .where(and(archived(packages.archivedAt), behind(packages, page.after)))
    .orderBy(asc(packages.createdAt), asc(packages.id))
    .limit(page.limit + 1);
  return keysetPage(rows.map(fromRow), page.limit);
}

/** Every assignment of the aliases with these names, to any package, in the order of assignment. */
export async function loadPackageAliases(
  db: Database | Transaction,
  names: readonly string[],
): Promise<PackageAliasAssignment[]> {
  if (names.length === 0) return [];
  return db
    .select()
    .from(packageAliases)
    .where(inArray(packageAliases.name, [...names]))
    .orderBy(asc(packageAliases.sequence));
}

/** The names of all aliases that were ever assigned to these packages. */
export async function aliasNamesOfPackages(
  db: Database | Transaction,
  packageIds: readonly string[],
): Promise<string[]> {
  if (packageIds.length === 0) return [];
  const rows = await db
    .selectDistinct({ name: packageAliases.name })
    .from(packageAliases)
    .where(inArray(packageAliases.packageId, [...packageIds]));
  return rows.map((row) => row.name);
}

export interface ContractSummary {
  readonly customerId: string;
  readonly contractId: string;
  readonly startingAt: Instant;
  readonly endingBefore: Instant | null;
  readonly archivedAt: Instant | null;
}

export interface ContractsOfPackageFilter {
  readonly packageId: string;
  /** Only contracts that start at or after this instant; null: no restriction. */
  readonly startingFrom: Instant | null;
  /** Only contracts in force at this instant; null: no restriction. */
  readonly coveringDate: Instant | null;
  readonly includeArchived: boolean;
}

/** The contracts created from a package, paged by their start. */
export async function listContractsOfPackage(
  db: Database | Transaction,
  filter: ContractsOfPackageFilter,
  page: PageRequest,
): Promise<Page<ContractSummary>> {
  const { packageId, startingFrom, coveringDate, includeArchived } = filter;
  const rows = await db
    .select({
      id: contracts.id,
      createdAt: contracts.startingAt,
      customerId: contracts.customerId,
      endingBefore: contracts.endingBefore,
      archivedAt: contracts.archivedAt,
    })
    .from(contracts)
    .where(
      and(
        eq(contracts.packageId, packageId),
        includeArchived ? undefined : isNull(contracts.archivedAt),
        startingFrom === null ? undefined : gte(contracts.startingAt, startingFrom),
        coveringDate === null ? undefined : inForceAt(coveringDate),
        behind({ createdAt: contracts.startingAt, id: contracts.id }, page.after),
      ),
    )
    .orderBy(asc(contracts.startingAt), asc(contracts.id))
    .limit(page.limit + 1);
  const { rows: cut, next } = keysetPage(rows, page.limit);
  return {
    rows: cut.map(({ id, createdAt, ...rest }) => ({ ...rest, contractId: id, startingAt: createdAt })),
    next,
  };
}

async function toRow(from: Package) {
  return {
    ...from,
    header: packageHeaderDocument.write(from.header),
    terms: await jsonbInParts(packageTermsDocument.write(from.terms)),
    rateCardId: from.header.rateCardId,
  };
}

function fromRow(row: typeof packages.$inferSelect): Package {
  const { rateCardId: _, ...rest } = row;
  return {
    ...rest,
    header: packageHeaderDocument.read(row.header),
    terms: packageTermsDocument.read(row.terms),
  };
}

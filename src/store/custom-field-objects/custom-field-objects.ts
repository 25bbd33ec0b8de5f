/** Looks up the objects that custom fields can be attached to. */
import { and, eq, ne, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { CustomFieldEntity } from '../../core/custom-fields.ts';
import { alerts } from '../alerts/alerts.tables.ts';
import { commits } from '../balances/commits.tables.ts';
import type { Database, Transaction } from '../base/database.ts';
import { contracts } from '../contracts/contracts.tables.ts';
import { packages } from '../contracts/packages.tables.ts';
import { professionalServices } from '../contracts/professional-services.tables.ts';
import { scheduledCharges } from '../contracts/scheduled-charges.tables.ts';
import { subscriptions } from '../contracts/subscriptions.tables.ts';
import { customers } from '../customers/customers.tables.ts';
import { billableMetrics } from '../metrics/billable-metrics.tables.ts';
import { products } from '../products/products.tables.ts';
import { rateCards } from '../rate-cards/rate-cards.tables.ts';

const TABLES = {
  alert: alerts,
  billable_metric: billableMetrics,
  contract: contracts,
  contract_product: products,
  customer: customers,
  professional_service: professionalServices,
  rate_card: rateCards,
  subscription: subscriptions,
} as const;

/** Entities that share a table. */
const PARTS = {
  commit: { table: commits, where: ne(commits.type, 'CREDIT') },
  contract_credit: { table: commits, where: eq(commits.type, 'CREDIT') },
  discount: { table: scheduledCharges, where: eq(scheduledCharges.kind, 'DISCOUNT') },
  scheduled_charge: { table: scheduledCharges, where: eq(scheduledCharges.kind, 'CHARGE') },
} as const;

/** The place of a package's templates in its terms. */
const TEMPLATE_LISTS = {
  package_commit: 'commits',
  package_credit: 'credits',
  package_scheduled_charge: 'scheduledCharges',
  package_subscription: 'subscriptions',
} as const;

/** Entities whose objects have their own rows, which are never removed. */
export type StoredEntity = keyof typeof TABLES | keyof typeof PARTS;
export type TemplateEntity = keyof typeof TEMPLATE_LISTS;

export function isStoredEntity(entity: CustomFieldEntity): entity is StoredEntity {
  return entity in TABLES || entity in PARTS;
}

function isPart(entity: StoredEntity): entity is keyof typeof PARTS {
  return entity in PARTS;
}

export function isTemplateEntity(entity: CustomFieldEntity): entity is TemplateEntity {
  return entity in TEMPLATE_LISTS;
}

/** Whether the object exists, archived or not. */
export async function objectExists(
  db: Database | Transaction,
  entity: StoredEntity,
  id: string,
): Promise<boolean> {
  const { table, where } = isPart(entity) ? PARTS[entity] : { table: TABLES[entity], where: undefined };
  const { id: idColumn }: PgTable & { readonly id: PgColumn } = table;
  const rows = await db
    .select({ id: idColumn })
    .from(table)
    .where(and(eq(idColumn, id), where));
  return rows.length > 0;
}

/** Whether some package has the template. Reads the terms of all packages, which are few. */
export async function templateExists(
  db: Database | Transaction,
  entity: TemplateEntity,
  id: string,
): Promise<boolean> {
  const named = JSON.stringify({ [TEMPLATE_LISTS[entity]]: [{ id }] });
  const rows = await db
    .select({ id: packages.id })
    .from(packages)
    .where(sql`${packages.terms} @> ${named}::jsonb`)
    .limit(1);
  return rows.length > 0;
}

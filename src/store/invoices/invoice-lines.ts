/** The lines of issued invoices, written once with the invoice. */
import { and, asc, sql } from 'drizzle-orm';
import { z } from 'zod';
import { PRODUCT_TYPES } from '../../core/catalogue.ts';
import { decimal } from '../../core/decimal.ts';
import { assert } from '../../core/errors.ts';
import { addToGroup } from '../../core/group-by.ts';
import { eachInChunks, mapInChunks } from '../../core/in-chunks.ts';
import {
  type Invoice,
  type InvoiceLine,
  isConversionLine,
  isSubscriptionLine,
  isUsageLine,
  type LinePayer,
  type LineTier,
  SCHEDULED_LINE_TYPES,
  type UsageInvoiceLine,
} from '../../core/invoice.ts';
import { textMap } from '../../core/terms/values.ts';
import { countMemory } from '../../runtime/answer-memory.ts';
import type { Database, Transaction } from '../base/database.ts';
import { insertRows } from '../base/insert-rows.ts';
import { isOneOf } from '../base/is-one-of.ts';
import { invoiceLineItems } from './invoices.tables.ts';

/** Stores the lines of new invoices, each under its position. Other work runs between parts of many. */
export async function insertInvoiceLines(
  tx: Transaction,
  invoices: readonly Pick<Invoice, 'id' | 'lines'>[],
): Promise<void> {
  const placed = invoices.flatMap(({ id, lines }) => lines.map((line, position) => ({ id, position, line })));
  const rows = await mapInChunks(placed, ({ id, position, line }) => toRow(id, position, line));
  await insertRows(tx, invoiceLineItems, rows);
}

/** Memory of a line: its row, and the objects built from it. */
const LINE_BYTES = 4_096;

/** Reading this many takes the driver some milliseconds, during which the process does nothing else. */
const LINES_PER_READ = 1_000;

/**
 * Invoice id → its lines in their order; invoices without lines are absent. Other work runs between parts of many.
 * Lines are written once, together with their invoice, so that parts of them are consistent without a snapshot.
 */
export async function loadInvoiceLines(
  db: Database | Transaction,
  invoiceIds: readonly string[],
): Promise<Map<string, InvoiceLine[]>> {
  const byInvoice = new Map<string, InvoiceLine[]>();
  let after: LinePlace | null = null;
  while (invoiceIds.length > 0) {
    const rows = await linesAfter(db, invoiceIds, after);
    countMemory(rows.length * LINE_BYTES);
    await eachInChunks(rows, (row) => addToGroup(byInvoice, row.invoiceId, fromRow(row)));
    const last = rows.at(-1);
    if (last === undefined || rows.length < LINES_PER_READ) break;
    after = { invoiceId: last.invoiceId, position: last.position };
  }
  return byInvoice;
}

interface LinePlace {
  readonly invoiceId: string;
  readonly position: number;
}

/** The first lines of these invoices after `after`, in the order of the primary key. */
async function linesAfter(
  db: Database | Transaction,
  invoiceIds: readonly string[],
  after: LinePlace | null,
): Promise<LineRow[]> {
  const { invoiceId, position } = invoiceLineItems;
  return db
    .select()
    .from(invoiceLineItems)
    .where(
      and(
        isOneOf(invoiceId, invoiceIds),
        after === null
          ? undefined
          : sql`(${invoiceId}, ${position}) > (${after.invoiceId}::uuid, ${after.position}::integer)`,
      ),
    )
    .orderBy(asc(invoiceId), asc(position))
    .limit(LINES_PER_READ);
}

type LineRow = typeof invoiceLineItems.$inferSelect;

/** Tiers are kept as text, so that no digit of a bound passes through a binary float. */
const tierColumn = z.object({
  level: z.int().min(1),
  startingAt: z.string(),
  size: z.string().nullable(),
});

type NewLineRow = typeof invoiceLineItems.$inferInsert;

/** The columns that some types of lines do not use: the rows of all have the same columns. */
const NOTHING_ELSE = {
  productId: null,
  productType: null,
  productTags: [],
  convertedCreditTypeId: null,
  scheduleItemId: null,
  sourceId: null,
  isProrated: null,
  billingFrequency: null,
  pricedAt: null,
  unitsBelow: null,
  metadata: null,
  ...payerToColumns(null),
  pricingGroupValues: {},
  presentationGroupValues: {},
  tier: null,
} satisfies Partial<NewLineRow>;

function toRow(invoiceId: string, position: number, line: InvoiceLine): NewLineRow {
  const { interval } = line;
  const place = {
    ...NOTHING_ELSE,
    ...{ invoiceId, position, startingAt: interval.start, endingBefore: interval.end },
  };
  if (isUsageLine(line) || isSubscriptionLine(line)) {
    const { interval: _, tier, productTags, payer, ...rest } = line;
    return {
      ...place,
      ...rest,
      ...payerToColumns(payer),
      productTags: [...productTags],
      tier: tier === null ? null : tierToColumn(tier),
    };
  }
  if (isConversionLine(line)) {
    const { interval: _, payer, ...rest } = line;
    return { ...place, ...rest, ...payerToColumns(payer) };
  }
  const { interval: _, ...rest } = line;
  return { ...place, ...rest, productTags: [...rest.productTags] };
}

function payerToColumns(payer: LinePayer | null) {
  return {
    payerCommitId: payer?.commitId ?? null,
    payerSegmentId: payer?.segmentId ?? null,
    payerType: payer?.commitType ?? null,
  };
}

function payerFromRow({ payerCommitId, payerSegmentId, payerType }: LineRow): LinePayer | null {
  if (payerCommitId === null || payerSegmentId === null || payerType === null) return null;
  return { commitId: payerCommitId, segmentId: payerSegmentId, commitType: payerType };
}

function tierToColumn(tier: LineTier): z.infer<typeof tierColumn> {
  return {
    level: tier.level,
    startingAt: tier.startingAt.toFixed(),
    size: tier.size === null ? null : tier.size.toFixed(),
  };
}

function fromRow(row: LineRow): InvoiceLine {
  const amounts = {
    name: row.name,
    creditTypeId: row.creditTypeId,
    interval: { start: row.startingAt, end: row.endingBefore },
    quantity: row.quantity,
    unitPrice: row.unitPrice,
    total: row.total,
  };
  const payer = payerFromRow(row);
  if (row.type === 'cpu_conversion' || row.type === 'applied_conversion') {
    const { convertedCreditTypeId } = row;
    assert(convertedCreditTypeId !== null, 'a conversion line names the unit it converts');
    return { type: row.type, ...amounts, convertedCreditTypeId, payer };
  }
  const ofProduct = { ...amounts, ...productOf(row) };
  const scheduledType = SCHEDULED_LINE_TYPES.find((type) => type === row.type);
  if (scheduledType !== undefined) {
    const { scheduleItemId, sourceId, metadata } = row;
    assert(scheduleItemId !== null && sourceId !== null, 'a scheduled line names its item and its source');
    return { type: scheduledType, ...ofProduct, scheduleItemId, sourceId, metadata };
  }
  const tier = row.tier === null ? null : tierFromColumn(row.tier);
  if (row.type === 'subscription' || row.type === 'applied_subscription') {
    const { type, scheduleItemId, sourceId, isProrated, billingFrequency, pricedAt, unitsBelow } = row;
    assert(
      scheduleItemId !== null && sourceId !== null,
      'a line of a subscription names its charge and its subscription',
    );
    assert(
      isProrated !== null && billingFrequency !== null && pricedAt !== null,
      'a line of a subscription tells its price',
    );
    const price = { isProrated, billingFrequency, pricedAt, unitsBelow };
    return { type, ...ofProduct, scheduleItemId, sourceId, ...price, tier, payer };
  }
  const { type } = row;
  assert(
    type === 'usage' || type === 'minimum' || type === 'applied',
    `a line of type ${type} has a different shape`,
  );
  return {
    type,
    ...ofProduct,
    pricingGroupValues: textMap.parse(row.pricingGroupValues),
    presentationGroupValues: textMap.parse(row.presentationGroupValues),
    tier,
    payer,
  };
}

function productOf(row: LineRow): Pick<UsageInvoiceLine, 'productId' | 'productType' | 'productTags'> {
  const { productId, productTags } = row;
  const productType = PRODUCT_TYPES.find((type) => type === row.productType);
  assert(
    productId !== null && productType !== undefined,
    `line with product ${productId} of type ${row.productType}`,
  );
  return { productId, productType, productTags };
}

function tierFromColumn(value: unknown): LineTier {
  const tier = tierColumn.parse(value);
  return {
    level: tier.level,
    startingAt: decimal(tier.startingAt),
    size: tier.size === null ? null : decimal(tier.size),
  };
}

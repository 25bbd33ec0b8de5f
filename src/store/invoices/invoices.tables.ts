import { type SQL, sql } from 'drizzle-orm';
import {
  type AnyPgColumn,
  boolean,
  check,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { BILLING_FREQUENCIES } from '../../core/catalogue.ts';
import { UNRATED_TERM_KINDS } from '../../core/invoice.ts';
import { COMMIT_TYPES } from '../../core/terms/commits.ts';
import { commits } from '../balances/commits.tables.ts';
import { exact, instant, microsecond } from '../base/columns.ts';
import { contracts } from '../contracts/contracts.tables.ts';
import { customers } from '../customers/customers.tables.ts';

/**
 * The input of issued invoices besides the events: the terms of a rate card or of a contract (core/invoice-terms.ts),
 * or balances (core/invoice-balances.ts). The id is derived from the content, so terms shared by many invoices are
 * stored once.
 */
export const invoiceTerms = pgTable('invoice_terms', {
  id: uuid('id').primaryKey(),
  terms: jsonb('terms').notNull(),
});

/** The columns that decide the month of an invoice. */
interface MonthColumns {
  readonly type: AnyPgColumn;
  readonly periodEnd: AnyPgColumn;
  readonly issuedAt: AnyPgColumn;
}

/**
 * The start of the month of an issued invoice, like `monthOfInvoice` of core/invoice-month.ts. Without parameters, so
 * that it matches the expression of the index.
 */
export function invoiceMonth({ type, periodEnd, issuedAt }: MonthColumns): SQL {
  return sql`date_trunc('month', case when ${type} = 'SCHEDULED' then ${issuedAt} at time zone 'UTC' else (${periodEnd} at time zone 'UTC') - interval '1 millisecond' end)`;
}

/**
 * Issued invoices. Drafts are not here: they are computed when they are read. A row and its lines never
 * change after the transaction that wrote them, except for the status, which may become VOID.
 */
export const invoices = pgTable(
  'invoices',
  {
    id: uuid('id').primaryKey(),
    customerId: uuid('customer_id')
      .notNull()
      .references(() => customers.id),
    contractId: uuid('contract_id')
      .notNull()
      .references(() => contracts.id),
    type: text('type', { enum: ['USAGE', 'SCHEDULED', 'USAGE_CONSOLIDATED'] }).notNull(),
    status: text('status', { enum: ['FINALIZED', 'VOID'] }).notNull(),
    periodStart: instant('period_start').notNull(),
    periodEnd: instant('period_end').notNull(),
    /** When its counters started; null: at the start of the period. */
    countedFrom: instant('counted_from'),
    issuedAt: instant('issued_at').notNull(),
    /** Null: not voided, or voided by an earlier version. */
    voidedAt: instant('voided_at'),
    creditTypeId: uuid('credit_type_id').notNull(),
    total: exact('total').notNull(),
    netPaymentTermsDays: integer('net_payment_terms_days'),
    /** Names the frozen hourly lines in ClickHouse; null for all but USAGE invoices. */
    breakdownId: uuid('breakdown_id'),
    /** The number of its rows in `invoice_warnings`. */
    warningCount: integer('warning_count').notNull(),
    /** When its terms were read, in real time. Null: issued by an earlier version. */
    termsReadAt: instant('terms_read_at'),
    /** Events ingested later are not counted. Null: without events, or issued by an earlier version. */
    countedUpTo: microsecond('counted_up_to'),
    /** Set for USAGE invoices; others have no terms besides their lines. */
    cardTermsId: uuid('card_terms_id').references(() => invoiceTerms.id),
    contractTermsId: uuid('contract_terms_id').references(() => invoiceTerms.id),
    /** The balances offered to it. Null: none, or issued by an earlier version. */
    balancesId: uuid('balances_id').references(() => invoiceTerms.id),
    /** Computed from quantities of the client, not from events. */
    isHistorical: boolean('is_historical').notNull().default(false),
    /** Whether commits and credits paid for its usage. False: issued by a version that did not draw them down. */
    drawsOnBalances: boolean('draws_on_balances').notNull().default(false),
    /** The voided invoice that it was computed again for. */
    regeneratedFromInvoiceId: uuid('regenerated_from_invoice_id').references((): AnyPgColumn => invoices.id),
  },
  (table) => [
    uniqueIndex('invoices_contract_period_once')
      .on(table.contractId, table.type, table.periodStart)
      .where(sql`${table.status} <> 'VOID' and ${table.type} = 'USAGE'`),
    uniqueIndex('invoices_consolidated_once')
      .on(table.contractId, table.periodStart)
      .where(sql`${table.status} <> 'VOID' and ${table.type} = 'USAGE_CONSOLIDATED'`),
    index('invoices_customer_issued').on(table.customerId, table.issuedAt, table.id),
    check(
      'invoices_usage_has_terms',
      sql`(${table.type} = 'USAGE') = (${table.cardTermsId} is not null)
        and (${table.cardTermsId} is null) = (${table.contractTermsId} is null)
        and (${table.cardTermsId} is null) = (${table.breakdownId} is null)`,
    ),
    /** The order in which numbers are assigned, and in which the invoices of all customers are listed. */
    index('invoices_issued').on(table.issuedAt, table.id),
    /** The invoices of a month, in the order of lists. */
    index('invoices_month').on(invoiceMonth(table), table.issuedAt, table.id),
    index('invoices_issued_with_warnings').on(table.issuedAt, table.id).where(sql`${table.warningCount} > 0`),
    uniqueIndex('invoices_regenerated_once').on(table.regeneratedFromInvoiceId),
  ],
);

/** The usage invoices that a consolidated invoice consists of. It has their lines, and no others. */
export const invoiceConstituents = pgTable(
  'invoice_constituents',
  {
    /** The consolidated invoice. */
    invoiceId: uuid('invoice_id')
      .notNull()
      .references(() => invoices.id),
    /** Order on the consolidated invoice, from 0. */
    position: integer('position').notNull(),
    constituentId: uuid('constituent_id')
      .notNull()
      .references(() => invoices.id),
  },
  (table) => [
    primaryKey({ columns: [table.invoiceId, table.position] }),
    uniqueIndex('invoice_constituents_once').on(table.constituentId, table.invoiceId),
  ],
);

/**
 * The items of schedules on issued invoices, voided ones included: each item on one invoice at most. If an invoice is
 * regenerated, its items are on the new one.
 */
export const invoicedItems = pgTable(
  'invoiced_items',
  {
    /**
     * The item of a scheduled charge, a discount, a professional service or a commit; or a charge of a subscription.
     */
    itemId: uuid('item_id').primaryKey(),
    invoiceId: uuid('invoice_id')
      .notNull()
      .references(() => invoices.id),
  },
  (table) => [index('invoiced_items_invoice').on(table.invoiceId)],
);

export const invoiceLineItems = pgTable(
  'invoice_line_items',
  {
    invoiceId: uuid('invoice_id')
      .notNull()
      .references(() => invoices.id),
    /** Order on the invoice, from 0; also the line's number in the frozen hourly lines. */
    position: integer('position').notNull(),
    type: text('type', {
      enum: [
        'usage',
        'minimum',
        'applied',
        'scheduled',
        'discount',
        'professional_service',
        'commit_purchase',
        'true_up',
        'subscription',
        'applied_subscription',
        'cpu_conversion',
        'applied_conversion',
      ],
    }).notNull(),
    /** Set for all but conversions; so are the type and the tags of the product. */
    productId: uuid('product_id'),
    productType: text('product_type'),
    productTags: text('product_tags').array().notNull(),
    /** Set for conversions. */
    convertedCreditTypeId: uuid('converted_credit_type_id'),
    /** Both are set for lines of schedules and of subscriptions. */
    scheduleItemId: uuid('schedule_item_id'),
    sourceId: uuid('source_id'),
    /** All three are set for lines of subscriptions. */
    isProrated: boolean('is_prorated'),
    billingFrequency: text('billing_frequency', { enum: BILLING_FREQUENCIES }),
    pricedAt: instant('priced_at'),
    /** Null for other lines, and for lines that an earlier version issued. */
    unitsBelow: exact('units_below'),
    /** Free text from the client, on some lines of schedules. */
    metadata: text('metadata'),
    /** All three are set if a balance pays, and for the applied line. */
    payerCommitId: uuid('payer_commit_id'),
    payerSegmentId: uuid('payer_segment_id'),
    payerType: text('payer_type', { enum: COMMIT_TYPES }),
    name: text('name').notNull(),
    creditTypeId: uuid('credit_type_id').notNull(),
    startingAt: instant('starting_at').notNull(),
    endingBefore: instant('ending_before').notNull(),
    quantity: exact('quantity').notNull(),
    unitPrice: exact('unit_price').notNull(),
    total: exact('total').notNull(),
    pricingGroupValues: jsonb('pricing_group_values').notNull(),
    presentationGroupValues: jsonb('presentation_group_values').notNull(),
    tier: jsonb('tier'),
  },
  (table) => [
    primaryKey({ columns: [table.invoiceId, table.position] }),
    index('invoice_line_items_subscription').on(table.sourceId).where(sql`${table.type} = 'subscription'`),
    check(
      'invoice_line_items_conversion_has_no_product',
      sql`(${table.type} in ('cpu_conversion', 'applied_conversion')) = (${table.productId} is null)
        and (${table.productId} is null) = (${table.productType} is null)
        and (${table.productId} is null) = (${table.convertedCreditTypeId} is not null)`,
    ),
    check(
      'invoice_line_items_payer',
      sql`num_nonnulls(${table.payerCommitId}, ${table.payerSegmentId}, ${table.payerType}) in (0, 3)
        and (${table.type} not in ('applied', 'applied_conversion') or ${table.payerType} is not null)`,
    ),
  ],
);

/**
 * The amounts that issued invoices took from the balances of commits and credits: the sums of their applied lines. A
 * voided invoice keeps its rows; `credited_at` is when it gave them back.
 */
export const balanceDeductions = pgTable(
  'balance_deductions',
  {
    invoiceId: uuid('invoice_id')
      .notNull()
      .references(() => invoices.id),
    commitId: uuid('commit_id')
      .notNull()
      .references(() => commits.id),
    segmentId: uuid('segment_id').notNull(),
    amount: exact('amount').notNull(),
    timestamp: instant('timestamp').notNull(),
    creditedAt: instant('credited_at'),
  },
  (table) => [
    primaryKey({ columns: [table.invoiceId, table.segmentId] }),
    index('balance_deductions_commit').on(table.commitId),
    check('balance_deductions_positive', sql`${table.amount} > 0`),
  ],
);

/** Usage that an issued invoice leaves unbilled unintentionally. Written once, with the invoice. */
export const invoiceWarnings = pgTable(
  'invoice_warnings',
  {
    invoiceId: uuid('invoice_id')
      .notNull()
      .references(() => invoices.id),
    /** From 0. */
    position: integer('position').notNull(),
    kind: text('kind', {
      enum: [
        'unpriced_usage',
        'unpriced_subscription',
        'usage_filter_without_group_key',
        'uncounted_events',
        'too_many_lines',
        'unrated_terms',
      ],
    }).notNull(),
    startingAt: instant('starting_at').notNull(),
    endingBefore: instant('ending_before').notNull(),
    /** Set for all but `uncounted_events` and `unrated_terms`. */
    productId: uuid('product_id'),
    productName: text('product_name'),
    /** Set for all but `unpriced_subscription`, `too_many_lines` and `unrated_terms`. */
    billableMetricId: uuid('billable_metric_id'),
    /** Set for `unpriced_usage`. */
    pricingGroupValues: jsonb('pricing_group_values'),
    presentationGroupValues: jsonb('presentation_group_values'),
    /** Set for `unpriced_subscription` too. */
    quantity: exact('quantity'),
    /** Set for `uncounted_events`. */
    metricName: text('metric_name'),
    eventCount: integer('event_count'),
    transactionIds: text('transaction_ids').array(),
    /** Set for `too_many_lines`. */
    lineCount: integer('line_count'),
    lineCountMax: integer('line_count_max'),
    /** Set for `unrated_terms`; its ids for `unpriced_subscription` too, as the id of the subscription. */
    termKind: text('term_kind', { enum: UNRATED_TERM_KINDS }),
    termIds: text('term_ids').array(),
    termCount: integer('term_count'),
  },
  (table) => [primaryKey({ columns: [table.invoiceId, table.position] })],
);

/** The custom fields shown on an issued invoice; invoices without any have no row. Never changed. */
export const invoiceCustomFields = pgTable('invoice_custom_fields', {
  invoiceId: uuid('invoice_id')
    .primaryKey()
    .references(() => invoices.id),
  /** From the id of an object to its values by key. */
  fields: jsonb('fields').notNull(),
});

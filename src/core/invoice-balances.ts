/**
 * The balances offered to a usage invoice when it was computed, in the order in which it drew them down. They are
 * stored with an issued invoice, because commits, manual entries and other invoices change them afterwards.
 */
import { z } from 'zod';
import { applicability, RATE_TARGETS } from './terms/applicability.ts';
import { COMMIT_TYPES } from './terms/commits.ts';
import { exactText, instantValue, listOf, objectOf } from './terms/values.ts';

/** The criteria that decide between two balances, in the order in which they are compared. */
export const BURN_DOWN_CRITERIA = [
  'CLASS',
  'PRIORITY',
  'COST_BASIS',
  'PRODUCT_APPLICABILITY',
  'USAGE_APPLICABILITY',
  'ACCESS_END',
  'ACCESS_START',
  'CONTRACT_COUNT',
  'CONTRACT_LEVEL',
  'CREATED_AT',
  'ID',
] as const;
export type BurnDownCriterion = (typeof BURN_DOWN_CRITERIA)[number];

const offeredBalance = objectOf({
  /** The commit or credit. */
  id: z.string(),
  recurringId: z.string().nullable(),
  /** For the share of a seat, the id of the share. */
  segmentId: z.string(),
  /** Null for a balance that is not divided among seats. */
  seat: objectOf({ groupKey: z.string(), id: z.string(), segmentId: z.string() }).nullable().default(null),
  commitType: z.enum(COMMIT_TYPES),
  name: z.string(),
  creditTypeId: z.string(),
  rateType: z.enum(RATE_TARGETS),
  applicability,
  access: objectOf({ start: instantValue, end: instantValue }),
  /** Its amount before this invoice. */
  left: exactText,
  /** The criterion in which it differs from the one before it; null for the first. */
  decidedBy: z.enum(BURN_DOWN_CRITERIA).nullable(),
});
export type OfferedBalance = z.output<typeof offeredBalance>;

export const invoiceBalances = objectOf({ balances: listOf(offeredBalance) });
export type InvoiceBalances = z.output<typeof invoiceBalances>;

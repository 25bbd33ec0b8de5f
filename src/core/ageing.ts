/** Age of what is unpaid: whole days after the due date, or after the issue of an invoice without payment terms. */
export const AGEING_BUCKETS = ['NOT_YET_DUE', 'DAYS_0_30', 'DAYS_31_60', 'DAYS_61_90', 'ABOVE_90'] as const;
export type AgeingBucket = (typeof AGEING_BUCKETS)[number];

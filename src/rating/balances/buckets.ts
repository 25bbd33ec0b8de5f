/**
 * Buckets: the segments of access to commits and credits, as invoices draw them down, and which charges each of them
 * pays for (docs/explanation/drawdown.md, "What a balance pays for"). Pure.
 */
import type { ProductType } from '../../core/catalogue.ts';
import { ownValue } from '../../core/own-value.ts';
import type { Applicability } from '../../core/terms/applicability.ts';
import type { CommitType } from '../../core/terms/commits.ts';
import type { AccessSegment } from '../../core/terms/schedules.ts';
import type { Instant, Interval } from '../../core/time.ts';
import type { GroupValues } from '../quantities/group-values.ts';
import { meetsSpecifier } from '../quantities/specifiers.ts';
import type { PayerTerms } from '../rates/line-terms.ts';
import type { RankedBalance } from './burn-down-order.ts';

/** `id` and `recurringId` are those of the commit or credit. */
export interface Bucket extends PayerTerms {
  readonly segmentId: string;
  readonly commitType: CommitType;
  /** The name on invoices. */
  readonly name: string;
  readonly creditTypeId: string;
  readonly applicability: Applicability;
  /** Charges in this interval draw on the bucket. */
  readonly access: Interval;
  /**
   * Set for the share of a seat; `segmentId` is then the id of the share (seat-shares.ts). Several buckets may be one
   * share.
   */
  readonly seat?: BucketSeat | null | undefined;
  /**
   * The criteria of its place in the burn-down order, the same for the shares of all seats in a segment; absent if
   * unknown.
   */
  readonly rank?: RankedBalance;
}

/** Only usage with this value of the group key draws on the share. */
export interface BucketSeat {
  readonly groupKey: string;
  readonly id: string;
  /** The segment of the access schedule that the share is a part of. */
  readonly segmentId: string;
}

/** The segment of the access schedule. */
export function scheduleSegmentId({ segmentId, seat }: Pick<Bucket, 'segmentId' | 'seat'>): string {
  return seat?.segmentId ?? segmentId;
}

/** Charges without group values belong to no seat. */
export function isOfSeat({ groupKey, id }: BucketSeat, subject: SubjectValues): boolean {
  const { pricingGroupValues, presentationGroupValues } = subject;
  return ownValue(pricingGroupValues, groupKey) === id || ownValue(presentationGroupValues, groupKey) === id;
}

type SubjectValues = Pick<ChargedSubject, 'pricingGroupValues' | 'presentationGroupValues'>;

/** The charges that a balance may be limited to. */
export interface ChargedSubject {
  readonly productId: string;
  readonly productType: ProductType;
  readonly productTags: readonly string[];
  readonly pricingGroupValues: GroupValues;
  readonly presentationGroupValues: GroupValues;
}

/**
 * When charges may draw on a segment: its own time, cut where its contract ends, the commit is archived, or its
 * remaining amount rolls over. Null: never.
 */
export function accessOf(
  { startingAt: start, endingBefore }: Pick<AccessSegment, 'startingAt' | 'endingBefore'>,
  limits: readonly (Instant | null)[],
): Interval | null {
  const end = Math.min(endingBefore, ...limits.filter((limit) => limit !== null));
  return start < end ? { start, end } : null;
}

/** A balance without conditions pays for everything. */
export function isUnrestricted({ productIds, productTags, specifiers }: Applicability): boolean {
  return productIds.length + productTags.length + specifiers.length === 0;
}

export function paysFor(
  { applicability, seat }: Pick<Bucket, 'applicability' | 'seat'>,
  subject: ChargedSubject,
): boolean {
  if (seat && !isOfSeat(seat, subject)) return false;
  if (isUnrestricted(applicability)) return true;
  const { productIds, productTags, specifiers } = applicability;
  return (
    productIds.includes(subject.productId) ||
    productTags.some((tag) => subject.productTags.includes(tag)) ||
    specifiers.some((specifier) => meetsSpecifier(specifier, subject))
  );
}

/**
 * Adjusts the terms of a contract to a new end date (docs/explanation/contracts.md, "End dates"). Pure.
 *
 * An earlier end truncates terms permanently. A later end extends the contract only, not its terms.
 */
import type { Commit } from '../../../core/terms/commits.ts';
import type { ContractTerms, FullContract } from '../../../core/terms/contract.ts';
import type { ScheduledCharge } from '../../../core/terms/scheduled-charges.ts';
import type { AccessSegment } from '../../../core/terms/schedules.ts';
import type { Instant } from '../../../core/time.ts';

/** The contract with its new end, null for none. Items that are scheduled after both the end and `now` are removed. */
export function withEndDate(full: FullContract, endingBefore: Instant | null, now: Instant): FullContract {
  const before = full.contract.endingBefore ?? Number.POSITIVE_INFINITY;
  const contract = { ...full.contract, endingBefore };
  if (endingBefore !== null && endingBefore < before) {
    const ends = { start: contract.startingAt, before, end: endingBefore };
    return { contract, terms: truncated(full.terms, ends, now) };
  }
  const oldEnd = full.contract.endingBefore;
  return { contract, terms: oldEnd === null ? full.terms : pinned(full.terms, oldEnd) };
}

/** The end of a contract. `before`: the former end. */
interface EarlierEnd {
  readonly start: Instant;
  readonly before: Instant;
  readonly end: Instant;
}

function truncated(terms: ContractTerms, ends: EarlierEnd, now: Instant): ContractTerms {
  const { end } = ends;
  return {
    ...terms,
    commits: terms.commits.map((commit) => truncatedCommit(commit, ends, now)),
    recurringCommits: terms.recurringCommits.map((term) => cut(term, end)),
    overrides: terms.overrides.map((override) => cut(override, end)),
    subscriptions: terms.subscriptions.map((subscription) => cut(subscription, end)),
    scheduledCharges: terms.scheduledCharges.map((charge) => truncatedCharge(charge, end, now)),
    professionalServices: terms.professionalServices.map((service) => ({
      ...service,
      items: withoutUpcoming(service.items, end, now),
    })),
  };
}

/** A term that ends with the contract still does; one that would begin later is left empty. */
function cut<Term extends { readonly startingAt: Instant; readonly endingBefore: Instant | null }>(
  term: Term,
  end: Instant,
): Term {
  if (term.startingAt >= end) return { ...term, endingBefore: term.startingAt };
  if (term.endingBefore === null || term.endingBefore <= end) return term;
  return { ...term, endingBefore: end };
}

/**
 * Items that were added to a usage invoice stay on it: the invoice ends with the contract. Other upcoming items are
 * removed.
 */
function truncatedCharge(charge: ScheduledCharge, end: Instant, now: Instant): ScheduledCharge {
  const { schedule } = charge;
  const items = charge.onUsageInvoice
    ? schedule.items.map((item) => (item.timestamp > Math.max(end, now) ? { ...item, timestamp: end } : item))
    : withoutUpcoming(schedule.items, end, now);
  return { ...charge, schedule: { ...schedule, items } };
}

/**
 * The true-up of a postpaid commit is due at the new end; other upcoming purchases are removed. If the former end has
 * passed, segments after it have rolled over, and the ledger needs them. If the contract ends at its start, an invoice
 * of that instant may have drawn on the segments that begin with it: they are left empty.
 */
function truncatedCommit(commit: Commit, { start, before, end }: EarlierEnd, now: Instant): Commit {
  const { accessSchedule, invoiceSchedule } = commit;
  const hasEnded = before <= now;
  const isCut = ({ startingAt }: AccessSegment) => startingAt < end || (startingAt === end && end === start);
  const segments = accessSchedule.segments
    .filter((one) => isCut(one) || (hasEnded && one.startingAt >= before))
    .map((one) => (isCut(one) ? { ...one, endingBefore: Math.min(one.endingBefore, end) } : one));
  if (invoiceSchedule === null) return { ...commit, accessSchedule: { ...accessSchedule, segments } };
  const items =
    commit.type === 'POSTPAID' && segments.some(({ startingAt }) => startingAt < end)
      ? invoiceSchedule.items.map((item) => ({ ...item, timestamp: Math.min(item.timestamp, end) }))
      : withoutUpcoming(invoiceSchedule.items, end, now);
  return {
    ...commit,
    accessSchedule: { ...accessSchedule, segments },
    invoiceSchedule: { ...invoiceSchedule, items },
  };
}

/** Items that are due by now have been invoiced and stay, even after an end in the past. */
function withoutUpcoming<Item extends { readonly timestamp: Instant }>(
  items: readonly Item[],
  end: Instant,
  now: Instant,
): Item[] {
  return items.filter((item) => item.timestamp <= Math.max(end, now));
}

/** Terms that ended with the contract keep that end when the contract is extended; charges in arrears continue too. */
function pinned(terms: ContractTerms, oldEnd: Instant): ContractTerms {
  const pin = <Term extends { readonly startingAt: Instant; readonly endingBefore: Instant | null }>(
    term: Term,
  ): Term =>
    term.endingBefore === null ? { ...term, endingBefore: Math.max(term.startingAt, oldEnd) } : term;
  return {
    ...terms,
    recurringCommits: terms.recurringCommits.map(pin),
    subscriptions: terms.subscriptions.map((subscription) =>
      subscription.collectionSchedule === 'ADVANCE' ? pin(subscription) : subscription,
    ),
  };
}

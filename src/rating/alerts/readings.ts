/** The values that an alert compares with its threshold (docs/explanation/notifications.md, "Alerts"). Pure. */
import {
  ALERT_RULES,
  type Alert,
  keyedField,
  keyedGroup,
  type TargetDetails,
  valueTarget,
  WHOLE_TARGET,
} from '../../core/alerts.ts';
import { type Decimal, decimal, divideTo20Places, sum, ZERO } from '../../core/decimal.ts';
import { unreachable } from '../../core/errors.ts';
import { groupBy } from '../../core/group-by.ts';
import { ownValue } from '../../core/own-value.ts';
import { DAY_MS, type Instant } from '../../core/time.ts';
import type { AlertFacts, ChargeFact, GrantFact, InvoiceFact } from './facts.ts';
import { countedGrants, meetsAll, withKeyedValues } from './filters.ts';

export interface Reading {
  /**
   * Identifies the alarm among those of the customer: empty for the only one, else a value, or the id of a segment,
   * contract or invoice.
   */
  readonly target: string;
  readonly value: Decimal;
  /** The start of the measured time, for values that start at zero in each period; else null. */
  readonly since: Instant | null;
  readonly details: TargetDetails;
}

const NO_DETAILS: TargetDetails = {};

/**
 * The current values, one for each alarm. Empty if the customer has nothing to compare. Null: they cannot be known now.
 */
export function readingsOf(alert: Alert, facts: AlertFacts, now: Instant): readonly Reading[] | null {
  const { subject } = ALERT_RULES[alert.type];
  switch (subject) {
    case 'balance':
      return facts.hasDrafts ? balances(alert, facts) : null;
    case 'percentage':
      return facts.hasDrafts ? percentage(alert, facts) : null;
    case 'seat_balance':
      return facts.hasDrafts ? seatBalances(alert, facts) : null;
    case 'segment_days':
      return segmentDays(alert, facts, now);
    case 'contract_days':
      return contractDays(facts, now);
    case 'spend':
      return facts.hasDrafts ? spend(alert, facts) : null;
    case 'period_total':
      return facts.hasDrafts ? periodTotal(alert, facts) : null;
    case 'invoice_total':
      return facts.hasDrafts ? invoiceTotals(alert, facts) : null;
    case 'usage':
      return usage(alert, facts);
    default:
      return unreachable(subject);
  }
}

function one(value: Decimal, since: Instant | null = null): Reading[] {
  return [{ target: WHOLE_TARGET, value, since, details: NO_DETAILS }];
}

/** The amount that can be used now. A customer without any counted grant has no balance. */
function balances(alert: Alert, facts: AlertFacts): Reading[] {
  const counted = countedGrants(alert, facts.grants);
  if (keyedField(alert) === null)
    return counted.length === 0 ? [] : one(remainingOf(counted).minus(heldOf(alert, facts)));
  return [...withKeyedValues(alert, counted)].map(([value, own]) => ({
    target: valueTarget(value),
    value: remainingOf(own),
    since: null,
    details: NO_DETAILS,
  }));
}

/** Zero unless the alert counts holds. */
export function heldOf({ filters, creditTypeId }: Alert, { held }: AlertFacts): Decimal {
  return filters.countHolds ? (held.get(creditTypeId ?? '') ?? ZERO) : ZERO;
}

function remainingOf(grants: readonly GrantFact[]): Decimal {
  return sum(grants.flatMap(({ segments }) => segments.map(({ remaining }) => remaining)));
}

/** Counts open segments only: without a grant there is no share. */
function percentage(alert: Alert, { grants }: AlertFacts): Reading[] {
  const counted = countedGrants(alert, grants);
  const granted = sum(counted.flatMap(({ segments }) => segments.map((segment) => segment.granted)));
  if (!granted.gt(ZERO)) return [];
  return one(divideTo20Places(remainingOf(counted).times('100'), granted));
}

function seatBalances(alert: Alert, { seats }: AlertFacts): Reading[] {
  const { seat } = alert.filters;
  const own = seats.filter(
    ({ groupKey, seatId, creditTypeId }) =>
      groupKey === seat?.groupKey &&
      (seat.value === null || seat.value === seatId) &&
      creditTypeId === alert.creditTypeId,
  );
  return [...groupBy(own, ({ seatId }) => seatId)].map(([seatId, parts]) => ({
    target: valueTarget(seatId),
    value: sum(parts.map(({ remaining }) => remaining)),
    since: null,
    details: NO_DETAILS,
  }));
}

function segmentDays(alert: Alert, { grants }: AlertFacts, now: Instant): Reading[] {
  return countedGrants(alert, grants).flatMap(({ id, kind, segments }) =>
    segments.map((segment) => ({
      target: segment.id,
      value: daysUntil(segment.endingBefore, now),
      since: null,
      details: { [kind === 'credit' ? 'creditId' : 'commitId']: id, segmentId: segment.id },
    })),
  );
}

function contractDays({ contracts }: AlertFacts, now: Instant): Reading[] {
  return contracts.flatMap(({ id, endingBefore }) =>
    endingBefore === null
      ? []
      : [{ target: id, value: daysUntil(endingBefore, now), since: null, details: { contractId: id } }],
  );
}

/** Whole days, rounded up. */
function daysUntil(end: Instant, now: Instant): Decimal {
  return decimal(String(Math.ceil((end - now) / DAY_MS)));
}

/** Charges for usage in the current billing periods, before commits and credits pay. */
function spend(alert: Alert, facts: AlertFacts): Reading[] {
  const current = facts.invoices.filter(
    (invoice) => invoice.currentSince !== null && isOfContract(alert, invoice),
  );
  const since = earliest(current);
  const charges = current.flatMap((invoice) => invoice.charges).filter((charge) => isCounted(alert, charge));
  const key = keyedGroup(alert);
  const total = (own: readonly ChargeFact[]) => sum(own.map((charge) => charge.total));
  if (key === null) return one(total(charges).plus(heldOf(alert, facts)), since);
  return [...groupBy(charges, ({ groups }) => ownValue(groups, key) ?? '')].map(([value, own]) => ({
    target: valueTarget(value),
    value: total(own),
    since,
    details: NO_DETAILS,
  }));
}

function isCounted({ creditTypeId, filters }: Alert, charge: ChargeFact): boolean {
  return (
    charge.creditTypeId === creditTypeId &&
    filters.groupValues.every(({ key, value }) => {
      const own = ownValue(charge.groups, key);
      return value === null ? own !== undefined : own === value;
    })
  );
}

function isOfContract({ filters }: Alert, { contractFields }: InvoiceFact): boolean {
  return meetsAll(filters.customFieldFilters, { kind: null, fields: {}, contractFields });
}

/** The current period of several contracts begins with the earliest of theirs. */
function earliest(current: readonly InvoiceFact[]): Instant | null {
  const starts = current.flatMap(({ currentSince }) => currentSince ?? []);
  return starts.length === 0 ? null : Math.min(...starts);
}

function periodTotal(alert: Alert, { invoices }: AlertFacts): Reading[] {
  const current = invoices.filter(({ currentSince }) => currentSince !== null);
  return one(sum(current.map((invoice) => totalIn(alert, invoice) ?? ZERO)), earliest(current));
}

/** Each invoice is compared separately. An invoice without any amount in the unit is skipped. */
function invoiceTotals(alert: Alert, { invoices }: AlertFacts): Reading[] {
  const { invoiceTypes } = alert.filters;
  return invoices
    .filter(({ type }) => invoiceTypes.length === 0 || invoiceTypes.some((one) => one === type))
    .flatMap((invoice) => {
      const value = totalIn(alert, invoice);
      const details = { invoiceId: invoice.id, invoiceType: invoice.type };
      return value === null ? [] : [{ target: invoice.id, value, since: null, details }];
    });
}

function totalIn({ creditTypeId }: Alert, { totals }: InvoiceFact): Decimal | null {
  return totals.get(creditTypeId ?? '') ?? null;
}

function usage({ billableMetricId }: Alert, facts: AlertFacts): Reading[] | null {
  const found = facts.usage.get(billableMetricId ?? '');
  if (found === undefined) return null;
  return found === null ? [] : one(found.value, found.since);
}

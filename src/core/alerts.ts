/**
 * Threshold notifications ("alerts"): the value that each type compares, and the settings of an alert
 * (docs/explanation/notifications.md).
 */
import { z } from 'zod';
import type { Decimal } from './decimal.ts';
import { derivedId } from './ids.ts';
import type { InvoiceType } from './invoice.ts';
import { listOf, objectOf } from './terms/values.ts';
import type { Instant } from './time.ts';

/** Members of an alert that apply to some subjects only. */
export type AlertMember =
  | 'billableMetricId'
  | 'creditTypeId'
  | 'seatFilter'
  | 'groupValues'
  | 'invoiceTypesFilter'
  | 'alertSpecifiers'
  | 'countHolds';

interface AlertSubjectRule {
  /** Whether it fires at or above its threshold, or at or below it. */
  readonly fires: 'at_least' | 'at_most';
  /** Amounts have a unit, US cents by default; so do balances whose share is compared. */
  readonly compares: 'amount' | 'share' | 'days' | 'usage';
  /** The values that it is computed from. `balances` are grants with their remaining amounts. */
  readonly facts: 'balances' | 'grants' | 'contracts' | 'invoices' | 'usage';
  /** Whether a customer has one alarm, or several: always, or one for each value of a group key or custom field. */
  readonly alarms: 'one' | 'several' | 'by_group' | 'by_field';
  readonly takes: readonly AlertMember[];
  readonly needs: readonly ('billableMetricId' | 'seatFilter')[];
  /** The objects whose custom fields narrow it. */
  readonly fieldsOf: 'nothing' | 'contracts' | 'contracts_and_grants';
  /** Why an alarm begins, if that is known. */
  readonly trigger: 'usage' | 'invoice_generation' | null;
}

/** The value that is compared with the threshold. Every other table of subjects is a full record. */
const ALERT_SUBJECTS = {
  balance: {
    ...{ fires: 'at_most', compares: 'amount', facts: 'balances', alarms: 'by_field', trigger: null },
    ...{
      takes: ['creditTypeId', 'alertSpecifiers', 'countHolds'],
      needs: [],
      fieldsOf: 'contracts_and_grants',
    },
  },
  percentage: {
    ...{ fires: 'at_most', compares: 'share', facts: 'balances', alarms: 'one', trigger: null },
    ...{ takes: ['creditTypeId'], needs: [], fieldsOf: 'contracts_and_grants' },
  },
  segment_days: {
    ...{ fires: 'at_most', compares: 'days', facts: 'grants', alarms: 'several', trigger: null },
    ...{ takes: ['creditTypeId'], needs: [], fieldsOf: 'contracts_and_grants' },
  },
  contract_days: {
    ...{ fires: 'at_most', compares: 'days', facts: 'contracts', alarms: 'several', trigger: null },
    ...{ takes: [], needs: [], fieldsOf: 'nothing' },
  },
  seat_balance: {
    ...{ fires: 'at_most', compares: 'amount', facts: 'balances', alarms: 'several', trigger: null },
    ...{ takes: ['creditTypeId', 'seatFilter'], needs: ['seatFilter'], fieldsOf: 'nothing' },
  },
  spend: {
    ...{ fires: 'at_least', compares: 'amount', facts: 'invoices', alarms: 'by_group', trigger: 'usage' },
    ...{ takes: ['creditTypeId', 'groupValues', 'countHolds'], needs: [], fieldsOf: 'contracts' },
  },
  period_total: {
    ...{ fires: 'at_least', compares: 'amount', facts: 'invoices', alarms: 'one', trigger: null },
    ...{ takes: ['creditTypeId'], needs: [], fieldsOf: 'nothing' },
  },
  invoice_total: {
    ...{ fires: 'at_least', compares: 'amount', facts: 'invoices', alarms: 'several' },
    ...{ takes: ['creditTypeId', 'invoiceTypesFilter'], needs: [], fieldsOf: 'nothing' },
    trigger: 'invoice_generation',
  },
  usage: {
    ...{ fires: 'at_least', compares: 'usage', facts: 'usage', alarms: 'one', trigger: 'usage' },
    ...{ takes: ['billableMetricId'], needs: ['billableMetricId'], fieldsOf: 'nothing' },
  },
} as const satisfies Readonly<Record<string, AlertSubjectRule>>;

export type AlertSubject = keyof typeof ALERT_SUBJECTS;

/** The kinds of balances that count. */
type AlertGrants = 'commits' | 'credits' | 'both';

interface AlertRule {
  readonly subject: AlertSubject;
  /** Null if no balances are compared. */
  readonly grants: AlertGrants | null;
}

/** For each type, the subject that it compares, and the balances that count. */
export const ALERT_RULES = {
  low_credit_balance_reached: { subject: 'balance', grants: 'credits' },
  spend_threshold_reached: { subject: 'spend', grants: null },
  monthly_invoice_total_spend_threshold_reached: { subject: 'period_total', grants: null },
  low_remaining_days_in_plan_reached: { subject: 'contract_days', grants: null },
  low_remaining_credit_percentage_reached: { subject: 'percentage', grants: 'credits' },
  usage_threshold_reached: { subject: 'usage', grants: null },
  low_remaining_days_for_commit_segment_reached: { subject: 'segment_days', grants: 'commits' },
  low_remaining_commit_balance_reached: { subject: 'balance', grants: 'commits' },
  low_remaining_commit_percentage_reached: { subject: 'percentage', grants: 'commits' },
  low_remaining_days_for_contract_credit_segment_reached: { subject: 'segment_days', grants: 'credits' },
  low_remaining_contract_credit_balance_reached: { subject: 'balance', grants: 'credits' },
  low_remaining_contract_credit_percentage_reached: { subject: 'percentage', grants: 'credits' },
  low_remaining_contract_credit_and_commit_balance_reached: { subject: 'balance', grants: 'both' },
  invoice_total_reached: { subject: 'invoice_total', grants: null },
  low_remaining_seat_balance_reached: { subject: 'seat_balance', grants: 'both' },
} as const satisfies Readonly<Record<string, AlertRule>>;

export type AlertType = keyof typeof ALERT_RULES;

export const ALERT_TYPES = Object.keys(ALERT_RULES) as [AlertType, ...AlertType[]];

/** The rule of a type's subject. */
export function subjectRule(type: AlertType): AlertSubjectRule {
  return ALERT_SUBJECTS[ALERT_RULES[type].subject];
}

/** Whether it fires at or above its threshold, and not at or below it. */
export function firesAtLeast(type: AlertType): boolean {
  return subjectRule(type).fires === 'at_least';
}

/** The types that accept a member. */
export function alertTypesTaking(member: AlertMember): AlertType[] {
  return ALERT_TYPES.filter((type) => subjectRule(type).takes.includes(member));
}

export const ALERT_FIELD_ENTITIES = [
  'Contract',
  'Commit',
  'ContractCredit',
  'ContractCreditOrCommit',
] as const;

const INVOICE_TYPES = ['USAGE', 'SCHEDULED'] as const satisfies readonly InvoiceType[];

const fieldFilter = objectOf({
  entity: z.enum(ALERT_FIELD_ENTITIES),
  key: z.string(),
  /** Null: an alarm for each value. Only in specifiers. */
  value: z.string().nullable(),
});
export type AlertFieldFilter = z.output<typeof fieldFilter>;

const specifier = objectOf({
  /** A balance must match all of them. */
  customFieldFilters: listOf(fieldFilter),
  /** A balance that matches all filters of one entry is excluded. */
  exclude: listOf(objectOf({ customFieldFilters: listOf(fieldFilter) })),
});
export type AlertSpecifier = z.output<typeof specifier>;

/** `alerts.filters`: filters that narrow an alert. Empty lists and null: no filter. */
export const alertFilters = objectOf({
  customFieldFilters: listOf(fieldFilter),
  /** Usage must have all of these values; an entry without a value has an alarm for each value. */
  groupValues: listOf(objectOf({ key: z.string(), value: z.string().nullable() })),
  invoiceTypes: listOf(z.enum(INVOICE_TYPES)),
  seat: objectOf({ groupKey: z.string(), value: z.string().nullable() }).nullable(),
  /** A balance counts if it matches any of them. */
  specifiers: listOf(specifier),
  /** Active holds count as if their usage had occurred. */
  countHolds: z.boolean().default(false),
});
export type AlertFilters = z.output<typeof alertFilters>;

export const NO_ALERT_FILTERS: AlertFilters = {
  customFieldFilters: [],
  groupValues: [],
  invoiceTypes: [],
  seat: null,
  specifiers: [],
  countHolds: false,
};

export interface Alert {
  readonly id: string;
  readonly name: string;
  readonly type: AlertType;
  /** Null: it never had one, or the archived alert has released it. */
  readonly uniquenessKey: string | null;
  readonly threshold: Decimal;
  /** The unit of the compared amounts; null if no amounts are compared. */
  readonly creditTypeId: string | null;
  /** Null: it is evaluated for every customer. */
  readonly customerId: string | null;
  readonly billableMetricId: string | null;
  /** Whether customers that are past the threshold at the first evaluation are reported. */
  readonly evaluateOnCreate: boolean;
  readonly filters: AlertFilters;
  readonly createdAt: Instant;
  readonly createdBy: string;
  readonly archivedAt: Instant | null;
}

/** Limits for the number of active alerts. */
export interface AlertLimits {
  /** Alerts for all customers. */
  readonly global: number;
  /** Alerts for one customer, besides those for all. */
  readonly perCustomer: number;
}

export const ALERT_LIMITS_DEFAULT: AlertLimits = { global: 300, perCustomer: 1_200 };

/** The custom field with an alarm for each of its values; null if there is none. */
export function keyedField(alert: Pick<Alert, 'filters'>): AlertFieldFilter | null {
  return keyedFields(alert)[0] ?? null;
}

/** The keyed custom field for each kind of balance that the filters name. */
export function keyedFields({ filters: { specifiers } }: Pick<Alert, 'filters'>): AlertFieldFilter[] {
  const filters = specifiers.flatMap(({ customFieldFilters }) => customFieldFilters);
  return filters.filter(({ value }) => value === null);
}

/** The group key with an alarm for each of its values; null if there is none. */
export function keyedGroup({ filters: { groupValues } }: Pick<Alert, 'filters'>): string | null {
  return groupValues.find(({ value }) => value === null)?.key ?? null;
}

/** Whether a customer can have several alarms: by seat, segment, contract, invoice, or value. */
export function hasTargets(alert: Pick<Alert, 'type' | 'filters'>): boolean {
  const { alarms } = subjectRule(alert.type);
  if (alarms === 'by_group') return keyedGroup(alert) !== null;
  if (alarms === 'by_field') return keyedField(alert) !== null;
  return alarms === 'several';
}

export const ALERT_STATES = ['evaluating', 'ok', 'in_alarm'] as const;
export type AlertState = (typeof ALERT_STATES)[number];

/** The target of a customer's only alarm of an alert. If there are several, it represents all of them. */
export const WHOLE_TARGET = '';

/** The subject of an alarm: ids and values that are in its message. */
export interface TargetDetails {
  readonly commitId?: string;
  readonly creditId?: string;
  readonly segmentId?: string;
  readonly contractId?: string;
  readonly invoiceId?: string;
  readonly invoiceType?: string;
}

/** Maximum characters of a value in a target; an index of the database cannot hold longer ones. */
const VALUE_LENGTH_MAX = 200;
const SHORTENED_TO = 100;

/**
 * The target of an alarm about a value: of a custom field, of a group key, or a seat. Contains only characters that the
 * database can store; a long value is shortened and distinguished from others by its hash.
 */
export function valueTarget(value: string): string {
  const text = wellFormed(value).replaceAll('\0', '\uFFFD');
  if (text.length <= VALUE_LENGTH_MAX) return `=${text}`;
  return `=${wellFormed(text.slice(0, SHORTENED_TO))}…${derivedId('alert target', value)}`;
}

/** Half of a pair of surrogates becomes U+FFFD, as in the database. */
function wellFormed(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}

/** Null for a target that is not a value. */
export function valueOfTarget(target: string): string | null {
  return target.startsWith('=') ? target.slice(1) : null;
}

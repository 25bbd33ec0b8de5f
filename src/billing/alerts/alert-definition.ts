/** What an alert may be made of: which members its type needs, and which it does not take. */
import {
  ALERT_RULES,
  type Alert,
  type AlertFieldFilter,
  type AlertFilters,
  type AlertSubject,
} from '../../core/alerts.ts';
import { USD_CENTS } from '../../core/credit-types.ts';
import { invalid } from '../../core/errors.ts';

/** An alert as a client describes it. */
export type NewAlert = Pick<
  Alert,
  | 'name'
  | 'type'
  | 'uniquenessKey'
  | 'threshold'
  | 'creditTypeId'
  | 'customerId'
  | 'billableMetricId'
  | 'evaluateOnCreate'
  | 'filters'
  | 'createdBy'
>;

/** Types with amounts in a unit, which is US cents unless given. */
const WITH_UNIT: readonly AlertSubject[] = [
  'balance',
  'percentage',
  'seat_balance',
  'spend',
  'period_total',
  'invoice_total',
];

/** The unit of the compared amounts. Null: none, or of days, any. */
export function unitOf({ type, creditTypeId }: NewAlert): string | null {
  return creditTypeId ?? (WITH_UNIT.includes(ALERT_RULES[type].subject) ? USD_CENTS.id : null);
}

/** Refuses (`invalid`) what the type does not take, and what it needs and has not. */
export function checkDefinition(alert: NewAlert): void {
  const { subject } = ALERT_RULES[alert.type];
  const { billableMetricId, filters, type } = alert;
  if (subject === 'usage' && billableMetricId === null) throw invalid(['billableMetricId'], 'is required');
  if (subject === 'seat_balance' && filters.seat === null) throw invalid(['seatFilter'], 'is required');
  const refuse = (name: string, isGiven: boolean, subjects: readonly AlertSubject[]) => {
    if (isGiven && !subjects.includes(subject)) throw invalid([name], `is not for alerts of type ${type}`);
  };
  refuse('billableMetricId', billableMetricId !== null, ['usage']);
  refuse('seatFilter', filters.seat !== null, ['seat_balance']);
  refuse('groupValues', filters.groupValues.length > 0, ['spend']);
  refuse('invoiceTypesFilter', filters.invoiceTypes.length > 0, ['invoice_total']);
  refuse('creditTypeId', alert.creditTypeId !== null, [...WITH_UNIT, 'segment_days']);
  checkGroupValues(filters);
  checkFieldFilters(alert);
  checkSpecifiers(alert);
}

function checkGroupValues({ groupValues }: AlertFilters): void {
  const keys = groupValues.map(({ key }) => key);
  if (new Set(keys).size < keys.length) throw invalid(['groupValues'], 'must name each key once');
  if (groupValues.filter(({ value }) => value === null).length > 1) {
    throw invalid(['groupValues'], 'must have at most one key without a value');
  }
}

function checkFieldFilters({ type, filters: { customFieldFilters } }: NewAlert): void {
  const allowed = entitiesOf(type);
  for (const [index, { entity }] of customFieldFilters.entries()) {
    if (allowed.includes(entity)) continue;
    const problem =
      allowed.length === 0 ? `is not for alerts of type ${type}` : `must be ${allowed.join(' or ')}`;
    throw invalid(['customFieldFilters', index, 'entity'], problem);
  }
}

/** The objects whose custom fields narrow alerts of the type. */
function entitiesOf(type: Alert['type']): readonly AlertFieldFilter['entity'][] {
  const { subject, grants } = ALERT_RULES[type];
  if (subject === 'spend') return ['Contract'];
  if (grants === null || subject === 'seat_balance') return [];
  if (grants === 'both') return ['Contract', 'Commit', 'ContractCredit', 'ContractCreditOrCommit'];
  return ['Contract', grants === 'commits' ? 'Commit' : 'ContractCredit', 'ContractCreditOrCommit'];
}

function checkSpecifiers({ type, filters: { specifiers } }: NewAlert): void {
  if (specifiers.length > 0 && type !== 'low_remaining_contract_credit_and_commit_balance_reached') {
    throw invalid(['alertSpecifiers'], `is not for alerts of type ${type}`);
  }
  const keyed = specifiers.flatMap(({ customFieldFilters }) =>
    customFieldFilters.filter(({ value }) => value === null),
  );
  if (keyed.length > 1) throw invalid(['alertSpecifiers'], 'must have at most one key without a value');
}

/** Validates the members of an alert: those that its type requires, and those that it does not accept. */
import {
  ALERT_RULES,
  type Alert,
  type AlertFieldFilter,
  type AlertFilters,
  type AlertMember,
  subjectRule,
} from '../../core/alerts.ts';
import { USD_CENTS } from '../../core/credit-types.ts';
import { invalid } from '../../core/errors.ts';
import { checkSameConditions } from '../custom-fields/same-conditions.ts';

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

/** The unit of the compared amounts, US cents by default. Null: none; for days, any unit. */
export function unitOf({ type, creditTypeId }: NewAlert): string | null {
  const { compares } = subjectRule(type);
  return creditTypeId ?? (compares === 'amount' || compares === 'share' ? USD_CENTS.id : null);
}

/** Refuses (`invalid`) members that the type does not accept, and missing members that it requires. */
export function checkDefinition(alert: NewAlert): void {
  const { filters, type } = alert;
  const { takes, needs } = subjectRule(type);
  const isGiven = new Map<AlertMember, boolean>([
    ['billableMetricId', alert.billableMetricId !== null],
    ['seatFilter', filters.seat !== null],
    ['groupValues', filters.groupValues.length > 0],
    ['invoiceTypesFilter', filters.invoiceTypes.length > 0],
    ['creditTypeId', alert.creditTypeId !== null],
    ['countHolds', filters.countHolds],
  ]);
  for (const name of needs) if (!isGiven.get(name)) throw invalid([name], 'is required');
  for (const [name, given] of isGiven) {
    if (given && !takes.includes(name)) throw invalid([name], `is not for alerts of type ${type}`);
  }
  checkGroupValues(filters);
  checkFieldFilters(alert);
  checkSpecifiers(alert);
  checkHolds(alert);
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
  checkSameConditions(customFieldFilters, ['customFieldFilters']);
}

/** The objects whose custom fields narrow alerts of the type. */
function entitiesOf(type: Alert['type']): readonly AlertFieldFilter['entity'][] {
  const { fieldsOf } = subjectRule(type);
  if (fieldsOf === 'nothing') return [];
  if (fieldsOf === 'contracts') return ['Contract'];
  const { grants } = ALERT_RULES[type];
  if (grants === 'both') return ['Contract', 'Commit', 'ContractCredit', 'ContractCreditOrCommit'];
  return ['Contract', grants === 'commits' ? 'Commit' : 'ContractCredit', 'ContractCreditOrCommit'];
}

/** A hold belongs to no single balance, contract or group. */
function checkHolds({ type, filters }: NewAlert): void {
  if (!filters.countHolds) return;
  const { grants } = ALERT_RULES[type];
  if (grants !== null && grants !== 'both')
    throw invalid(['countHolds'], `is not for alerts of type ${type}`);
  const { customFieldFilters, groupValues, specifiers } = filters;
  if (customFieldFilters.length + groupValues.length + specifiers.length === 0) return;
  throw invalid(['countHolds'], 'cannot be combined with filters');
}

function checkSpecifiers({ type, filters: { specifiers } }: NewAlert): void {
  const isTaken = subjectRule(type).takes.includes('alertSpecifiers') && ALERT_RULES[type].grants === 'both';
  if (specifiers.length > 0 && !isTaken) {
    throw invalid(['alertSpecifiers'], `is not for alerts of type ${type}`);
  }
  for (const [index, { customFieldFilters, exclude }] of specifiers.entries()) {
    const field = ['alertSpecifiers', index];
    checkSameConditions(customFieldFilters, [...field, 'customFieldFilters']);
    for (const [place, entry] of exclude.entries()) {
      checkSameConditions(entry.customFieldFilters, [...field, 'exclude', place, 'customFieldFilters']);
    }
  }
  const keys = specifiers.flatMap(({ customFieldFilters }) => {
    const open = customFieldFilters.filter(({ value }) => value === null);
    return [...new Set(open.map(({ entity, key }) => (entity === 'Contract' ? `Contract ${key}` : key)))];
  });
  if (keys.length > 1) throw invalid(['alertSpecifiers'], 'must have at most one key without a value');
}

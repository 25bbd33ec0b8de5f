/** Which balances an alert counts (docs/explanation/notifications.md, "Alerts"). Pure. */
import {
  ALERT_RULES,
  type Alert,
  type AlertFieldFilter,
  type AlertSpecifier,
  keyedFields,
} from '../../core/alerts.ts';
import type { CustomFields } from '../../core/custom-fields.ts';
import { ownValue } from '../../core/own-value.ts';
import type { GrantFact } from './facts.ts';

/** Something with custom fields. `kind` null: a contract. */
interface Described {
  readonly kind: GrantFact['kind'] | null;
  readonly fields: CustomFields;
  readonly contractFields: CustomFields;
}

/** The grants in the alert's unit and of its kind that pass its filters. */
export function countedGrants(alert: Alert, grants: readonly GrantFact[]): GrantFact[] {
  const { type, creditTypeId, filters } = alert;
  const wanted = ALERT_RULES[type].grants;
  return grants.filter(
    (grant) =>
      (wanted === 'both' || wanted === `${grant.kind}s`) &&
      (creditTypeId === null || grant.creditTypeId === creditTypeId) &&
      meetsAll(filters.customFieldFilters, grant) &&
      (filters.specifiers.length === 0 || filters.specifiers.some((specifier) => passes(specifier, grant))),
  );
}

/** Groups the balances by their value of the custom field that has an alarm for each value. */
export function withKeyedValues(
  alert: Alert,
  grants: readonly GrantFact[],
): ReadonlyMap<string, readonly GrantFact[]> {
  const byValue = new Map<string, GrantFact[]>();
  const filters = keyedFields(alert);
  for (const grant of grants) {
    const [value] = filters.flatMap((filter) => (isOf(filter, grant) ? (fieldOf(filter, grant) ?? []) : []));
    if (value === undefined) continue;
    const own = byValue.get(value);
    if (own === undefined) byValue.set(value, [grant]);
    else own.push(grant);
  }
  return byValue;
}

function passes({ customFieldFilters, exclude }: AlertSpecifier, grant: GrantFact): boolean {
  return (
    meetsAll(customFieldFilters, grant) &&
    !exclude.some((entry) => entry.customFieldFilters.length > 0 && meetsAll(entry.customFieldFilters, grant))
  );
}

/** Filters of several kinds of balances are one condition: each balance has to meet the filters for its kind. */
export function meetsAll(filters: readonly AlertFieldFilter[], object: Described): boolean {
  const own = filters.filter((filter) => isOf(filter, object));
  const isLeftOut = filters.some(isOfBalances) && !own.some(isOfBalances);
  return (
    !isLeftOut &&
    own.every((filter) => {
      const found = fieldOf(filter, object);
      return found !== undefined && (filter.value === null || found === filter.value);
    })
  );
}

function isOfBalances({ entity }: AlertFieldFilter): boolean {
  return entity !== 'Contract';
}

/** Whether the filter is about objects of this kind, or about their contract. */
function isOf({ entity }: AlertFieldFilter, { kind }: Described): boolean {
  if (entity === 'Contract') return true;
  if (entity === 'ContractCreditOrCommit') return kind !== null;
  return kind === (entity === 'Commit' ? 'commit' : 'credit');
}

/** Undefined if the field has no value. */
function fieldOf({ entity, key }: AlertFieldFilter, { fields, contractFields }: Described) {
  return ownValue(entity === 'Contract' ? contractFields : fields, key);
}

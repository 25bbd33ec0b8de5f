/** Which balances an alert counts (docs/notifications.md, "Alerts"). Pure. */
import {
  ALERT_RULES,
  type Alert,
  type AlertFieldFilter,
  type AlertSpecifier,
  keyedField,
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

/** Those in the unit and of the kind of the alert that pass its filters. */
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

/** The balances by their value of the key that has an alarm for each value. */
export function withKeyedValues(
  alert: Alert,
  grants: readonly GrantFact[],
): ReadonlyMap<string, readonly GrantFact[]> {
  const byValue = new Map<string, GrantFact[]>();
  const filter = keyedField(alert);
  for (const grant of grants) {
    const value = filter === null ? undefined : fieldOf(filter, grant);
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

export function meetsAll(filters: readonly AlertFieldFilter[], object: Described): boolean {
  return filters.every((filter) => {
    const own = fieldOf(filter, object);
    return own !== undefined && (filter.value === null || own === filter.value);
  });
}

/** Undefined where the object is not of the kind, or has no value. */
function fieldOf({ entity, key }: AlertFieldFilter, { kind, fields, contractFields }: Described) {
  if (entity === 'Contract') return ownValue(contractFields, key);
  const isOfKind =
    entity === 'ContractCreditOrCommit'
      ? kind !== null
      : kind === (entity === 'Commit' ? 'commit' : 'credit');
  return isOfKind ? ownValue(fields, key) : undefined;
}

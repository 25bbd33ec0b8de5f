/** Alerts and facts for tests of their rules. */
import { type Alert, type AlertType, NO_ALERT_FILTERS } from '../../src/core/alerts.ts';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { decimal } from '../../src/core/decimal.ts';
import type { AlertFacts, GrantFact } from '../../src/rating/alerts/facts.ts';

export { NO_ALERT_FILTERS as NO_FILTERS } from '../../src/core/alerts.ts';

export const NO_FACTS: AlertFacts = {
  grants: [],
  seats: [],
  contracts: [],
  invoices: [],
  hasDrafts: true,
  held: new Map(),
  usage: new Map(),
};

/** In US cents, for all customers. */
export function alertOf(type: AlertType, threshold: string, change: Partial<Alert> = {}): Alert {
  return {
    id: 'alert',
    name: 'Alert',
    type,
    uniquenessKey: null,
    threshold: decimal(threshold),
    creditTypeId: USD_CENTS.id,
    customerId: null,
    billableMetricId: null,
    evaluateOnCreate: true,
    filters: NO_ALERT_FILTERS,
    createdAt: 0,
    createdBy: 'test',
    archivedAt: null,
    ...change,
  };
}

/** With one open segment. */
export function grantOf(id: string, amounts: string, change: Partial<GrantFact> = {}): GrantFact {
  const [remaining = '', granted = remaining] = amounts.split(' of ');
  return {
    id,
    kind: 'commit',
    creditTypeId: USD_CENTS.id,
    fields: {},
    contractFields: {},
    segments: [
      {
        id: `${id}-segment`,
        granted: decimal(granted),
        remaining: decimal(remaining),
        endingBefore: Date.UTC(2027, 0, 1),
      },
    ],
    ...change,
  };
}

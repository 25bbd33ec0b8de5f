/**
 * Changes of answers that were decided after a frozen state was written. The state itself never changes, so its answers
 * are compared as they should be today.
 */

const EURO_IDS = ['aa71c77b-61bc-5761-8f36-f5a708b36ad6', '58f0be15-cc47-4220-bdaf-072ab0e44f96'] as const;
const GROUP_KEYS = ['pricing_group_key', 'presentation_group_key'];

/** The frozen answer as decided since. Numbers keep all their digits. */
export function asDecided(answer: unknown, contractArchivedAt?: unknown): unknown {
  if (typeof answer === 'string') return answer.replaceAll(...EURO_IDS);
  if (Array.isArray(answer)) return answer.map((item) => asDecided(item, contractArchivedAt));
  if (typeof answer !== 'object' || answer === null) return answer;
  if (Object.getPrototypeOf(answer) !== Object.prototype) return answer;
  const { archived_at: archivedAt } = Object(answer) as { readonly archived_at?: unknown };
  const inContract = 'customer_id' in answer ? archivedAt : contractArchivedAt;
  const members = Object.entries(answer).map(([name, value]): [string, unknown] => {
    const decided = asDecided(value, inContract);
    if (name === 'initial' || name === 'current') return [name, withoutEmptyKeys(decided)];
    const isArchivedAlone = archivedAt !== undefined && archivedAt !== inContract;
    return [name, name === 'ledger' && isArchivedAlone ? canceledAt(decided, archivedAt) : decided];
  });
  return Object.fromEntries(members);
}

/** The amount left of a commit or credit that is archived alone is canceled. */
function canceledAt(ledger: unknown, archivedAt: unknown): unknown {
  if (!Array.isArray(ledger)) return ledger;
  return ledger.map((entry) => {
    const { type, timestamp } = Object(entry) as { readonly type?: unknown; readonly timestamp?: unknown };
    const isCut =
      timestamp === archivedAt && ['PREPAID_COMMIT_EXPIRATION', 'CREDIT_EXPIRATION'].includes(String(type));
    return isCut ? { ...Object(entry), type: String(type).replace('EXPIRATION', 'CANCELED') } : entry;
  });
}

/** States of products leave out group keys that are empty. */
function withoutEmptyKeys(state: unknown): unknown {
  if (typeof state !== 'object' || state === null || Array.isArray(state)) return state;
  return Object.fromEntries(
    Object.entries(state).filter(
      ([name, value]) => !(GROUP_KEYS.includes(name) && Array.isArray(value) && value.length === 0),
    ),
  );
}

/** Lists with more rows than the frozen state had: delivery methods that need no connection, and currencies. */
const LONGER_LISTS = ['/v1/listConfiguredBillingProviders', '/v1/credit-types/list'];

/** Some lists have more rows at their end. Drafts have the charges of subscriptions, which were not billed. */
export function comparable(path: string, frozen: unknown, now: unknown): unknown {
  if (path.includes('/invoices')) return withoutSubscriptions(now);
  // The contract that starts last comes first.
  if (path === '/v2/contracts/list') return { ...Object(now), data: rowsOf(now).toReversed() };
  if (!LONGER_LISTS.some((list) => path.startsWith(list))) return now;
  const [before, after] = [rowsOf(frozen), rowsOf(now)];
  return { ...Object(now), data: after.slice(0, before.length), next_page: Object(frozen).next_page };
}

function withoutSubscriptions(answer: unknown): unknown {
  if (Array.isArray(answer)) {
    return answer.filter((item) => Object(item).type !== 'subscription').map(withoutSubscriptions);
  }
  if (typeof answer !== 'object' || answer === null) return answer;
  if (Object.getPrototypeOf(answer) !== Object.prototype) return answer;
  return Object.fromEntries(
    Object.entries(answer).map(([name, value]) => [name, withoutSubscriptions(value)]),
  );
}

function rowsOf(page: unknown): unknown[] {
  const { data } = Object(page) as { readonly data?: unknown };
  return Array.isArray(data) ? data : [];
}

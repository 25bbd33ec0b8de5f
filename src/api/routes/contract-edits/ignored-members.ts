/** Members of edits that are accepted and have no effect (docs/contracts.md, "Not supported"). */

const IGNORED: readonly (readonly string[])[] = [
  ...[
    'add_commits',
    'add_credits',
    'add_recurring_commits',
    'add_recurring_credits',
    'add_scheduled_charges',
    'add_discounts',
    'add_professional_services',
    'update_commits',
    'update_credits',
    'update_scheduled_charges',
  ].flatMap((group) => [
    [group, 'netsuite_sales_order_id'],
    [group, 'salesforce_opportunity_id'],
  ]),
  ['add_commits', 'amount'],
  ['add_commits', 'access_schedule', 'access_type'],
  ['add_credits', 'access_schedule', 'access_type'],
  ['add_subscriptions', 'payment_gate_config'],
  ...['add', 'update'].flatMap((verb) =>
    ['duration', 'rate_type', 'rollover_fraction'].map((name) => [
      `${verb}_prepaid_balance_threshold_configuration`,
      'commit',
      name,
    ]),
  ),
];

/** The body of an edit without the ignored members. */
export function withoutIgnored(body: unknown): unknown {
  return IGNORED.reduce(without, body);
}

/** In a list the member is removed from each item. */
function without(value: unknown, path: readonly string[]): unknown {
  const [name, ...rest] = path;
  if (Array.isArray(value)) return value.map((item) => without(item, path));
  if (name === undefined || typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value);
  if (!members.some(([member]) => member === name)) return value;
  return Object.fromEntries(
    members.flatMap(([member, of]) => {
      if (member !== name) return [[member, of]];
      return rest.length === 0 ? [] : [[member, without(of, rest)]];
    }),
  );
}

/** The events of the frozen story: by the months in which they are sent, some of them too late or twice. */

interface Use {
  readonly at: string;
  readonly amount: number | string;
  readonly model?: string;
  readonly region?: string;
  readonly user?: string;
}

let count = 0;

function call(customer: string, use: Use) {
  count += 1;
  const { at, amount, model = 'large', region = 'eu', user = 'ada' } = use;
  return {
    transaction_id: `call-${String(count).padStart(4, '0')}`,
    customer_id: customer,
    event_type: 'call',
    timestamp: at,
    properties: {
      amount,
      model,
      region,
      user,
      level: count,
      nested: { list: [1, 'two', null], deep: { on: true } },
    },
  };
}

/** The events that the metric of test/support counts. */
function completion(customer: string, at: string, tokens: number, model: string) {
  count += 1;
  return {
    transaction_id: `completion-${count}`,
    customer_id: customer,
    event_type: 'completion',
    timestamp: at,
    properties: { tokens, model, region: 'us', user: 'bob' },
  };
}

/** The customers whose usage is invoiced and stays so. */
const INVOICED = ['usage', 'leaving', 'voided', 'weekly'];

function month(name: string, days: readonly string[]) {
  return [
    ...INVOICED.flatMap((customer) => [
      call(customer, { at: `2026-${name}-${days[0]}T10:15:30.125Z`, amount: 1500 }),
      call(customer, { at: `2026-${name}-${days[0]}T10:45:00Z`, amount: 700.5, region: 'us', user: 'bob' }),
      call(customer, { at: `2026-${name}-${days[1]}T23:59:59.999Z`, amount: 12000, model: 'small' }),
      call(customer, { at: `2026-${name}-${days[2]}T00:00:00Z`, amount: '9999.000000000001', user: 'cyd' }),
      call(customer, { at: `2026-${name}-${days[2]}T05:00:00Z`, amount: 3, model: 'unknown' }),
    ]),
    completion('everything', `2026-${name}-${days[0]}T01:00:00Z`, 120, 'a'),
    completion('everything', `2026-${name}-${days[1]}T01:00:00Z`, 80, 'b'),
    completion('everything', `2026-${name}-${days[2]}T01:00:00Z`, 9, 'c'),
    completion('packaged', `2026-${name}-${days[1]}T02:00:00Z`, 33, 'a'),
    call('nobody yet', { at: `2026-${name}-${days[0]}T11:00:00Z`, amount: 1 }),
  ];
}

/** The first two are sent again with other properties, and do not count. */
function withRepeats<Event extends object>(events: readonly Event[]) {
  return [...events, ...events.slice(0, 2).map((event) => ({ ...event, properties: { amount: 1 } }))];
}

export const OCTOBER_EVENTS = withRepeats(month('10', ['03', '11', '19']));

/** After the invoices of October were finalized. */
export const LATE_EVENTS = [
  call('usage', { at: '2026-10-11T12:00:00Z', amount: 2500 }),
  call('usage', { at: '2026-10-12T12:00:00Z', amount: 10, model: 'small' }),
  call('leaving', { at: '2026-10-12T12:00:00Z', amount: 5 }),
];

export const NOVEMBER_EVENTS = month('11', ['01', '02', '03']).filter(
  ({ timestamp }) => timestamp <= '2026-11-03T00:00:00Z',
);

export const DECEMBER_EVENTS = [
  ...withRepeats(month('12', ['01', '02', '03'])),
  call('usage', { at: '2026-11-28T12:00:00Z', amount: 400 }),
];

/** The first ones of December, of which two came twice; one of nobody, one too old, one never sent. */
export const SEARCHED_IDS = [
  ...DECEMBER_EVENTS.slice(0, 3).map((event) => event.transaction_id),
  ...DECEMBER_EVENTS.filter((event) => event.customer_id === 'nobody yet').map(
    (event) => event.transaction_id,
  ),
  'call-0001',
  'never sent',
];

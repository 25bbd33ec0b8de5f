import { describe, expect, test } from 'vitest';
import type { Alert } from '../../../src/core/alerts.ts';
import { USD_CENTS } from '../../../src/core/credit-types.ts';
import { decimal } from '../../../src/core/decimal.ts';
import { DAY_MS, HOUR_MS } from '../../../src/core/time.ts';
import type { AlertFacts, InvoiceFact } from '../../../src/rating/alerts/facts.ts';
import { readingsOf } from '../../../src/rating/alerts/readings.ts';
import { alertOf, grantOf, NO_FACTS, NO_FILTERS } from '../../support/alert-cases.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const NOVEMBER = Date.UTC(2026, 10, 1);
const EURO = 'euro';

function read(alert: Alert, facts: Partial<AlertFacts>): string[] | null {
  const readings = readingsOf(alert, { ...NO_FACTS, ...facts }, NOW);
  return readings?.map(({ target, value }) => `${target}:${value.toFixed()}`) ?? null;
}

const filters = (change: Partial<Alert['filters']>) => ({ filters: { ...NO_FILTERS, ...change } });
const field = (
  entity: 'Contract' | 'Commit' | 'ContractCredit' | 'ContractCreditOrCommit',
  key: string,
  value: string | null,
) => ({
  entity,
  key,
  value,
});

const grants = [
  grantOf('p1', '60 of 100', { fields: { team: 'a' }, contractFields: { plan: 'pro' } }),
  grantOf('p2', '15 of 50', { fields: { team: 'b' } }),
  grantOf('c1', '7 of 10', { kind: 'credit', fields: { team: 'a' } }),
  grantOf('e1', '1000', { creditTypeId: EURO }),
];

describe('balances', () => {
  test.each([
    ['low_remaining_commit_balance_reached', ':75'],
    ['low_remaining_contract_credit_balance_reached', ':7'],
    ['low_credit_balance_reached', ':7'],
    ['low_remaining_contract_credit_and_commit_balance_reached', ':82'],
    ['low_remaining_commit_percentage_reached', ':50'],
    ['low_remaining_contract_credit_percentage_reached', ':70'],
    ['low_remaining_credit_percentage_reached', ':70'],
  ] as const)('%s sums what can be used now in its unit', (type, value) => {
    expect(read(alertOf(type, '0'), { grants })).toEqual([value]);
  });

  test('who has never had a balance in the unit has none, and who has used it up or let it end has 0', () => {
    const alert = alertOf('low_remaining_commit_balance_reached', '0');
    expect(read(alert, { grants: [grantOf('e1', '5', { creditTypeId: EURO })] })).toEqual([]);
    expect(read(alert, { grants: [grantOf('p1', '0 of 5')] })).toEqual([':0']);
    expect(read(alert, { grants: [grantOf('p1', '0', { segments: [] })] })).toEqual([':0']);
  });

  test('holds are as used for an alert that counts them, in its unit', () => {
    const held = new Map([
      [USD_CENTS.id, decimal('30.5')],
      [EURO, decimal('1')],
    ]);
    const type = 'low_remaining_contract_credit_and_commit_balance_reached';
    expect(read(alertOf(type, '0', filters({ countHolds: true })), { grants, held })).toEqual([':51.5']);
    expect(read(alertOf(type, '0'), { grants, held })).toEqual([':82']);
    expect(read(alertOf('spend_threshold_reached', '0', filters({ countHolds: true })), { held })).toEqual([
      ':30.5',
    ]);
  });

  test('there is no percentage without an open segment', () => {
    const alert = alertOf('low_remaining_commit_percentage_reached', '0');
    expect(read(alert, { grants: [grantOf('p1', '0', { segments: [] })] })).toEqual([]);
  });

  test('custom fields of the commit and of its contract must all match', () => {
    const withFilters = (...customFieldFilters: Alert['filters']['customFieldFilters']) =>
      read(alertOf('low_remaining_commit_balance_reached', '0', filters({ customFieldFilters })), { grants });
    expect(withFilters(field('Commit', 'team', 'b'))).toEqual([':15']);
    expect(withFilters(field('Commit', 'team', 'a'), field('Contract', 'plan', 'pro'))).toEqual([':60']);
    expect(withFilters(field('Commit', 'constructor', 'a'))).toEqual([]);
  });

  test('specifiers are joined by or, their filters by and, and entries of exclude by or', () => {
    const withSpecifiers = (...specifiers: Alert['filters']['specifiers']) =>
      read(
        alertOf('low_remaining_contract_credit_and_commit_balance_reached', '0', filters({ specifiers })),
        { grants },
      );
    const a = field('ContractCreditOrCommit', 'team', 'a');
    const b = field('ContractCreditOrCommit', 'team', 'b');
    expect(withSpecifiers({ customFieldFilters: [a], exclude: [] })).toEqual([':67']);
    expect(
      withSpecifiers({ customFieldFilters: [a], exclude: [] }, { customFieldFilters: [b], exclude: [] }),
    ).toEqual([':82']);
    expect(withSpecifiers({ customFieldFilters: [a, b], exclude: [] })).toEqual([]);
    const exclude = [field('ContractCredit', 'team', 'a'), b].map((one) => ({ customFieldFilters: [one] }));
    expect(withSpecifiers({ customFieldFilters: [], exclude })).toEqual([':60']);
  });

  test('filters of both kinds of balances count balances of both', () => {
    const both = (key: string, value: string | null) =>
      (['Commit', 'ContractCredit'] as const).map((entity) => field(entity, key, value));
    const specified = (customFieldFilters: Alert['filters']['customFieldFilters']) =>
      read(
        alertOf(
          'low_remaining_contract_credit_and_commit_balance_reached',
          '0',
          filters({ specifiers: [{ customFieldFilters, exclude: [] }] }),
        ),
        { grants },
      );
    expect(specified(both('team', 'a'))).toEqual([':67']);
    expect(specified([...both('team', 'a'), field('Contract', 'plan', 'pro')])).toEqual([':60']);
    expect(specified(both('team', null))).toEqual(['=a:67', '=b:15']);
    expect(specified([field('ContractCredit', 'team', 'a')])).toEqual([':7']);
  });

  test('a key without a value has an alarm for each value', () => {
    const specifiers = [{ customFieldFilters: [field('ContractCreditOrCommit', 'team', null)], exclude: [] }];
    const alert = alertOf(
      'low_remaining_contract_credit_and_commit_balance_reached',
      '0',
      filters({ specifiers }),
    );
    expect(read(alert, { grants })).toEqual(['=a:67', '=b:15']);
  });

  test('a seat has the sum of its shares in the unit', () => {
    const seat = (seatId: string, remaining: string, groupKey = 'user') => ({
      groupKey,
      seatId,
      kind: 'credit' as const,
      creditTypeId: USD_CENTS.id,
      remaining: decimal(remaining),
    });
    const seats = [seat('ann', '5'), seat('bob', '2'), seat('ann', '1'), seat('ann', '9', 'robot')];
    const of = (value: string | null) =>
      alertOf('low_remaining_seat_balance_reached', '0', filters({ seat: { groupKey: 'user', value } }));
    expect(read(of(null), { seats })).toEqual(['=ann:6', '=bob:2']);
    expect(read(of('bob'), { seats })).toEqual(['=bob:2']);
  });
});

describe('days', () => {
  test('days of each open segment, in whole days, of which the last one that has begun counts', () => {
    const endingIn = (id: string, ms: number) =>
      grantOf(id, '1', {
        segments: [{ id, granted: decimal('1'), remaining: decimal('1'), endingBefore: NOW + ms }],
      });
    const alert = alertOf('low_remaining_days_for_commit_segment_reached', '3', { creditTypeId: null });
    expect(
      read(alert, {
        grants: [endingIn('a', 2 * DAY_MS), endingIn('b', 2 * DAY_MS + 1), endingIn('c', HOUR_MS)],
      }),
    ).toEqual(['a:2', 'b:3', 'c:1']);
  });

  test('days of each contract that has an end', () => {
    const contracts = [
      { id: 'a', endingBefore: NOW + 5 * DAY_MS },
      { id: 'b', endingBefore: null },
    ];
    expect(read(alertOf('low_remaining_days_in_plan_reached', '3'), { contracts })).toEqual(['a:5']);
  });
});

describe('spend and invoices', () => {
  const charge = (total: string, groups: Record<string, string> = {}, creditTypeId = USD_CENTS.id) => ({
    creditTypeId,
    groups,
    total: decimal(total),
  });
  const invoice = (id: string, change: Partial<InvoiceFact>): InvoiceFact => ({
    id,
    type: 'USAGE',
    contractFields: {},
    currentSince: NOVEMBER,
    totals: new Map(),
    charges: [],
    ...change,
  });
  const invoices = [
    invoice('u1', {
      contractFields: { plan: 'pro' },
      totals: new Map([[USD_CENTS.id, decimal('5')]]),
      charges: [
        charge('100', { region: 'eu', model: 'x' }),
        charge('20', { region: 'us' }),
        charge('9', {}, EURO),
      ],
    }),
    invoice('u2', { totals: new Map([[EURO, decimal('6')]]), charges: [charge('3', { region: 'eu' })] }),
    invoice('old', {
      currentSince: null,
      totals: new Map([[USD_CENTS.id, decimal('50')]]),
      charges: [charge('1000')],
    }),
    invoice('s1', {
      type: 'SCHEDULED',
      currentSince: null,
      totals: new Map([[USD_CENTS.id, decimal('40')]]),
    }),
  ];

  test('spend is what usage costs in the present periods, in one unit, before balances pay', () => {
    expect(read(alertOf('spend_threshold_reached', '1'), { invoices })).toEqual([':123']);
    expect(read(alertOf('spend_threshold_reached', '1', { creditTypeId: EURO }), { invoices })).toEqual([
      ':9',
    ]);
    expect(read(alertOf('spend_threshold_reached', '1'), {})).toEqual([':0']);
  });

  test('spend can be that of group values, of each value of a key, or of contracts with a custom field', () => {
    const of = (change: Partial<Alert['filters']>) =>
      read(alertOf('spend_threshold_reached', '1', filters(change)), { invoices });
    expect(of({ groupValues: [{ key: 'region', value: 'eu' }] })).toEqual([':103']);
    expect(of({ groupValues: [{ key: 'region', value: null }] })).toEqual(['=eu:103', '=us:20']);
    expect(
      of({
        groupValues: [
          { key: 'region', value: null },
          { key: 'model', value: 'x' },
        ],
      }),
    ).toEqual(['=eu:100']);
    expect(of({ customFieldFilters: [field('Contract', 'plan', 'pro')] })).toEqual([':120']);
  });

  test('the total of the present periods is net', () => {
    expect(read(alertOf('monthly_invoice_total_spend_threshold_reached', '1'), { invoices })).toEqual([':5']);
  });

  test('each active invoice with amounts in the unit has a separate total, of the types asked for', () => {
    expect(read(alertOf('invoice_total_reached', '1'), { invoices })).toEqual(['u1:5', 'old:50', 's1:40']);
    expect(
      read(alertOf('invoice_total_reached', '1', filters({ invoiceTypes: ['SCHEDULED'] })), { invoices }),
    ).toEqual(['s1:40']);
  });

  test('usage is the value of the metric', () => {
    const alert = alertOf('usage_threshold_reached', '1', { billableMetricId: 'm' });
    const usage = (value: string) => new Map([['m', { value: decimal(value), since: NOVEMBER }]]);
    expect(read(alert, { usage: usage('12.5') })).toEqual([':12.5']);
    expect(read(alert, { usage: new Map([['m', null]]) })).toEqual([]);
  });
});

test.each([
  'low_remaining_commit_balance_reached',
  'low_remaining_commit_percentage_reached',
  'low_remaining_seat_balance_reached',
  'spend_threshold_reached',
  'monthly_invoice_total_spend_threshold_reached',
  'invoice_total_reached',
  'usage_threshold_reached',
] as const)('a reading that cannot be computed is not taken for 0: %s', (type) => {
  expect(read(alertOf(type, '1', { billableMetricId: 'm' }), { hasDrafts: false })).toBeNull();
});

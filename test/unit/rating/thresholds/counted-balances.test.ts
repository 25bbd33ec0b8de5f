import { expect, test } from 'vitest';
import { isExcluded, isPrepaidFor } from '../../../../src/rating/thresholds/counted-balances.ts';
import { commitWith } from '../../core/terms/fixtures.ts';

const contract = { id: 'contract' };

test.each([
  ['of the contract', {}, true],
  ['of another contract', { contractId: 'other' }, false],
  ['of the customer', { contractId: null }, true],
  ['for this contract', { contractId: null, applicableContractIds: ['other', 'contract'] }, true],
  ['for other contracts', { contractId: null, applicableContractIds: ['other'] }, false],
  ['that is a credit', { type: 'CREDIT' as const }, true],
  ['that is paid afterwards', { type: 'POSTPAID' as const }, false],
  ['of another unit', { accessSchedule: { creditTypeId: 'eur', segments: [] } }, false],
])('a balance %s counts: %s', (_, change, counts) => {
  expect(isPrepaidFor(commitWith(change), contract, 'usd')).toBe(counts);
});

const filter = (
  entity: 'Commit' | 'ContractCredit' | 'ContractCreditOrCommit',
  key: string,
  value: string,
) => ({
  entity,
  key,
  value,
});
const excluding = (...entries: ReturnType<typeof filter>[][]) => [
  { exclude: entries.map((customFieldFilters) => ({ customFieldFilters })) },
];
const GOLD_EU = { tier: 'gold', region: 'eu' };

test.each([
  ['nothing', 'PREPAID', [], false],
  ['its field', 'PREPAID', excluding([filter('Commit', 'tier', 'gold')]), true],
  ['a field of credits', 'PREPAID', excluding([filter('ContractCredit', 'tier', 'gold')]), false],
  ['a field of both', 'CREDIT', excluding([filter('ContractCreditOrCommit', 'tier', 'gold')]), true],
  ['another value', 'PREPAID', excluding([filter('Commit', 'tier', 'silver')]), false],
  [
    'two fields that it has',
    'PREPAID',
    excluding([filter('Commit', 'tier', 'gold'), filter('Commit', 'region', 'eu')]),
    true,
  ],
  [
    'two fields, one of which it has',
    'PREPAID',
    excluding([filter('Commit', 'tier', 'gold'), filter('Commit', 'region', 'us')]),
    false,
  ],
  [
    'one of two entries',
    'PREPAID',
    excluding([filter('Commit', 'tier', 'silver')], [filter('Commit', 'region', 'eu')]),
    true,
  ],
] as const)('a balance is excluded by %s (%s): %j', (_, type, specifiers, excluded) => {
  expect(isExcluded(type, GOLD_EU, specifiers)).toBe(excluded);
});

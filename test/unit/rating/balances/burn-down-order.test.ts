/** The burn-down order, one criterion after the other. That it is total is tested in test/property. */
import { expect, test } from 'vitest';
import { decimal } from '../../../../src/core/decimal.ts';
import type { BurnDownCriterion } from '../../../../src/core/invoice-balances.ts';
import { ANY_USAGE, type Applicability } from '../../../../src/core/terms/applicability.ts';
import type { Commit } from '../../../../src/core/terms/commits.ts';
import {
  compareBalances,
  decidingCriterion,
  type RankingContext,
  rankedBalance,
} from '../../../../src/rating/balances/burn-down-order.ts';
import { accessWith, commitWith } from '../../core/terms/fixtures.ts';

const CONTEXT: RankingContext = {
  contractEnd: null,
  productTags: new Map([
    ['a', ['ai', 'new']],
    ['b', ['ai']],
    ['c', []],
  ]),
};

const ROLLED = { rolledOverFrom: { commitId: 'source', contractId: 'older' } };
const POSTPAID = { type: 'POSTPAID' } as const;
const CREDIT = { type: 'CREDIT' } as const;
const OF_CUSTOMER = { contractId: null };

function ranked(change: Partial<Commit>, context: Partial<RankingContext> = {}) {
  const commit = commitWith({ accessSchedule: accessWith(['segment', '10', 0, 100]), ...change });
  const [segment] = commit.accessSchedule.segments;
  if (segment === undefined) throw new Error('a commit has a segment');
  return rankedBalance(commit, segment, { ...CONTEXT, ...context });
}

function covers(change: Partial<Applicability>) {
  return { applicability: { ...ANY_USAGE, ...change } };
}

function specifier(change: Partial<Applicability['specifiers'][number]>) {
  const nothing = {
    productId: null,
    productTags: [],
    pricingGroupValues: {},
    presentationGroupValues: {},
    exclude: [],
  };
  return { ...nothing, ...change };
}

function paid(amount: string) {
  const price = decimal(amount);
  const item = { id: 'item', timestamp: 0, amount: price, unitPrice: price, quantity: decimal('1') };
  return { invoiceSchedule: { creditTypeId: 'usd', doNotInvoice: false, items: [item] } };
}

function priority(value: string) {
  return { priority: decimal(value) };
}

function open(startingAt: number, endingBefore: number) {
  return { accessSchedule: accessWith(['segment', '10', startingAt, endingBefore]) };
}

const REGION = { pricingGroupValues: { region: 'eu' } };
const TIER = { presentationGroupValues: { tier: 'gold' } };

/** The first commit is drawn down before the second one. */
test.each<[BurnDownCriterion, string, Partial<Commit>, Partial<Commit>]>([
  ['CLASS', 'a postpaid rollover before a prepaid one', { ...ROLLED, ...POSTPAID }, ROLLED],
  ['CLASS', 'a rollover before a free credit with a lower priority', ROLLED, { ...CREDIT, ...priority('1') }],
  [
    'CLASS',
    'prepaid before postpaid, whatever the priority',
    priority('1000'),
    { ...POSTPAID, ...priority('1') },
  ],
  ['PRIORITY', 'a lower priority', { ...paid('5'), ...priority('9.5') }, priority('10')],
  [
    'PRIORITY',
    'a lower priority of rollovers',
    { ...ROLLED, ...priority('2') },
    { ...ROLLED, ...priority('10') },
  ],
  ['COST_BASIS', 'what is free before what is paid', open(0, 200), { ...paid('1'), ...open(0, 50) }],
  ['COST_BASIS', 'a credit before a paid commit', CREDIT, paid('1')],
  ['COST_BASIS', 'an invoice of 0 is free', { ...paid('0'), ...open(0, 200) }, paid('1')],
  ['PRODUCT_APPLICABILITY', 'one product before any', covers({ productIds: ['a'] }), open(0, 50)],
  [
    'PRODUCT_APPLICABILITY',
    'a product named twice counts once',
    covers({ productIds: ['a', 'a'] }),
    covers({ productIds: ['a', 'b'] }),
  ],
  [
    'PRODUCT_APPLICABILITY',
    'a tag of one product before a tag of two',
    covers({ productTags: ['new'] }),
    covers({ productTags: ['ai'] }),
  ],
  [
    'PRODUCT_APPLICABILITY',
    'a product of a tag counts once',
    covers({ productIds: ['a'], productTags: ['new'] }),
    covers({ productTags: ['ai'] }),
  ],
  [
    'PRODUCT_APPLICABILITY',
    'a specifier needs all of its tags',
    covers({ specifiers: [specifier({ productTags: ['ai', 'new'] })] }),
    covers({ specifiers: [specifier({ productTags: ['ai'] })] }),
  ],
  [
    'PRODUCT_APPLICABILITY',
    'a specifier of group values alone has no limit',
    covers({ productIds: ['a', 'b', 'c'] }),
    covers({ specifiers: [specifier({ productId: 'a' }), specifier(REGION)] }),
  ],
  [
    'USAGE_APPLICABILITY',
    'group values before none',
    covers({ specifiers: [specifier(REGION)] }),
    open(0, 50),
  ],
  [
    'USAGE_APPLICABILITY',
    'fewer specifiers of group values',
    covers({ specifiers: [specifier(TIER)] }),
    covers({ specifiers: [specifier(TIER), specifier(REGION)] }),
  ],
  [
    'USAGE_APPLICABILITY',
    'specifiers that all name a product count as none',
    covers({ specifiers: [specifier({ productTags: ['new'], ...REGION })] }),
    covers({ specifiers: [specifier({ productId: 'a', ...REGION })] }),
  ],
  ['ACCESS_END', 'an earlier end', open(50, 90), open(0, 100)],
  ['ACCESS_END', 'an earlier end of rollovers', { ...ROLLED, ...paid('1'), ...open(50, 90) }, ROLLED],
  ['ACCESS_START', 'an earlier start', { ...OF_CUSTOMER, ...open(10, 100) }, open(20, 100)],
  ['CONTRACT_COUNT', 'one contract before all of the customer', { createdAt: 5 }, OF_CUSTOMER],
  [
    'CONTRACT_COUNT',
    'fewer contracts',
    { ...OF_CUSTOMER, applicableContractIds: ['x', 'x'] },
    { ...OF_CUSTOMER, applicableContractIds: ['x', 'y'] },
  ],
  [
    'CONTRACT_LEVEL',
    'a contract’s own before a customer’s for one contract',
    { createdAt: 5 },
    { ...OF_CUSTOMER, applicableContractIds: ['x'] },
  ],
  ['CREATED_AT', 'the older one', { id: 'z', createdAt: 1 }, { id: 'y', createdAt: 2 }],
  [
    'CREATED_AT',
    'the older one of rollovers, whatever their start',
    { ...ROLLED, ...open(9, 100), createdAt: 1 },
    { ...ROLLED, createdAt: 2 },
  ],
  ['ID', 'the lower id', { id: 'a' }, { id: 'b' }],
  ['ID', 'the lower id of a segment', {}, { accessSchedule: accessWith(['tnemges', '1', 0, 100]) }],
  [
    'PRIORITY',
    'a lower priority of postpaid commits',
    { ...POSTPAID, ...priority('1') },
    { ...POSTPAID, ...priority('2') },
  ],
  [
    'ACCESS_END',
    'postpaid commits are not compared by cost',
    { ...POSTPAID, ...paid('5'), ...open(0, 99) },
    POSTPAID,
  ],
])('%s: %s', (criterion, _, first, second) => {
  const [a, b] = [ranked(first), ranked(second)];
  expect(decidingCriterion(a, b)).toBe(criterion);
  expect(compareBalances(a, b)).toBeLessThan(0);
  expect(compareBalances(b, a)).toBeGreaterThan(0);
});

test('a balance equals itself', () => {
  const a = ranked({});
  expect(decidingCriterion(a, a)).toBe(null);
  expect(compareBalances(a, a)).toBe(0);
});

test('access of a contract’s commit ends with the contract', () => {
  const ends = [null, 40, 400].map((contractEnd) => ranked(open(0, 100), { contractEnd }).endingBefore);
  expect(ends).toEqual([100, 40, 100]);
});

test('a product that is archived counts where it is named by id', () => {
  expect(ranked(covers({ productIds: ['gone', 'a'] })).productCount).toBe(2);
  expect(ranked(covers({ productTags: ['gone'] })).productCount).toBe(0);
});

/**
 * Families with random balances, against an engine that knows nothing but the rule: by month, the parent before its
 * children, children by the start of their contracts, each paid by the balances that it may draw on by their priority.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { serviceForFile } from '../support/file-fixtures.ts';
import { createHierarchy, invoiceId, type Member, request } from '../support/hierarchies.ts';
import { reconcile } from '../support/reconciled.ts';
import {
  APART,
  balances,
  bill,
  bills,
  commitProduct,
  prepaid,
  type ShownBalance,
  sharedWith,
} from '../support/shared-balances.ts';
import { runs } from '../support/shares-of-tests.ts';

const service = await serviceForFile({ sandboxNow: '2026-01-10T00:00:00Z' });
const { api } = service;
const product = await commitProduct(api);

/** The price of a request, in cents. */
const PRICE = 2;
const CHILDREN = 3;
const MONTHS = [0, 1] as const;

interface GivenBalance {
  /** The place of its contract: 0 is the parent. */
  readonly of: number;
  readonly amount: number;
  /** Whole months. */
  readonly from: number;
  readonly to: number;
  /** The places of children; null: nothing is said. */
  readonly children: 'ALL' | 'NONE' | readonly number[] | null;
}

interface Case {
  readonly balances: readonly GivenBalance[];
  /** By contract: requests in each month. */
  readonly requests: readonly (readonly number[])[];
  /** The contract whose first invoice is voided and regenerated. */
  readonly voided: number;
}

const balance: fc.Arbitrary<GivenBalance> = fc.record({
  of: fc.constantFrom(0, 0, 0, 1, 2, 3),
  amount: fc.integer({ min: 1, max: 25 }),
  from: fc.constantFrom(0, 0, 1),
  to: fc.constantFrom(2, 2, 1),
  children: fc.oneof(
    fc.constantFrom('ALL' as const, 'ALL' as const, 'NONE' as const, null),
    fc.uniqueArray(fc.integer({ min: 1, max: CHILDREN }), { minLength: 1, maxLength: CHILDREN }),
  ),
});

const family: fc.Arbitrary<Case> = fc.record({
  balances: fc
    .array(balance, { minLength: 1, maxLength: 5 })
    .map((all) => all.map((one) => ({ ...one, to: Math.max(one.to, one.from + 1) }))),
  requests: fc.array(fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 9 })), {
    minLength: CHILDREN + 1,
    maxLength: CHILDREN + 1,
  }),
  voided: fc.integer({ min: 0, max: CHILDREN }),
});

function mayDraw({ of, children }: GivenBalance, contract: number): boolean {
  if (of === contract) return true;
  if (of !== 0 || children === null || children === 'NONE') return false;
  return children === 'ALL' || children.includes(contract);
}

/** The amounts that the usage of a contract in a month takes of each balance, given the amounts left. */
function taken(given: Case, contract: number, month: number, left: readonly number[]): number[] {
  let due = (given.requests[contract]?.[month] ?? 0) * PRICE;
  return given.balances.map((one, place) => {
    const isOpen = one.from <= month && month < one.to;
    const amount = isOpen && mayDraw(one, contract) ? Math.min(due, left[place] ?? 0) : 0;
    due -= amount;
    return amount;
  });
}

interface Expected {
  /** By month and contract, as `bills` shows it. */
  readonly bills: readonly (readonly string[])[];
  /** By month, contract and balance. */
  readonly taken: readonly (readonly (readonly number[])[])[];
  readonly left: readonly number[];
}

function naive(given: Case): Expected {
  const left = given.balances.map(({ amount }) => amount);
  const all = MONTHS.map((month) =>
    given.requests.map((_, contract) => {
      const own = taken(given, contract, month, left);
      for (const [place, amount] of own.entries()) left[place] = (left[place] ?? 0) - amount;
      return own;
    }),
  );
  const bills = all.map((contracts, month) =>
    contracts.map((own, contract) => textOf((given.requests[contract]?.[month] ?? 0) * PRICE, own)),
  );
  return { bills, taken: all, left };
}

function textOf(cost: number, own: readonly number[]): string {
  const covered = own.reduce((sum, one) => sum + one, 0);
  return `pays ${cost - covered}, covered ${covered}`;
}

let month = Date.UTC(2026, 0, 1);
const at = (months: number, day = 1, hour = 0) => {
  const start = new Date(month);
  return new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + months, day, hour)).toISOString();
};

/** Children start on different days, in the order of their places. The priority is the place of the balance. */
async function created(given: Case): Promise<Member[]> {
  const own = (contract: number) =>
    given.balances.flatMap((one, place) => {
      const access = { starting_at: at(one.from), ending_before: at(one.to) };
      return one.of === contract
        ? [{ one, terms: prepaid(product, one.amount, access, { priority: place }) }]
        : [];
    });
  const named = Object.fromEntries(
    Array.from({ length: CHILDREN }, (_, index) => [
      `child-${CHILDREN - index}`,
      {
        ...APART,
        starting_at: at(0, 1 + CHILDREN - index),
        commits: own(CHILDREN - index).map(({ terms }) => terms),
      },
    ]),
  );
  const { parent, children } = await createHierarchy(api, {
    ...{ startingAt: at(0), endingBefore: at(2), children: named },
    parent: { hierarchy_configuration: undefined },
  });
  const members = [parent, ...Array.from({ length: CHILDREN }, (_, index) => children[`child-${index + 1}`])];
  const known = members.flatMap((one) => one ?? []);
  const add_commits = own(0).map(({ one, terms }) => ({ ...terms, ...accessOf(one.children, known) }));
  if (add_commits.length > 0) {
    const reference = { customer_id: parent.customerId, contract_id: parent.contractId };
    await api.post('/v2/contracts/edit', { ...reference, add_commits });
  }
  return known;
}

function accessOf(children: GivenBalance['children'], members: readonly Member[]): object {
  if (children === null) return {};
  if (typeof children === 'string') return { hierarchy_configuration: { child_access: { type: children } } };
  return sharedWith(...children.flatMap((place) => members[place]?.contractId ?? []));
}

/** The bills of all contracts in a month, as lists and as each of them alone show them. */
async function shown(members: readonly Member[], of: number): Promise<string[]> {
  const found: string[] = [];
  for (const member of members) {
    const id = await invoiceId(api, member, { type: 'USAGE', start: startOf(members, member, of) });
    const alone = await bill(api, member, id);
    const listed = (await bills(api, member)).filter((text) => text.includes(at(of).slice(0, 7)));
    expect(listed).toEqual([alone]);
    found.push(alone);
  }
  return found;
}

function startOf(members: readonly Member[], member: Member, of: number): string {
  return at(of, of === 0 ? 1 + members.indexOf(member) : 1).slice(0, 10);
}

/** By balance in the order of their priority: amount, and what all invoices take together. */
async function ledgers(members: readonly Member[], given: Case): Promise<ShownBalance[]> {
  const all = (await Promise.all(members.map((one) => balances(api, one)))).flat();
  expect(all).toHaveLength(given.balances.length);
  return all;
}

function deducted({ ledger }: ShownBalance): number {
  const entries = ledger.filter((text) => /DEDUCTION|CREDITED/.test(text));
  return entries.reduce((sum, text) => sum - Number(text.split(' ')[1]), 0);
}

const sorted = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b);

async function expectConserved(members: readonly Member[], given: Case, left: readonly number[]) {
  const amounts = given.balances.map(({ amount }, place) => amount - (left[place] ?? 0));
  expect(sorted((await ledgers(members, given)).map(deducted))).toEqual(sorted(amounts));
  for (const { customerId: customer_id } of members) {
    const found = await reconcile(api, { starting_on: at(0), ending_before: at(3), customer_id });
    expect([...found.differences, ...found.unchecked]).toEqual([]);
  }
}

test('drafts, invoices and ledgers are those of the naive engine, and voids give back what they took', async () => {
  await fc.assert(
    fc.asyncProperty(family, async (given) => {
      month = Date.parse(at(3));
      await service.moveClock(at(1, 1, 12));
      const members = await created(given);
      for (const [contract, member] of members.entries()) {
        const [one = 0, other = 0] = given.requests[contract] ?? [];
        if (one > 0) await request(api, member, one, at(0, 6));
        if (other > 0) await request(api, member, other, at(1, 1, 6));
      }
      const expected = naive(given);
      for (const of of MONTHS) {
        const texts = expected.bills[of]?.map((text) => `DRAFT ${at(of).slice(0, 7)} ${text}`);
        expect(await shown(members, of)).toEqual(texts);
      }
      await expectConserved(members, given, expected.left);
      await service.moveClock(at(2, 3));
      for (const of of MONTHS) {
        const texts = expected.bills[of]?.map((text) => `FINALIZED ${at(of).slice(0, 7)} ${text}`);
        expect(await shown(members, of)).toEqual(texts);
      }
      const member = members[given.voided];
      if (member === undefined) throw new Error('there is no such contract');
      const id = await invoiceId(api, member, { type: 'USAGE', start: startOf(members, member, 0) });
      await api.post('/v1/invoices/void', { id });
      const back = expected.taken[0]?.[given.voided] ?? [];
      const left = expected.left.map((amount, place) => amount + (back[place] ?? 0));
      await expectConserved(members, given, left);
      const again = (await api.post('/v1/invoices/regenerate', { id })).text('data.id');
      const own = taken(given, given.voided, 0, left);
      const text = textOf((given.requests[given.voided]?.[0] ?? 0) * PRICE, own);
      expect(await bill(api, member, again)).toBe(`FINALIZED ${at(0).slice(0, 7)} ${text}`);
      const rest = left.map((amount, place) => amount - (own[place] ?? 0));
      await expectConserved(members, given, rest);
    }),
    { numRuns: runs(9) },
  );
}, 600_000);

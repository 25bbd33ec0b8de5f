/** Laws of credit notes: what they take back of lines, invoices, taxes, payments and balances. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { minorUnitPlaces } from '../../src/core/currencies.ts';
import { Decimal, sum, ZERO } from '../../src/core/decimal.ts';
import { Refusal } from '../../src/core/errors.ts';
import type { Invoice, InvoiceLine } from '../../src/core/invoice.ts';
import { accessCut, cutEntries, returnedEntries } from '../../src/rating/credit-notes/balance-entries.ts';
import { givenBackOf, type InvoiceToCredit, openBook } from '../../src/rating/credit-notes/credit-book.ts';
import {
  type CreditRequest,
  creditLines,
  type TakenBack,
} from '../../src/rating/credit-notes/credit-lines.ts';
import { creditDifference } from '../../src/rating/credit-notes/difference.ts';
import { noteTax, settle } from '../../src/rating/credit-notes/settlement.ts';
import { spread } from '../../src/rating/credit-notes/spread.ts';
import { payableAmount } from '../../src/rating/invoices/payable.ts';
import { documentCase } from '../support/payment-documents.ts';

/** Random invoices whose lines differ, so that no two have the same id. */
const invoiceCase: fc.Arbitrary<InvoiceToCredit> = documentCase.map(({ lines, creditTypeId }) => {
  const shifted: InvoiceLine[] = lines.map((line, index) => ({
    ...line,
    interval: { start: line.interval.start + index * 60_000, end: line.interval.end },
  }));
  return {
    id: '00000000-0000-4000-8000-000000000001',
    creditTypeId,
    total: totalOf({ lines: shifted, creditTypeId }),
    lines: shifted,
  };
});

interface Attempt {
  readonly pick: number;
  readonly byProduct: boolean;
  readonly part: number;
  readonly byQuantity: boolean;
}

const attempt: fc.Arbitrary<Attempt> = fc.record({
  pick: fc.nat(50),
  byProduct: fc.boolean(),
  part: fc.integer({ min: 1, max: 12 }),
  byQuantity: fc.boolean(),
});

interface Standing {
  readonly lineItemId: string;
  readonly amount: Decimal;
  readonly paidBy: 'money' | 'balance';
  readonly givenBack: Decimal;
}

/** One request against what is left: a part of ten of a line or product, all of it above that, or more than it. */
function requestOf(
  invoice: InvoiceToCredit,
  standing: readonly Standing[],
  one: Attempt,
): CreditRequest | null {
  const { lines, places } = openBook(invoice, standing);
  const line = lines[one.pick % Math.max(lines.length, 1)];
  if (line === undefined) return null;
  const named = {
    lineItemId: one.byProduct ? null : line.id,
    productId: one.byProduct ? line.productId : null,
  };
  const fraction = new Decimal(String(Math.min(one.part, 11))).times('0.1');
  if (one.byQuantity) return { ...named, amount: null, quantity: line.line.quantity.times(fraction) };
  const left = one.byProduct
    ? sum(lines.filter(({ productId }) => productId === line.productId).map((other) => other.left))
    : line.left;
  const amount = one.part === 10 ? left : left.times(fraction).round(places, 0);
  return { ...named, amount, quantity: null };
}

function standingOf(taken: readonly TakenBack[]): Standing[] {
  return taken.map(({ line, amount }) => ({
    ...{ lineItemId: line.id, amount, paidBy: line.paidBy },
    givenBack: givenBackOf(line, amount),
  }));
}

/** Issues one note after the other; refused ones change nothing. */
function issueAll(invoice: InvoiceToCredit, attempts: readonly Attempt[]): Standing[] {
  const standing: Standing[] = [];
  for (const one of attempts) {
    const request = requestOf(invoice, standing, one);
    if (request === null || (request.amount ?? request.quantity)?.lte(ZERO)) continue;
    try {
      standing.push(...standingOf(creditLines(openBook(invoice, standing), [request])));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
    }
  }
  return standing;
}

describe('notes of any invoice', () => {
  test('credit notes take back no more than a line has, no more than the invoice has, and nothing below zero', () => {
    fc.assert(
      fc.property(invoiceCase, fc.array(attempt, { maxLength: 12 }), (invoice, attempts) => {
        const standing = issueAll(invoice, attempts);
        const book = openBook(invoice, standing);
        for (const { left, amount, line } of book.lines) {
          expect(left.gte(ZERO)).toBe(true);
          expect(amount.minus(line.total).abs().lt('1')).toBe(true);
        }
        expect(standing.every(({ amount }) => amount.gt(ZERO))).toBe(true);
        expect(book.money.gte(ZERO)).toBe(true);
      }),
    );
  });

  test('credit notes take back money in whole minor units, and give a balance no more than the line drew', () => {
    fc.assert(
      fc.property(invoiceCase, fc.array(attempt, { maxLength: 12 }), (invoice, attempts) => {
        const standing = issueAll(invoice, attempts);
        const places = minorUnitPlaces(invoice.creditTypeId);
        for (const { amount, paidBy, givenBack } of standing) {
          if (paidBy === 'money') expect(amount.decimalPlaces()).toBeLessThanOrEqual(places);
          expect(givenBack.gte(ZERO)).toBe(true);
        }
        for (const line of openBook(invoice, standing).lines) {
          expect(line.notGivenBack.gte(ZERO)).toBe(true);
          if (line.left.eq(ZERO) && line.payer !== null && line.amount.gt(ZERO)) {
            expect(line.notGivenBack.toFixed()).toBe('0');
          }
        }
      }),
    );
  });

  test('credit notes take back exactly the payable amount when all lines are credited', () => {
    fc.assert(
      fc.property(invoiceCase, (invoice) => {
        const book = openBook(invoice, []);
        const requests = book.lines
          .filter(({ left }) => left.gt(ZERO))
          .map(({ id, left }) => ({ lineItemId: id, productId: null, amount: left, quantity: null }));
        const all = standingOf(creditLines(book, requests));
        const after = openBook(invoice, all);
        expect(after.money.toFixed()).toBe('0');
        expect(after.lines.every(({ left }) => left.eq(ZERO))).toBe(true);
      }),
    );
  });

  test('credit notes take money back of a product before what balances paid', () => {
    fc.assert(
      fc.property(invoiceCase, fc.nat(50), fc.integer({ min: 1, max: 10 }), (invoice, pick, part) => {
        const attempts = [{ pick, byProduct: true, part, byQuantity: false }];
        const standing = issueAll(invoice, attempts);
        const { lines } = openBook(invoice, standing);
        if (!standing.some(({ paidBy }) => paidBy === 'balance')) return;
        const touched = lines.find(({ id }) => id === standing[0]?.lineItemId)?.productId;
        const money = lines.filter(({ productId, paidBy }) => productId === touched && paidBy === 'money');
        expect(money.every(({ left }) => left.eq(ZERO))).toBe(true);
      }),
    );
  });
});

const amounts = fc.array(
  fc
    .tuple(fc.integer({ min: 0, max: 10_000 }), fc.integer({ min: 0, max: 3 }))
    .map(([digits, scale]) => new Decimal(`${digits}e-${scale}`)),
  { minLength: 1, maxLength: 20 },
);

describe('a spread amount', () => {
  test('a spread amount is divided without a rest, within what is left of each line', () => {
    fc.assert(
      fc.property(amounts, fc.integer({ min: 0, max: 100 }), (left, percent) => {
        const amount = sum(left)
          .times(new Decimal(`${percent}e-2`))
          .round(3, 0);
        const shares = spread(amount, left, 0);
        expect(sum(shares).toFixed()).toBe(amount.toFixed());
        for (const [index, share] of shares.entries()) {
          expect(share.gte(ZERO) && share.lte(left[index] ?? ZERO)).toBe(true);
        }
      }),
    );
  });

  test('a spread amount gives equal lines equal shares but for one unit', () => {
    const left = ['10', '10', '10'].map((text) => new Decimal(text));
    expect(spread(new Decimal('10'), left, 0).map(String)).toEqual(['4', '3', '3']);
  });
});

describe('the taxes of notes', () => {
  test('the taxes of credit notes add up to the tax of the invoice when all of it is credited, and never exceed it', () => {
    const creditTypeId = '2714e483-4ff1-48e4-9e25-ac732e8f24f2';
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100_000 }),
        fc.integer({ min: 0, max: 30_000 }),
        fc.array(fc.integer({ min: 1, max: 50_000 }), { maxLength: 8 }),
        (payable, tax, parts) => {
          let credited = ZERO;
          let taxed = ZERO;
          for (const wanted of [...parts, payable]) {
            const subTotal = new Decimal(String(Math.min(wanted, payable - Number(credited.toFixed()))));
            const own = noteTax({
              ...{ creditTypeId, tax: new Decimal(String(tax)), payable: new Decimal(String(payable)) },
              ...{ creditedBefore: credited, taxBefore: taxed, subTotal },
            });
            expect(own.gte(ZERO)).toBe(true);
            credited = credited.plus(subTotal);
            taxed = taxed.plus(own);
          }
          expect(taxed.toFixed()).toBe(String(tax));
        },
      ),
    );
  });
});

describe('the money of a note', () => {
  const none = { offset: ZERO, refund: ZERO, creditBalance: ZERO };

  test('the money of a credit note is what it offsets, refunds and credits, and more than was paid is neither refunded nor credited', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_000 }),
        fc.integer({ min: 0, max: 1_000 }),
        fc.array(
          fc.tuple(
            fc.integer({ min: 1, max: 400 }),
            fc.constantFrom('refund', 'credit_balance', 'offset_unpaid'),
          ),
          {
            maxLength: 6,
          },
        ),
        (due, paidPart, notes) => {
          const paid = Math.min(paidPart, due);
          const payment = { isKnown: true, isPaid: paid === due, paid: new Decimal(String(paid)) };
          let before = none;
          let left = due;
          for (const [wanted, settlement] of notes) {
            const total = Math.min(wanted, left);
            if (total === 0) break;
            try {
              const settled = settle({
                ...{ settlement: settlement as 'refund', payment, before },
                ...{ due: new Decimal(String(due)), total: new Decimal(String(total)) },
              });
              expect(sum(Object.values(settled)).toFixed()).toBe(String(total));
              before = {
                offset: before.offset.plus(settled.offset),
                refund: before.refund.plus(settled.refund),
                creditBalance: before.creditBalance.plus(settled.creditBalance),
              };
              left -= total;
            } catch (error) {
              if (!(error instanceof Refusal)) throw error;
            }
          }
          expect(before.refund.plus(before.creditBalance).lte(String(paid))).toBe(true);
          expect(before.offset.lte(String(due - paid))).toBe(true);
        },
      ),
    );
  });

  const due = new Decimal('100');
  const state = (paid: string) => ({ isKnown: true, isPaid: paid === '100', paid: new Decimal(paid) });
  const unknown = { isKnown: false, isPaid: false, paid: ZERO };
  test.each([
    ['40', state('0'), 'offset_unpaid', '40 0 0'],
    ['40', state('100'), 'refund', '0 40 0'],
    ['40', state('100'), 'credit_balance', '0 0 40'],
    ['40', state('70'), 'refund', '30 10 0'],
    ['20', state('70'), 'offset_unpaid', '20 0 0'],
    ['40', unknown, 'offset_unpaid', '40 0 0'],
    ['40', unknown, 'refund', '0 40 0'],
    ['40', state('0'), null, 'is required'],
    ['40', state('0'), 'refund', 'must be offset_unpaid'],
    ['40', state('100'), 'offset_unpaid', 'must be refund or credit_balance'],
    ['40', state('70'), 'offset_unpaid', 'must be refund or credit_balance'],
  ] as const)(
    'a credit note of %s, $1.paid paid, with settlement $2 is split as $3',
    (total, payment, settlement, expected) => {
      const input = { settlement, payment, due, before: none, total: new Decimal(total) };
      if (/[a-z]/.test(expected)) {
        expect(() => settle(input)).toThrow(expected);
        return;
      }
      const { offset, refund, creditBalance } = settle(input);
      expect([offset, refund, creditBalance].join(' ')).toBe(expected);
    },
  );
});

describe('the difference to the invoice of today', () => {
  test('the difference to the invoice of today is credited to the minor unit, from lines that have it', () => {
    fc.assert(
      fc.property(invoiceCase, fc.array(fc.nat(40), { maxLength: 10 }), (invoice, gone) => {
        const without = new Set(gone);
        // A covered line goes with the line that deducts it.
        const lines = invoice.lines.filter((line) => !without.has(placeOf(line)));
        const today = { ...invoice, lines, total: totalOf({ ...invoice, lines }) };
        const book = openBook(invoice, []);
        const now = openBook(today, []);
        const less = payableAmount(invoice).minus(payableAmount(today));
        try {
          const taken = creditDifference(book, now);
          const money = taken.filter(({ line }) => line.paidBy === 'money');
          expect(sum(money.map(({ amount }) => amount)).toFixed()).toBe(less.toFixed());
          expect(taken.every(({ line, amount }) => amount.gt(ZERO) && amount.lte(line.left))).toBe(true);
        } catch (error) {
          if (!(error instanceof Refusal)) throw error;
          expect(less.lte(ZERO)).toBe(true);
        }
      }),
    );
  });
});

/** The number of the generated part that a line is for. */
function placeOf(line: InvoiceLine): number {
  return 'id' in line ? Number(String(line.id).replace(/\D/g, '')) : 0;
}

function totalOf({ lines, creditTypeId }: Pick<Invoice, 'lines' | 'creditTypeId'>): Decimal {
  const counted = lines.filter(
    (line) => !(line.type.startsWith('applied') && 'payer' in line && line.payer?.commitType === 'POSTPAID'),
  );
  return sum(counted.filter((line) => line.creditTypeId === creditTypeId).map(({ total }) => total));
}

describe('balances', () => {
  const payer = { commitId: 'c', segmentId: 's', commitType: 'PREPAID' as const };

  test('balances get back what lines drew, shares of seats up to what each gave', () => {
    const taken = ['a', 'b'].map((segmentId) => ({
      ...{ commitId: 'c', scheduleSegmentId: 's', segmentId },
      left: new Decimal('5'),
    }));
    const back = returnedEntries([{ payer, givenBack: new Decimal('7') }], taken);
    expect(back.map(({ segmentId, amount }) => `${segmentId} ${amount}`)).toEqual(['a 5', 'b 2']);
  });

  test('balances lose the access of a credited purchase in proportion, and all of it with the last note', () => {
    const purchase = { access: new Decimal('100'), cost: new Decimal('30') };
    const first = accessCut({ ...purchase, credited: new Decimal('10'), cutBefore: ZERO });
    const last = accessCut({ ...purchase, credited: new Decimal('30'), cutBefore: first });
    expect(first.plus(last).toFixed()).toBe('100');
    const segments = [
      { segmentId: 'a', left: new Decimal('60') },
      { segmentId: 'b', left: new Decimal('40') },
    ];
    const cut = cutEntries('c', segments, new Decimal('50'));
    expect(cut.map(({ segmentId, amount }) => `${segmentId} ${amount}`)).toEqual(['a -30', 'b -20']);
  });
});

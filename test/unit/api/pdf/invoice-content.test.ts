/** The text of the printed form of an invoice. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { invoiceContent } from '../../../../src/api/pdf/invoice-content.ts';
import { FIAT_CREDIT_TYPES, USD_CENTS } from '../../../../src/core/credit-types.ts';
import { Decimal } from '../../../../src/core/decimal.ts';
import { resultAtOnce } from '../../../../src/core/in-chunks.ts';
import { printedAmount, printedNumber, printedTime } from '../../../../src/core/printed-values.ts';
import { NO_SELLER } from '../../../../src/core/seller.ts';
import { CREDITS, conversionLine, ISSUED_AT, PERIOD, printed, usageLine } from './printed-invoices.ts';

const unitOf = (code: string) => FIAT_CREDIT_TYPES.find(({ name }) => name === code) ?? USD_CENTS;
const EUR = unitOf('EUR');

describe('numbers are printed with all their digits', () => {
  test.each([
    ['0', 0, '0'],
    ['999', 0, '999'],
    ['1000', 0, '1,000'],
    ['-1234567.5', 2, '-1,234,567.50'],
    ['0.0000000000000000000000001', 2, '0.0000000000000000000000001'],
    ['123456789012345678901234567890.123456', 0, '123,456,789,012,345,678,901,234,567,890.123456'],
  ])('%s with %i places as %s', (value, places, expected) => {
    expect(printedNumber(new Decimal(value), places)).toBe(expected);
  });

  test.each([
    [USD_CENTS, '5155.25', '51.5525'],
    [USD_CENTS, '5155', '51.55'],
    [USD_CENTS, '0.001', '0.00001'],
    [USD_CENTS, '-100', '-1.00'],
    [EUR, '5155.25', '5,155.25'],
    [EUR, '5', '5.00'],
    [unitOf('JPY'), '5000', '5,000'],
    [unitOf('JPY'), '0.5', '0.5'],
    [unitOf('KWD'), '5', '5.000'],
    [unitOf('KWD'), '1234.5678', '1,234.5678'],
    [CREDITS, '12.5', '12.5 Credits'],
  ])('%o %s as %s', (unit, value, expected) => {
    expect(printedAmount(new Decimal(value), unit)).toBe(expected);
  });
});

test.each([
  ['2026-11-01T00:00:00Z', '2026-12-01T00:00:00Z', '1 Nov – 30 Nov 2026'],
  ['2026-12-01T00:00:00Z', '2027-02-01T00:00:00Z', '1 Dec 2026 – 31 Jan 2027'],
  ['2026-11-01T00:00:00Z', '2026-11-02T00:00:00Z', '1 Nov 2026'],
  ['2026-11-01T05:00:00Z', '2026-11-02T00:00:00Z', '1 Nov 2026, 05:00 – 2 Nov 2026, 00:00 UTC'],
])('the time from %s to before %s is printed as %s', (start, end, expected) => {
  expect(printedTime({ start: Date.parse(start), end: Date.parse(end) })).toBe(expected);
});

describe('the lines', () => {
  const content = resultAtOnce(
    invoiceContent(
      printed([
        usageLine('1000', '0.03', {
          pricingGroupValues: { model: 'large' },
          presentationGroupValues: { region: 'eu' },
          tier: { level: 1, startingAt: new Decimal('0'), size: new Decimal('1000') },
        }),
        usageLine('500', '0.02', {
          pricingGroupValues: { model: 'large' },
          tier: { level: 2, startingAt: new Decimal('1000'), size: null },
        }),
        usageLine('3', '2', { productId: 'requests', name: 'Requests' }),
        usageLine('7', '2', {
          name: 'Tokens, renamed',
          interval: { start: Date.UTC(2026, 10, 15), end: PERIOD.end },
        }),
        usageLine('12.5', '1', { productId: 'images', name: 'Images', creditTypeId: CREDITS.id }),
        conversionLine('12.5', '250'),
      ]),
      NO_SELLER,
    ),
  );

  test('the lines of a PDF are grouped by product, with subtotals where there are several', () => {
    expect(content.sections.map(({ heading, lines, subtotal }) => [heading, lines.length, subtotal])).toEqual(
      [
        // 30 + 10 + 14 cents.
        ['Tokens', 3, '0.54'],
        ['Requests', 1, null],
        ['Images', 1, null],
        ['Conversion of pricing units', 1, null],
      ],
    );
  });

  test('the lines of a PDF say what tells them apart: group values, tier, name and time', () => {
    expect(content.sections[0]?.lines.map(({ details }) => details)).toEqual([
      ['model: large', 'region: eu', 'Tier 1: up to 1,000'],
      ['model: large', 'Tier 2: above 1,000'],
      ['Tokens, renamed', '15 Nov – 30 Nov 2026'],
    ]);
  });

  test('the lines of a PDF are in the currency, or in their pricing unit', () => {
    const amounts = content.sections.map(({ lines }) => lines[0]);
    expect(amounts).toMatchObject([
      { quantity: '1,000', unitPrice: '0.0003', amount: '0.30' },
      { quantity: '3', unitPrice: '0.02', amount: '0.06' },
      { quantity: '12.5', unitPrice: '1 Credits', amount: '12.5 Credits' },
      { quantity: '12.5 Credits', unitPrice: '2.50', amount: '31.25' },
    ]);
  });

  test('the lines of a PDF without quantity or amount are there too', () => {
    const zero = resultAtOnce(invoiceContent(printed([usageLine('0', '2')]), NO_SELLER));
    expect(zero.sections).toHaveLength(1);
    expect(zero.totals).toEqual([{ label: 'Amount due', amount: '0.00 USD', isMain: true }]);
  });
});

describe('the amounts of lines', () => {
  const amounts = (quantity: string, price: string, decimalsMax?: number) => {
    const { sections, notes } = resultAtOnce(
      invoiceContent(printed([usageLine(quantity, price)]), NO_SELLER, decimalsMax),
    );
    return [
      sections[0]?.lines[0]?.amount,
      notes[0]?.startsWith('Quantities and amounts of lines are rounded for reading'),
    ];
  };

  test.each([
    // 13 at 0.03 dollars, 7 at 0.0003, 1,234,567 at 0.0000003, and a third of a unit.
    ['13', '3', undefined, '0.39', false],
    ['7', '0.03', undefined, '0.0021', false],
    ['1234567', '0.00003', undefined, '0.3704', true],
    ['0.333333', '100', undefined, '0.33', true],
    ['0.5', '1', undefined, '0.01', true],
    ['-0.5', '1', undefined, '-0.01', true],
    ['1234567', '0.00003', 6, '0.37037', true],
    ['1234567', '0.00003', 30, '0.3703701', false],
    ['1234567', '0.00003', 0, '0.37', true],
  ])('%s at %s cents, with at most %s decimals, are %s', (quantity, price, most, shown, isRounded) => {
    expect(amounts(quantity, price, most)).toEqual([shown, isRounded]);
  });

  const payer = { commitId: 'commit', segmentId: 'segment', commitType: 'POSTPAID' as const };
  const counted = { ...usageLine('-3', '10000'), name: 'Minimum applied', type: 'applied' as const, payer };
  const sectionsWith = (...lines: Parameters<typeof printed>[0]) =>
    resultAtOnce(invoiceContent(printed(lines), NO_SELLER));

  test('the amounts of lines have no minus for what counts towards a commit and is not deducted', () => {
    const { sections, notes } = sectionsWith(usageLine('3', '10000'), counted);
    expect(sections[0]?.lines).toEqual([
      { details: ['Tokens'], quantity: '3', unitPrice: '100.00', amount: '300.00' },
      {
        details: ['Minimum: 300.00 USD counts towards it and is not deducted'],
        quantity: '',
        unitPrice: '',
        amount: '',
      },
    ]);
    expect(notes[0]).toContain('What counts towards a commitment to spend is due with this invoice');
    expect(sectionsWith(usageLine('3', '10000')).notes[0]).not.toContain('commitment');
  });

  test('the amounts of lines of a PDF add up to the subtotal, whatever balances pay for or count', () => {
    const cents = fc.integer({ min: -50_000, max: 50_000 });
    const lines = fc.array(
      fc.oneof(
        cents.map((total) => usageLine(String(total), '1')),
        cents.map((total) => ({ ...counted, total: new Decimal(String(total)) })),
        cents.map((total) => ({
          ...counted,
          payer: { ...payer, commitType: 'PREPAID' as const },
          total: new Decimal(String(total)),
        })),
      ),
      { minLength: 1, maxLength: 8 },
    );
    fc.assert(
      fc.property(lines, (all) => {
        // Lines of a balance stand below the line that it pays for.
        const [section] = sectionsWith(usageLine('12', '3'), ...all).sections;
        const amounts = (section?.lines ?? []).flatMap(({ amount }) => (amount === '' ? [] : [amount]));
        const sum = amounts.reduce(
          (before, amount) => before.plus(new Decimal(amount.replaceAll(',', ''))),
          new Decimal('0'),
        );
        expect(printedNumber(sum, 2)).toBe(section?.subtotal);
      }),
    );
  });

  test('the amounts of lines stand beside quantities of at most four decimals, and each line of several has a name', () => {
    const [section] = sectionsWith(
      usageLine('69444444.44444444444', '0.0000288'),
      usageLine('0.00001', '100'),
      usageLine('-0.00001', '100'),
      usageLine('7', '20'),
    ).sections;
    expect(section?.lines.map(({ details, quantity }) => [...details, quantity])).toEqual([
      ['Tokens', '69,444,444.4444'],
      ['Tokens', '< 0.0001'],
      ['Tokens', '> -0.0001'],
      ['Tokens', '7'],
    ]);
  });
});

describe('the totals', () => {
  test('the totals of a PDF show the exact total, the rounding and what is due', () => {
    expect(resultAtOnce(invoiceContent(printed([usageLine('5155.25', '1')]), NO_SELLER)).totals).toEqual([
      { label: 'Total', amount: '51.5525 USD', isMain: false },
      { label: 'Rounding', amount: '-0.0025 USD', isMain: false },
      { label: 'Amount due', amount: '51.55 USD', isMain: true },
    ]);
  });

  test.each([
    ['DRAFT' as const, '1', 'Expected amount', 'DRAFT', 'Draft invoice'],
    ['FINALIZED' as const, '1', 'Amount due', null, 'Invoice'],
    ['FINALIZED' as const, '-1', 'Amount in your favour', null, 'Invoice'],
    ['VOID' as const, '1', 'Void, not payable', 'VOID', 'Void invoice'],
  ])('the totals of a PDF of a %s one over %s cents are labelled %s', (status, total, label, mark, title) => {
    const content = resultAtOnce(invoiceContent(printed([usageLine('1', total)], { status }), NO_SELLER));
    expect(content.totals.at(-1)).toMatchObject({ label, isMain: true });
    expect(content).toMatchObject({ mark, title });
  });

  test('state the rule of rounding', () => {
    expect(resultAtOnce(invoiceContent(printed([]), NO_SELLER)).notes).toEqual([
      'The total is rounded once, half away from zero, to 0.01 USD.',
    ]);
  });
});

describe('the parties and dates', () => {
  const facts = (...given: Parameters<typeof printed>) =>
    Object.fromEntries(
      resultAtOnce(invoiceContent(printed(...given), NO_SELLER)).facts.map(({ label, value }) => [
        label,
        value,
      ]),
    );

  test('the parties and dates come from configuration and customer', () => {
    const seller = {
      name: 'Tally Ltd',
      address: ['1 High Street', 'London'],
      taxId: 'GB1',
      email: 'billing@tally.example',
      note: ['IBAN GB00'],
    };
    const customer = {
      billing_address: 'Rue 1\n\n75001 Paris\\nFrance',
      tax_id: 'FR1',
      billing_email: 'a@b.example',
    };
    const content = resultAtOnce(
      invoiceContent(printed([], {}, { customFields: { customer, contract: {}, invoice: {} } }), seller),
    );
    expect(content.seller).toEqual([
      'Tally Ltd',
      '1 High Street',
      'London',
      'Tax ID GB1',
      'billing@tally.example',
    ]);
    expect(content.buyer).toEqual(['Ada Ltd', 'Rue 1', '75001 Paris', 'France', 'Tax ID FR1', 'a@b.example']);
    expect(content.notes.at(-1)).toBe('IBAN GB00');
  });

  test('the billing address of a customer stands on an invoice instead of the custom field of that name', () => {
    const billingAddress = {
      ...{ line1: 'Rue 2', line2: null, city: 'Paris', postalCode: '75002', region: null, country: 'FR' },
    };
    const customFields = { customer: { billing_address: 'Rue 1' }, contract: {}, invoice: {} };
    const content = resultAtOnce(
      invoiceContent(printed([], {}, { billingAddress, customFields }), NO_SELLER),
    );
    expect(content.buyer.slice(1)).toEqual(['Rue 2', '75002 Paris', 'France']);
  });

  test('the parties and dates of an issued invoice', () => {
    expect(facts([], { netPaymentTermsDays: 30 })).toEqual({
      'Invoice number': 'INV-2026-000042',
      'Issue date': '2 Dec 2026',
      'Due date': '1 Jan 2027',
      'Payment terms': '30 days net',
      'Billing period': '1 Nov – 30 Nov 2026',
      Currency: 'USD',
      'Invoice ID': 'a0000000-0000-4000-8000-000000000000',
    });
  });

  test('the parties and dates of a draft are expected ones', () => {
    expect(facts([], { status: 'DRAFT', netPaymentTermsDays: 0 }, { number: null })).toMatchObject({
      'Invoice number': 'assigned when it is issued',
      'Expected issue date': '2 Dec 2026',
      'Expected due date': '2 Dec 2026',
      'Payment terms': 'Due on issue',
    });
  });

  test.each([
    [{ invoice: { purchase_order: 'i' }, contract: { purchase_order: 'c' }, customer: {} }, 'i'],
    [{ invoice: {}, contract: { purchase_order: 'c' }, customer: { purchase_order: 'k' } }, 'c'],
    [{ invoice: {}, contract: {}, customer: { purchase_order: 'k' } }, 'k'],
  ])('name the purchase order of %o', (customFields, expected) => {
    expect(facts([], { issuedAt: ISSUED_AT }, { customFields })['Purchase order']).toBe(expected);
  });
});

/** Random invoices as they are delivered: usage with and without balances, conversions, charges, any number of lines. */
import fc from 'fast-check';
import { FIAT_CREDIT_TYPES, USD_CENTS } from '../../src/core/credit-types.ts';
import { type Currency, currencyOf } from '../../src/core/currencies.ts';
import { Decimal, ZERO } from '../../src/core/decimal.ts';
import { countsInTotal } from '../../src/core/invoice.ts';
import type { DocumentLine, PaymentDocument } from '../../src/payments/document.ts';
import { payableAmount } from '../../src/rating/invoices/payable.ts';

const START = Date.UTC(2026, 0, 1);
const DAY = 86_400_000;
const PRODUCTS = ['tokens', 'storage', 'seats'];
const COMMITS = ['commit-a', 'commit-b'];

export function fiatCreditTypeOf(code: string): Currency {
  const id = code === 'USD' ? USD_CENTS.id : FIAT_CREDIT_TYPES.find(({ name }) => name === code)?.id;
  const currency = id === undefined ? null : currencyOf(id);
  if (currency === null) throw new Error(`no currency ${code}`);
  return currency;
}

const number = (max: number, scale: number) =>
  fc.integer({ min: 0, max }).map((digits) => new Decimal(`${digits}e-${scale}`));

const part = fc.record({
  product: fc.constantFrom(...PRODUCTS),
  group: fc.constantFrom('small', 'large'),
  day: fc.integer({ min: 0, max: 80 }),
  quantity: number(100_000, 1),
  unitPrice: fc.oneof(number(500, 0), number(99_999, 5)),
  payer: fc.option(
    fc.record({
      commitId: fc.constantFrom(...COMMITS),
      commitType: fc.constantFrom('PREPAID' as const, 'POSTPAID' as const),
    }),
  ),
});

export const documentCase: fc.Arbitrary<PaymentDocument> = fc
  .record({
    parts: fc.array(part, { maxLength: 40 }),
    creditTypeId: fc.constantFrom(
      USD_CENTS.id,
      ...FIAT_CREDIT_TYPES.filter(({ name }) => name === 'EUR' || name === 'JPY').map(({ id }) => id),
    ),
    mapped: fc.subarray(PRODUCTS),
  })
  .map(({ parts, creditTypeId, mapped }) => {
    const lines = parts.flatMap((one, index) => linesOf(one, index, creditTypeId));
    return documentOf(lines, creditTypeId, new Map(mapped.map((id) => [id, `prod_${id}`])));
  });

export function documentOf(
  lines: readonly DocumentLine[],
  creditTypeId: string,
  products: ReadonlyMap<string, string> = new Map(),
): PaymentDocument {
  const currency = currencyOf(creditTypeId);
  if (currency === null) throw new Error('a document is in a currency');
  const counted = lines.filter((line) => line.creditTypeId === creditTypeId && countsInTotal(line));
  const total = counted.reduce((sum, line) => sum.plus(line.total), ZERO);
  return {
    invoiceId: 'invoice',
    customerId: 'customer',
    contractId: 'contract',
    type: 'USAGE',
    number: 'INV-1',
    creditTypeId,
    currency,
    total,
    payable: payableAmount({ total, creditTypeId }),
    period: { start: START, end: START + 31 * DAY },
    issuedAt: START + 32 * DAY,
    paymentTermsDays: 14,
    lines,
    names: {
      balances: new Map(COMMITS.map((id) => [id, `Balance ${id}`])),
      units: new Map(),
      customers: new Map(),
    },
    products,
    replaces: null,
    links: null,
  };
}

function linesOf(
  {
    product,
    group,
    day,
    quantity,
    unitPrice,
    payer,
  }: typeof part extends fc.Arbitrary<infer Part> ? Part : never,
  index: number,
  creditTypeId: string,
): DocumentLine[] {
  const total = quantity.times(unitPrice);
  const start = START + day * DAY;
  const common = {
    name: product,
    creditTypeId,
    interval: { start, end: start + DAY },
    productId: product,
    productType: 'USAGE' as const,
    productTags: [],
    pricingGroupValues: { size: group },
    presentationGroupValues: {},
    tier: null,
  };
  const paid = payer === null ? null : { ...payer, segmentId: `segment-${payer.commitId}` };
  const line: DocumentLine = {
    ...common,
    id: `line-${index}`,
    type: 'usage',
    quantity,
    unitPrice,
    total,
    payer: paid,
  };
  if (paid === null) return [line];
  const back = { quantity: ZERO, unitPrice: ZERO, total: ZERO.minus(total) };
  return [line, { ...common, ...back, id: `applied-${index}`, type: 'applied', payer: paid }];
}

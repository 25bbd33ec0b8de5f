/** The lines of a credit note for amounts and quantities that a client names. Pure. */
import { roundToMinorUnit } from '../../core/currencies.ts';
import { type Decimal, minimum, roundDecimal, sum, ZERO } from '../../core/decimal.ts';
import { invalid, namesNothing } from '../../core/errors.ts';
import type { CreditBook, OpenLine } from './credit-book.ts';
import { spread } from './spread.ts';

/** Exactly one of `lineItemId` and `productId`, and of `amount` and `quantity`. All are positive. */
export interface CreditRequest {
  readonly lineItemId: string | null;
  readonly productId: string | null;
  readonly amount: Decimal | null;
  readonly quantity: Decimal | null;
}

/** The part of a line that a note takes back. */
export interface TakenBack {
  readonly line: OpenLine;
  /** Above 0. */
  readonly amount: Decimal;
  /** Null: no quantity of the line was given. */
  readonly quantity: Decimal | null;
}

/**
 * In the order of the invoice, one for each line. Refuses (`invalid`) more than is left of a line, of a product or of
 * the invoice, and amounts that are no whole minor units unless they are all that is left; (`not_found`) lines and
 * products that the invoice does not have.
 */
export function creditLines(book: CreditBook, requests: readonly CreditRequest[]): TakenBack[] {
  const taken = new Map<string, TakenBack>();
  for (const [index, request] of requests.entries()) {
    const path = ['lines', index];
    const lines = namedLines(book, request, path).map((line) => {
      const before = taken.get(line.id)?.amount ?? ZERO;
      return { ...line, left: line.left.minus(before) };
    });
    for (const part of partsOf(book, lines, request, path)) add(taken, book, part);
  }
  const found = book.lines.flatMap(({ id }) => taken.get(id) ?? []);
  requireMoney(book, found);
  return found;
}

function add(taken: Map<string, TakenBack>, book: CreditBook, part: TakenBack): void {
  if (part.amount.eq(ZERO)) return;
  const { id } = part.line;
  const before = taken.get(id);
  const line = book.lines.find((one) => one.id === id) ?? part.line;
  if (before === undefined) {
    taken.set(id, { ...part, line });
    return;
  }
  const quantity =
    before.quantity === null || part.quantity === null ? null : before.quantity.plus(part.quantity);
  taken.set(id, { line, amount: before.amount.plus(part.amount), quantity });
}

type Path = readonly (string | number)[];

/** The line, or the lines of the product that have something left. */
function namedLines(book: CreditBook, { lineItemId, productId }: CreditRequest, path: Path): OpenLine[] {
  if (lineItemId !== null) {
    const line = book.lines.find(({ id }) => id === lineItemId);
    if (line !== undefined) return [line];
    const problem = book.refused.get(lineItemId);
    const field = [...path, 'lineItemId'];
    if (problem !== undefined) throw invalid(field, `line ${lineItemId} ${problem}`);
    throw namesNothing(field, `the invoice has no line ${lineItemId}`);
  }
  const lines = book.lines.filter((line) => line.productId === productId);
  if (lines.length > 0) return lines;
  throw namesNothing([...path, 'productId'], `the invoice has no line of product ${productId} to credit`);
}

function partsOf(
  book: CreditBook,
  lines: readonly OpenLine[],
  { amount, quantity }: CreditRequest,
  path: Path,
): TakenBack[] {
  const wanted =
    amount === null
      ? amountOfQuantity(book, lines, quantity ?? ZERO, [...path, 'quantity'])
      : checkedAmount(book, lines, amount, [...path, 'amount']);
  const [only, ...others] = lines;
  if (only !== undefined && others.length === 0) return [{ line: only, amount: wanted, quantity }];
  return spreadOver(book, lines, wanted).map((part) => ({ ...part, quantity: null }));
}

/** Money first, then what balances paid; each in proportion to what is left. */
function spreadOver(
  { places }: Pick<CreditBook, 'places'>,
  lines: readonly OpenLine[],
  amount: Decimal,
): Omit<TakenBack, 'quantity'>[] {
  const money = lines.filter(({ paidBy }) => paidBy === 'money');
  const others = lines.filter(({ paidBy }) => paidBy === 'balance');
  const first = minimum(amount, leftOf(money));
  const rest = amount.minus(first);
  return [...shares(money, first, places), ...shares(others, rest, places)].filter((part) =>
    part.amount.gt(ZERO),
  );
}

function shares(lines: readonly OpenLine[], amount: Decimal, places: number): Omit<TakenBack, 'quantity'>[] {
  const amounts = spread(
    amount,
    lines.map(({ left }) => left),
    places,
  );
  return lines.map((line, index) => ({ line, amount: amounts[index] ?? ZERO }));
}

function leftOf(lines: readonly OpenLine[]): Decimal {
  return sum(lines.map(({ left }) => left));
}

function checkedAmount(
  { creditTypeId }: CreditBook,
  lines: readonly OpenLine[],
  amount: Decimal,
  path: Path,
): Decimal {
  const left = leftOf(lines);
  if (amount.gt(left)) throw tooMuch(path, left);
  if (amount.eq(left) || amount.eq(roundToMinorUnit(amount, creditTypeId))) return amount;
  throw invalid(path, 'must be a whole number of minor units of the currency, or all that is left');
}

/** Quantity × price, rounded to the minor unit. The whole quantity is the whole amount. */
function amountOfQuantity(
  { creditTypeId, places }: CreditBook,
  lines: readonly OpenLine[],
  quantity: Decimal,
  path: Path,
): Decimal {
  const whole = sum(lines.map(({ line }) => line.quantity));
  const left = leftOf(lines);
  if (quantity.gt(whole))
    throw invalid(path, `must be at most ${whole.toFixed()}, the quantity of the invoice`);
  const amount = sum(lines.map((line) => line.amount));
  if (quantity.eq(whole)) return amount.eq(left) ? amount : fail(path, left);
  const part = roundDecimal(exactPart(lines, quantity, whole), 'ROUND_HALF_UP', places);
  if (part.lte(ZERO)) throw invalid(path, 'is less than half a minor unit of the currency');
  if (part.lte(left)) return part;
  // Rounded up by less than a minor unit, it may exceed what is left of a line.
  return roundToMinorUnit(left, creditTypeId).gte(part) ? left : fail(path, left);
}

/** With one price quantity × price, else the share of the quantity in all lines. */
function exactPart(lines: readonly OpenLine[], quantity: Decimal, whole: Decimal): Decimal {
  const [first] = lines;
  const price = first?.line.unitPrice ?? ZERO;
  const isOnePrice = lines.every(
    ({ line }) => line.unitPrice.eq(price) && line.total.eq(line.quantity.times(price)),
  );
  if (isOnePrice) return quantity.times(price);
  return sum(lines.map(({ line }) => line.total))
    .times(quantity)
    .div(whole);
}

function fail(path: Path, left: Decimal): never {
  throw tooMuch(path, left);
}

function tooMuch(path: Path, left: Decimal) {
  return invalid(path, `exceeds what is left to credit: ${left.toFixed()}`);
}

/** Discounts lower the total: all lines together may have more than the invoice. */
function requireMoney({ money }: CreditBook, taken: readonly TakenBack[]): void {
  const wanted = moneyOf(taken);
  if (wanted.lte(money)) return;
  throw invalid(['lines'], `take back ${wanted.toFixed()}, and ${money.toFixed()} is left of the invoice`);
}

/** The money that is taken back, without what balances paid. */
export function moneyOf(taken: readonly TakenBack[]): Decimal {
  return sum(taken.flatMap(({ line, amount }) => (line.paidBy === 'money' ? [amount] : [])));
}

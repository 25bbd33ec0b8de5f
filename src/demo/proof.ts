/**
 * The proof: compares the demo's own sums with everything the service reported, to the last digit. Building the
 * comparison is pure. A line agrees only if every customer and group in its sum agrees.
 */
import { Decimal, sum, ZERO } from '../core/decimal.ts';
import { productPrice } from './expected-price.ts';
import {
  addUp,
  type CustomerFigures,
  type GroupQuantities,
  type HourlyFigures,
  lineQuantities,
  type Subject,
  totalOf,
} from './figures.ts';
import { at } from './provisioning.ts';
import type { MeteredProduct } from './scenario.ts';
import type { SendReport } from './sender.ts';
import type { Tally } from './tally.ts';

interface ProofPart {
  readonly name: string;
  readonly expected: Decimal;
  readonly actual: Decimal;
}

/** One line of the proof: the source of the figure, and its comparisons. */
export interface ProofLine {
  readonly source: string;
  /** Money is in cents. */
  readonly kind: 'quantity' | 'money';
  readonly parts: readonly ProofPart[];
}

export interface ProofSection {
  readonly title: string;
  /** The figure of the demo's own books, shown above the lines; null if each line has its own. */
  readonly own: { readonly label: string; readonly kind: ProofLine['kind']; readonly value: Decimal } | null;
  readonly lines: readonly ProofLine[];
}

export function lineAgrees(line: ProofLine): boolean {
  return line.parts.every((part) => part.expected.eq(part.actual));
}

export function lineTotal(line: ProofLine): Decimal {
  return sum(line.parts.map((part) => part.actual));
}

function quantityLine(source: string, parts: readonly ProofPart[]): ProofLine {
  return { source, kind: 'quantity', parts };
}

function moneyLine(source: string, parts: readonly ProofPart[]): ProofLine {
  return { source, kind: 'money', parts };
}

/** Every event was accepted once, and every deliberate repeat was recognised. */
export function deliverySection(report: SendReport): ProofSection {
  const decimalOf = (count: number) => new Decimal(String(count));
  const line = (source: string, expected: number, actual: number) =>
    quantityLine(source, [{ name: source, expected: decimalOf(expected), actual: decimalOf(actual) }]);
  return {
    title: 'Events',
    own: { label: 'different events sent', kind: 'quantity', value: decimalOf(report.events) },
    lines: [
      line('accepted by the service', report.events, report.accepted),
      line('sent twice on purpose, dropped', report.repeatedEvents, report.duplicates),
    ],
  };
}

/** Sections over all customers: one per product, one for the money. `own` names the demo's side of the comparison. */
export function customerSections(
  subject: Subject,
  tally: Tally,
  figures: readonly CustomerFigures[],
  own: string,
): ProofSection[] {
  const products = subject.scenario.products.map((product, index) => {
    const expected = figures.map((_, customer) => tally.quantity(customer, index));
    return {
      title: `${product.name}: ${describe(product)}`,
      own: { label: own, kind: 'quantity' as const, value: sum(expected) },
      lines: productLines(subject, tally, figures, index),
    };
  });
  return [...products, moneySection(subject, tally, figures)];
}

function productLines(
  { scenario, provisioned }: Subject,
  tally: Tally,
  figures: readonly CustomerFigures[],
  index: number,
): ProofLine[] {
  const product = at(scenario.products, index);
  const productId = at(provisioned.productIds, index);
  const each = (
    compare: (figures: CustomerFigures, name: string, expected: GroupQuantities) => ProofPart[],
  ) =>
    figures.flatMap((one, customer) =>
      compare(one, at(scenario.customers, customer).name, tally.groups(customer, index)),
    );
  const byGroup = (actual: (figures: CustomerFigures) => GroupQuantities) =>
    each((one, name, expected) => compareGroups(name, expected, actual(one)));
  const days = each((one, name, expected) => compareTotals(name, expected, at(one.usageByDay, index)));
  return [
    quantityLine(
      'usage API',
      byGroup((one) => at(one.usage, index)),
    ),
    ...(isAdditive(product) ? [quantityLine('usage API, days added up', days)] : []),
    quantityLine(
      counted(figures.length, 'invoice'),
      byGroup((one) => lineQuantities([one.invoice], productId, product)),
    ),
    quantityLine(
      counted(figures.length, 'daily breakdown'),
      byGroup((one) => lineQuantities(one.daily, productId, product)),
    ),
  ];
}

function moneySection(subject: Subject, tally: Tally, figures: readonly CustomerFigures[]): ProofSection {
  const expected = figures.map((_, customer) => expectedTotal(subject, tally, customer));
  const parts = (actual: (figures: CustomerFigures) => Decimal) =>
    figures.map((each, customer) => ({
      name: at(subject.scenario.customers, customer).name,
      expected: at(expected, customer),
      actual: actual(each),
    }));
  return {
    title: 'Money',
    own: { label: 'priced by the demo, tier by tier', kind: 'money', value: sum(expected) },
    lines: [
      moneyLine(
        counted(figures.length, 'invoice total'),
        parts((each) => each.invoice.total),
      ),
      moneyLine(
        'invoice lines added up',
        parts((each) => sum(each.invoice.line_items.map((line) => line.total))),
      ),
      moneyLine(
        counted(figures.length, 'daily breakdown'),
        parts((each) => sum(each.daily.map((window) => window.total))),
      ),
    ],
  };
}

/** One customer hour by hour: quantities product by product, and the money. */
export function hourlySection(
  subject: Subject,
  tally: Tally,
  customer: number,
  hourly: HourlyFigures,
): ProofSection {
  const { scenario, provisioned } = subject;
  const { name } = at(scenario.customers, customer);
  const quantities = scenario.products.flatMap((product, index) => {
    const expected = tally.groups(customer, index);
    const actual = lineQuantities(hourly.breakdowns, at(provisioned.productIds, index), product);
    const usage = compareTotals(name, expected, at(hourly.usageByHour, index));
    return [
      ...(isAdditive(product) ? [quantityLine(`${product.unit}, usage API`, usage)] : []),
      quantityLine(`${product.unit}, breakdown`, compareGroups(name, expected, actual)),
    ];
  });
  const money = {
    name,
    expected: expectedTotal(subject, tally, customer),
    actual: sum(hourly.breakdowns.map((window) => window.total)),
  };
  return {
    title: `${name}, ${hourly.breakdowns.length} hours added up`,
    own: null,
    lines: [...quantities, moneyLine('money, breakdown', [money])],
  };
}

function counted(count: number, noun: string): string {
  return count === 1 ? noun : `${count} ${noun}s`;
}

/** The total that one customer owes for the period by the demo's own books, in cents. */
function expectedTotal(subject: Subject, tally: Tally, customer: number): Decimal {
  return sum(
    subject.scenario.products.map((product, index) => productPrice(product, tally.groups(customer, index))),
  );
}

/** A distinct value of one day may be counted on the next day too: only sums and counts of separate windows add up. */
function isAdditive(product: MeteredProduct): boolean {
  return product.aggregation !== 'UNIQUE';
}

function describe(product: MeteredProduct): string {
  const key = product.pricingGroupKey.length === 0 ? '' : ` by ${product.pricingGroupKey.join(' and ')}`;
  return `${product.aggregation}${product.property === null ? '' : ` of ${product.property}`}${key}`;
}

function compareGroups(customer: string, expected: GroupQuantities, actual: GroupQuantities): ProofPart[] {
  const groups = new Set([...expected.keys(), ...actual.keys()]);
  return [...groups].map((group) => ({
    name: group === '' ? customer : `${customer}, ${group}`,
    expected: expected.get(group) ?? ZERO,
    actual: actual.get(group) ?? ZERO,
  }));
}

function compareTotals(
  customer: string,
  expected: GroupQuantities,
  rows: readonly { readonly value: Decimal | null }[],
): ProofPart[] {
  const actual = totalOf(addUp(rows.map((row) => ['', row.value ?? ZERO])));
  return [{ name: customer, expected: totalOf(expected), actual }];
}

/**
 * The lines of an invoice before commits and credits apply: the charges of its usage and its terms
 * (docs/explanation/spend-breakdowns.md). Pure.
 */
import { type Decimal, sum, ZERO } from '../../core/decimal.ts';
import { resultAtOnce } from '../../core/in-chunks.ts';
import { type InvoiceLine, isAppliedLine, isConversionLine, type LineWindow } from '../../core/invoice.ts';

export interface LinesBeforeBalances {
  readonly lines: readonly InvoiceLine[];
  /** Positions refer to `lines`. */
  readonly hours: readonly LineWindow[];
}

/**
 * Leaves out the applied lines. A conversion covers all lines in its unit, also those that balances in the unit pay
 * for, and is one line for all payers.
 */
export function beforeBalances(
  lines: readonly InvoiceLine[],
  hours: readonly LineWindow[],
): LinesBeforeBalances {
  return resultAtOnce(beforeBalancesInSteps(lines, hours));
}

/** `beforeBalances` in steps: yields after each step of its work. */
export function* beforeBalancesInSteps(
  lines: readonly InvoiceLine[],
  hours: readonly LineWindow[],
): Generator<void, LinesBeforeBalances, undefined> {
  const converted = new Set<string>();
  const positions = new Map<number, number>();
  const kept: InvoiceLine[] = [];
  for (const [position, line] of lines.entries()) {
    if (isAppliedLine(line)) continue;
    if (isConversionLine(line)) {
      if (converted.has(line.convertedCreditTypeId)) continue;
      converted.add(line.convertedCreditTypeId);
    }
    positions.set(position, kept.length);
    kept.push(line);
  }
  const charged: LineWindow[] = [];
  for (const hour of hours) {
    const position = positions.get(hour.position);
    const line = lines[hour.position];
    if (position !== undefined && line !== undefined && !isConversionLine(line)) {
      charged.push({ ...hour, position });
    }
    yield;
  }
  const converting = kept.flatMap((line, position) => conversionHours(line, position, kept, charged));
  return {
    lines: kept.map((line) => (isConversionLine(line) ? wholeConversion(line, kept) : line)),
    hours: converting.length === 0 ? charged : [...charged, ...converting],
  };
}

type Conversion = Extract<InvoiceLine, { readonly convertedCreditTypeId: string }>;

function wholeConversion(line: Conversion, lines: readonly InvoiceLine[]): Conversion {
  const own = lines.filter((one) => isOfUnit(one, line.convertedCreditTypeId));
  const quantity = sum(own.map(({ total }) => total));
  return { ...line, payer: null, quantity, total: quantity.times(line.unitPrice) };
}

/** A conversion changes in the hours in which lines of its unit do. */
function conversionHours(
  line: InvoiceLine,
  position: number,
  lines: readonly InvoiceLine[],
  hours: readonly LineWindow[],
): LineWindow[] {
  if (!isConversionLine(line)) return [];
  const spent = new Map<number, { readonly window: LineWindow['window']; units: Decimal }>();
  for (const { position: at, window, total } of hours) {
    const one = lines[at];
    if (one === undefined || !isOfUnit(one, line.convertedCreditTypeId)) continue;
    const hour = spent.get(window.start) ?? { window, units: ZERO };
    hour.units = hour.units.plus(total);
    spent.set(window.start, hour);
  }
  return [...spent.values()].map(({ window, units }) => ({
    ...{ position, window, quantity: units, total: units.times(line.unitPrice) },
  }));
}

function isOfUnit(line: InvoiceLine, unit: string): boolean {
  return line.creditTypeId === unit && !isConversionLine(line);
}

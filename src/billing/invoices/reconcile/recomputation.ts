/**
 * Compares issued lines with a recomputation: from the events that the invoice could count, under the terms that are
 * kept with it. Pure.
 */
import type { Decimal } from '../../../core/decimal.ts';
import { type Invoice, type InvoiceLine, isConversionLine, isUsageLine } from '../../../core/invoice.ts';
import { lineIdParts } from '../../../rating/invoices/rate-usage.ts';
import { type Difference, differencesOf } from './difference.ts';

/** Recomputed lines and issued ones, each once. */
export interface MatchedLines {
  readonly differences: readonly Difference[];
  /** From positions of recomputed lines to positions of issued ones. */
  readonly issuedPositions: ReadonlyMap<number, number>;
}

/**
 * `leftOut` are products that either of the two does not list. Scheduled amounts are not computed from usage. Yields
 * after each line.
 */
export function* matchLines(
  invoice: Pick<Invoice, 'id' | 'contractId' | 'lines'>,
  recomputed: readonly InvoiceLine[],
  leftOut: ReadonlySet<string>,
): Generator<void, MatchedLines, undefined> {
  const difference = differencesOf(invoice);
  const issued = yield* keyed(invoice.lines, leftOut);
  const now = yield* keyed(recomputed, leftOut);
  const differences: Difference[] = [];
  const issuedPositions = new Map<number, number>();
  for (const [key, [line, position]] of now) {
    yield;
    const match = issued.get(key);
    if (match === undefined) {
      const numbers = { field: 'total', expected: line.total } as const;
      const message = `the events give a line ${JSON.stringify(line.name)} that the invoice does not have`;
      differences.push(difference('recomputed_line', message, numbers));
      continue;
    }
    const [stored, at] = match;
    issuedPositions.set(position, at);
    for (const [field, expected, found] of fieldsOf(line, stored)) {
      if (expected.eq(found)) continue;
      const numbers = { position: at, field, expected, found };
      differences.push(difference('recomputed_line', 'the line is not that of the events', numbers));
    }
  }
  for (const [key, [line, position]] of issued) {
    yield;
    if (now.has(key)) continue;
    const numbers = { position, field: 'total', found: line.total } as const;
    differences.push(difference('recomputed_line', 'the events do not give this line', numbers));
  }
  return { differences, issuedPositions };
}

function fieldsOf(
  line: InvoiceLine,
  stored: InvoiceLine,
): (readonly ['quantity' | 'unit_price' | 'total', Decimal, Decimal])[] {
  return [
    ['quantity', line.quantity, stored.quantity],
    ['unit_price', line.unitPrice, stored.unitPrice],
    ['total', line.total, stored.total],
  ];
}

/** Lines with their positions by identity. */
function* keyed(
  lines: readonly InvoiceLine[],
  leftOut: ReadonlySet<string>,
): Generator<void, Map<string, readonly [InvoiceLine, number]>, undefined> {
  const found = new Map<string, readonly [InvoiceLine, number]>();
  for (const [position, line] of lines.entries()) {
    yield;
    if (isUsageLine(line)) {
      if (!leftOut.has(line.productId))
        found.set(JSON.stringify([...lineIdParts(line), line.interval.end]), [line, position]);
    } else if (isConversionLine(line)) {
      const { type, convertedCreditTypeId, payer } = line;
      found.set(JSON.stringify([type, convertedCreditTypeId, payer?.segmentId]), [line, position]);
    }
  }
  return found;
}

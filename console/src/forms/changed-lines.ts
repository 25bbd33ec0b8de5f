/** The lines in which two states of an invoice differ. Pure. */
import Big from 'big.js';
import { sum } from '../api/exact.ts';
import type { CreditType } from '../format/money.ts';
import { countsInTotal } from '../parts/billed-lines.ts';
import { type Line, wholeName } from '../parts/line-names.ts';

interface ChangedLine {
  readonly key: string;
  readonly name: string;
  readonly unit: CreditType;
  /** 0 where the line is not on this state. */
  readonly before: Big;
  readonly after: Big;
}

/**
 * In the order of the later state, then what is only on the former one. Lines of one name, such as those before and
 * after a change of price within the period, are one. The differences add up to that of the totals in each unit.
 */
export function changedLines(before: readonly Line[], after: readonly Line[]): ChangedLine[] {
  const [was, is] = [byKey(before), byKey(after)];
  return [...new Set([...is.keys(), ...was.keys()])].flatMap((key): ChangedLine[] => {
    const own = [...(is.get(key) ?? []), ...(was.get(key) ?? [])];
    const [line] = own;
    if (line === undefined) return [];
    const [then, now] = [totalOf(was.get(key)), totalOf(is.get(key))];
    if (then.eq(now)) return [];
    return [{ key, name: wholeName(line), unit: line.credit_type, before: then, after: now }];
  });
}

function byKey(lines: readonly Line[]): Map<string, Line[]> {
  const found = new Map<string, Line[]>();
  for (const line of lines.filter(countsInTotal)) {
    const key = JSON.stringify([
      ...[line.type, line.credit_type.id, line.product_id, line.commit_id, wholeName(line)],
    ]);
    found.set(key, [...(found.get(key) ?? []), line]);
  }
  return found;
}

function totalOf(lines: readonly Line[] = []): Big {
  return lines.length === 0 ? new Big(0) : sum(lines.map(({ total }) => total));
}

import { describe, expect, it } from 'vitest';
import { decimal } from '../../../../src/core/decimal.ts';
import type { Aggregation } from '../../../../src/core/metric.ts';
import { createSeriesFold } from '../../../../src/metering/query/series-fold.ts';

function steps(aggregation: Aggregation, ...windows: readonly (readonly [number, string])[]) {
  const fold = createSeriesFold(aggregation);
  for (const [at, value] of windows) fold.add(at, decimal(value));
  return fold.steps.map(({ at, value }) => [at, value.toString()]);
}

describe('cumulative steps', () => {
  it('add up for COUNT, SUM and UNIQUE', () => {
    for (const aggregation of ['COUNT', 'SUM', 'UNIQUE'] as const) {
      expect(steps(aggregation, [1, '2'], [3, '5'])).toEqual([
        [1, '2'],
        [3, '7'],
      ]);
    }
  });

  it('cumulative steps keep every digit of a sum', () => {
    expect(
      steps('SUM', [1, '123456789012345678901234567890'], [2, '0.000000000000000000000000000001']),
    ).toEqual([
      [1, '123456789012345678901234567890'],
      [2, '123456789012345678901234567890.000000000000000000000000000001'],
    ]);
  });

  it('cumulative steps go down where a sum does, and back to zero', () => {
    expect(steps('SUM', [1, '2'], [2, '-2'], [3, '-1'])).toEqual([
      [1, '2'],
      [2, '0'],
      [3, '-1'],
    ]);
  });

  it('cumulative steps only rise for MAX once there is a value, even a negative one', () => {
    expect(steps('MAX', [1, '-5'], [2, '-7'], [3, '4'], [4, '4'], [5, '1'])).toEqual([
      [1, '-5'],
      [3, '4'],
    ]);
  });

  it('cumulative steps follow LATEST up and down and carry it over windows without usage', () => {
    expect(steps('LATEST', [1, '10'], [5, '3'], [6, '3'], [9, '10'])).toEqual([
      [1, '10'],
      [5, '3'],
      [9, '10'],
    ]);
  });

  it('cumulative steps leave out windows that change nothing, but not the first one with usage', () => {
    expect(steps('SUM', [1, '0'], [2, '0'], [3, '3'], [4, '0'])).toEqual([
      [1, '0'],
      [3, '3'],
    ]);
    expect(steps('SUM')).toEqual([]);
  });
});

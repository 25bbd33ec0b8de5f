import { describe, expect, it } from 'vitest';
import { barPlaces, pictureOf } from '../../../console/src/pages/ask/result-chart.ts';

const day = { name: 'day', type: 'timestamp' };
const text = { name: 'model', type: 'text' };
const number = { name: 'sent', type: 'number' };

describe('the picture of an answer', () => {
  it('the picture of an answer has a series for each text, over the instants of all rows', () => {
    const rows = [
      { day: '2026-11-02T00:00:00.000Z', model: 'b', sent: '3' },
      { day: '2026-11-01T00:00:00.000Z', model: 'a', sent: '0.1' },
      { day: '2026-11-01T00:00:00.000Z', model: 'a', sent: '0.2' },
    ];
    const picture = pictureOf([day, text, number], rows);
    expect(picture).toMatchObject({ kind: 'time', window: 'day' });
    if (picture?.kind !== 'time') throw new Error('no chart over time');
    expect(picture.starts).toEqual(['2026-11-01T00:00:00.000Z', '2026-11-02T00:00:00.000Z']);
    expect(
      picture.series.map(({ label, values }) => [label, ...values.map((value) => value?.toFixed() ?? null)]),
    ).toEqual([
      ['b', null, '3'],
      ['a', '0.3', null],
    ]);
  });

  it('the picture of an answer is bars of the largest rows without instants, and none without numbers or with one row', () => {
    const rows = Array.from({ length: 30 }, (_, index) => ({ model: `m${index}`, sent: String(index) }));
    const picture = pictureOf([text, number], rows);
    expect(picture).toMatchObject({ kind: 'values', label: 'sent', left: 10 });
    expect(picture?.kind === 'values' && picture.bars[0]?.label).toBe('m29');
    expect(pictureOf([text], [{ model: 'a' }, { model: 'b' }])).toBe(null);
    expect(pictureOf([number], [{ sent: '1' }])).toBe(null);
  });

  it('the picture of an answer has rows with equal texts in two columns as separate series', () => {
    const second = { name: 'region', type: 'text' };
    const at = { day: '2026-11-01T00:00:00.000Z' };
    const picture = pictureOf(
      [day, text, second, number],
      [
        { ...at, model: 'a · b', region: 'c', sent: '1' },
        { ...at, model: 'a', region: 'b · c', sent: '2' },
        { day: '2026-11-02T00:00:00.000Z', model: 'a', region: 'b · c', sent: '4' },
      ],
    );
    if (picture?.kind !== 'time') throw new Error('no chart over time');
    expect(picture.series.map(({ label }) => label)).toEqual(['a · b · c (2)', 'a · b · c']);
  });

  it('the picture of an answer has negative bars to the left of the zero of all bars', () => {
    expect(barPlaces([6, -2, 0])).toEqual([
      { start: 0.25, length: 0.75 },
      { start: 0, length: 0.25 },
      { start: 0.25, length: 0 },
    ]);
    expect(barPlaces([-4, -1])).toEqual([
      { start: 0, length: 1 },
      { start: 0.75, length: 0.25 },
    ]);
    expect(barPlaces([0, 0])).toEqual([
      { start: 0, length: 0 },
      { start: 0, length: 0 },
    ]);
  });
});

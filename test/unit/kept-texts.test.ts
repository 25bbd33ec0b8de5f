import { describe, expect, it } from 'vitest';
import { createKeptTexts } from '../../src/store/postgres-driver/kept-texts.ts';

describe('the statements that connections keep', () => {
  it('the statements that connections keep are short ones at once', () => {
    expect(createKeptTexts().isKept('select', 10)).toBe(true);
  });

  it('the statements that connections keep are longer ones that are asked for again', () => {
    const texts = createKeptTexts();
    expect([1, 2, 3].map(() => texts.isKept('insert', 24))).toEqual([false, true, true]);
  });

  it('the statements that connections keep are never lists of any length', () => {
    const texts = createKeptTexts();
    expect([1, 2, 3].some(() => texts.isKept('insert many', 65))).toBe(false);
  });

  it('the statements that connections keep are at most 200 of the longer ones, whatever is asked for', () => {
    const texts = createKeptTexts();
    for (let text = 0; text < 10_000; text += 1) texts.isKept(`once ${text}`, 24);
    for (let text = 0; text < 300; text += 1) {
      texts.isKept(`again ${text}`, 24);
      texts.isKept(`again ${text}`, 24);
    }
    const kept = Array.from({ length: 300 }, (_, text) => texts.isKept(`again ${text}`, 24));
    expect(kept.filter(Boolean)).toHaveLength(200);
  });
});

import { describe, expect, it } from 'vitest';
import { HASH_WORDS, hashTransactionId } from '../../../../src/metering/ingest/transaction-hash.ts';

function hashOf(id: string): number[] {
  const words = new Uint32Array(HASH_WORDS);
  hashTransactionId(id, words);
  return [...words];
}

describe('hashTransactionId', () => {
  it.each([
    ['', [0, 0, 0]],
    ['a', [244_314_263, 1_111_990_905, 274_514_132]],
    ['2026-11-20T10:00:00Z-acme-1', [2_789_483_147, 2_182_893_149, 4_259_156_378]],
    ['é😀', [806_163_138, 3_908_753_353, 2_342_051_481]],
  ])('hashTransactionId never changes for %j, because hashes are stored', (id, words) => {
    expect(hashOf(id)).toEqual(words);
  });

  it('hashTransactionId writes three words at the given place and nothing else', () => {
    const words = new Uint32Array(7).fill(7);
    hashTransactionId('tx', words, 2);
    expect([...words]).toEqual([7, 7, ...hashOf('tx'), 7, 7]);
  });

  it('hashTransactionId tells apart ids that differ in length, case, order or one character only', () => {
    const ids = [
      '',
      '\u0001',
      'a',
      'A',
      'aa',
      'ab',
      'ba',
      'a'.repeat(8),
      'a'.repeat(9),
      'a'.repeat(16),
      `${'a'.repeat(15)}b`,
    ];
    expect(new Set(ids.map((id) => hashOf(id).join())).size).toBe(ids.length);
  });

  it('spreads numbered ids evenly over every word', () => {
    const buckets = 256;
    const ids = 100_000;
    const counts = Array.from({ length: HASH_WORDS * 4 }, () => new Array<number>(buckets).fill(0));
    for (let i = 0; i < ids; i += 1) {
      const words = hashOf(`event-${i}`);
      for (let byte = 0; byte < HASH_WORDS * 4; byte += 1) {
        const value = ((words[byte >> 2] ?? 0) >>> ((byte & 3) * 8)) & 255;
        const bucket = counts[byte];
        if (bucket !== undefined) bucket[value] = (bucket[value] ?? 0) + 1;
      }
    }
    for (const byte of counts) {
      const chiSquare = byte.reduce((sum, count) => sum + (count - ids / buckets) ** 2 / (ids / buckets), 0);
      // 255 degrees of freedom: a fair spread exceeds 370 less than once in a million times.
      expect(chiSquare).toBeLessThan(370);
    }
  });

  it('hashTransactionId gives no collision among 300,000 ids of one shape', () => {
    const seen = new Set<string>();
    const words = new Uint32Array(HASH_WORDS);
    for (let i = 0; i < 300_000; i += 1) {
      hashTransactionId(`00000000-0000-4000-8000-${String(i).padStart(12, '0')}`, words);
      // Two of the three words make a collision a matter of chance at one in 400 million here.
      seen.add(`${words[0]},${words[2]}`);
    }
    expect(seen.size).toBe(300_000);
  });
});

import { describe, expect, it } from 'vitest';
import type { Exact } from '../../../console/src/api/exact.ts';
import { draftIn, draftText, rateKey, sentRate } from '../../../console/src/pages/prices/price-draft.ts';
import { rateText, sentAmount, shownAmount } from '../../../console/src/pages/prices/rate-text.ts';

const CENTS = { id: 'c', name: 'USD (cents)' };
const digits = (text: string) => text as Exact;

describe('prices in the console', () => {
  it('are written tier by tier with all their digits', () => {
    const tiers = [
      { size: digits('1000'), price: digits('0.03') },
      { price: digits('0.0000000000000000000001') },
    ];
    expect(rateText({ rate_type: 'TIERED', tiers, credit_type: CENTS })).toBe(
      '$0.0003 up to 1,000, then $0.000000000000000000000001',
    );
    expect(rateText({ rate_type: 'PERCENTAGE', price: digits('0.125') })).toBe('12.5 %');
  });

  it('are entered in dollars and sent in cents without a double in between', () => {
    for (const cents of ['0.1', '29', '0.000000000000000001', '123456789012345678901234.5']) {
      expect(sentAmount(shownAmount(digits(cents), CENTS), CENTS)?.toFixed()).toBe(cents);
    }
    expect(sentAmount('7', { id: 'x', name: 'Credits' })?.toFixed()).toBe('7');
    for (const wrong of ['', '-1', '1e3', '1,000', 'NaN', '.5']) expect(sentAmount(wrong, CENTS)).toBe(null);
  });
});

describe('a draft of prices', () => {
  const rate = {
    product: 'p',
    values: { region: 'eu', model: 'large' },
    entitled: true,
    type: 'TIERED',
    unit: 'c',
    tiers: [{ size: '10', price: '0.3' }, { price: '0.2' }],
  } as const;

  it('is the same from an address, whatever the order of group values', () => {
    const draft = draftIn(draftText(new Map([[rateKey(rate), rate]])));
    expect([...draft.values()]).toEqual([rate]);
    expect(draft.has(rateKey({ ...rate, values: { model: 'large', region: 'eu' } }))).toBe(true);
  });

  it('leaves out what is no rate', () => {
    for (const text of [
      '{',
      '3',
      '[1]',
      '[{"product":"p"}]',
      '[{"product":"p","values":{},"type":"FLAT","price":"x"}]',
    ]) {
      expect(draftIn(text).size).toBe(0);
    }
    expect(draftText(new Map())).toBe('');
  });

  it('is sent with exact numbers', () => {
    const sent = sentRate(rate, '2026-11-01T00:00:00Z');
    expect(sent).toMatchObject({ product_id: 'p', rate_type: 'TIERED', credit_type_id: 'c', entitled: true });
    expect(sent.tiers?.map(({ price }) => String(price))).toEqual(['0.3', '0.2']);
  });
});

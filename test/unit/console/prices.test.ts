import { describe, expect, it } from 'vitest';
import type { Exact } from '../../../console/src/api/exact.ts';
import {
  type DraftRate,
  draftIn,
  draftText,
  placeOfKey,
  rateKey,
  sentRate,
} from '../../../console/src/pages/prices/price-draft.ts';
import {
  editedOf,
  rateOf,
  TYPES,
  withoutTier,
  withTier,
  withType,
} from '../../../console/src/pages/prices/rate-edit.ts';
import { rateText, sentAmount, shownAmount } from '../../../console/src/pages/prices/rate-text.ts';
import { RATE_TYPES } from '../../../src/billing/rate-cards/rate-terms.ts';
import { USD_CENTS } from '../../../src/core/credit-types.ts';

const CENTS = USD_CENTS;
const digits = (text: string) => text as Exact;

describe('prices in the console', () => {
  it('prices in the console are written tier by tier with all their digits', () => {
    const tiers = [
      { size: digits('1000'), price: digits('0.03') },
      { price: digits('0.0000000000000000000001') },
    ];
    expect(rateText({ rate_type: 'TIERED', tiers, credit_type: CENTS })).toBe(
      '$0.0003 up to 1,000, then $0.000000000000000000000001',
    );
    expect(rateText({ rate_type: 'PERCENTAGE', price: digits('0.125') })).toBe('12.5 %');
  });

  it('prices in the console are entered in dollars and sent in cents without a double in between', () => {
    for (const cents of ['0.1', '29', '0.000000000000000001', '123456789012345678901234.5']) {
      expect(sentAmount(shownAmount(digits(cents), CENTS), CENTS)?.toFixed()).toBe(cents);
    }
    expect(sentAmount('7', { id: 'x', name: 'Credits' })?.toFixed()).toBe('7');
    for (const wrong of ['', '-1', '1e3', '1,000', 'NaN', '.5']) expect(sentAmount(wrong, CENTS)).toBe(null);
  });
});

describe('a rate as a person writes it', () => {
  const credits = { id: 'x', name: 'Credits' };
  const units = { fiat: CENTS, unit: (id: string) => [CENTS, credits].find((each) => each.id === id) };
  const place = { product: 'p', values: { model: 'large' } };
  const rates: Readonly<Record<string, DraftRate>> = {
    flat: { ...place, entitled: true, type: 'FLAT', unit: 'c', price: '0.03' },
    'flat in a unit of the operator’s own': {
      ...place,
      entitled: false,
      type: 'FLAT',
      unit: 'x',
      price: '7',
    },
    tiered: {
      ...place,
      entitled: true,
      type: 'TIERED',
      unit: 'c',
      tiers: [
        { size: '1000', price: '3' },
        { size: '0.5', price: '0.000000000000000000001' },
        { price: '0' },
      ],
    },
    'a period': {
      ...place,
      frequency: 'QUARTERLY',
      entitled: true,
      type: 'SUBSCRIPTION',
      unit: 'c',
      price: '2500',
      quantity: '5',
      isProrated: true,
    },
    percentage: { ...place, entitled: true, type: 'PERCENTAGE', price: '0.125', minimum: '5000' },
    'percentage by tiers': {
      ...place,
      entitled: true,
      type: 'TIERED_PERCENTAGE',
      tiers: [{ size: '100000', price: '0.1' }, { price: '0.05' }],
    },
    'with the price of commits': {
      ...place,
      entitled: true,
      type: 'FLAT',
      unit: 'c',
      price: '1',
      commit: { type: 'TIERED', tiers: [{ size: '1', price: '2' }, { price: '1' }] },
    },
  };

  it.each(Object.entries(rates))('a rate as a person writes it is the same rate again: %s', (_name, rate) => {
    expect(rateOf(editedOf(rate, units), rate, units)).toEqual(rate);
    expect([...draftIn(draftText(new Map([[rateKey(rate), rate]]))).values()]).toEqual([rate]);
    expect(placeOfKey(rateKey(rate))).toEqual({
      product: 'p',
      values: place.values,
      ...(rate.frequency === undefined ? {} : { frequency: rate.frequency }),
    });
  });

  it('a rate as a person writes it gets tiers and loses them; the last tier has no end', () => {
    const flat = editedOf(rates.flat as DraftRate, units);
    const tiered = withTier(withType(flat, 'TIERED'));
    expect(tiered.tiers.map(({ size }) => size)).toEqual(['', '', '']);
    const filled = {
      ...tiered,
      tiers: tiered.tiers.map((tier, at) => ({ ...tier, size: at < 2 ? '10' : '' })),
    };
    expect(withoutTier(filled, 2).tiers.map(({ size }) => size)).toEqual(['10', '']);
    expect(withoutTier(filled, 0).tiers.map(({ size }) => size)).toEqual(['10', '']);
    expect(rateOf(withType(filled, 'FLAT'), place, units)).toEqual(rates.flat);
    expect(rateOf(tiered, place, units)).toBe('Each tier but the last holds a number of units above 0.');
  });

  it.each(['', '-1', '1e3', 'a'])('a rate as a person writes it is refused with the price %j', (price) => {
    const edited = { ...editedOf(rates.flat as DraftRate, units), tiers: [{ size: '', price }] };
    expect(rateOf(edited, place, units)).toMatch(/^A price is a number/);
  });

  it('a rate as a person writes it offers the types of rates that the API accepts for each type of product', () => {
    const ofProducts = Object.values(TYPES).flat();
    expect([...new Set(ofProducts)].sort()).toEqual(RATE_TYPES.filter((type) => type !== 'CUSTOM').sort());
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

  it('a draft of prices is the same from an address, whatever the order of group values', () => {
    const draft = draftIn(draftText(new Map([[rateKey(rate), rate]])));
    expect([...draft.values()]).toEqual([rate]);
    expect(draft.has(rateKey({ ...rate, values: { model: 'large', region: 'eu' } }))).toBe(true);
  });

  it('a draft of prices leaves out what is no rate', () => {
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

  it('a draft of prices is sent with exact numbers', () => {
    const sent = sentRate(rate, '2026-11-01T00:00:00Z');
    expect(sent).toMatchObject({ product_id: 'p', rate_type: 'TIERED', credit_type_id: 'c', entitled: true });
    expect(sent.tiers?.map(({ price }) => String(price))).toEqual(['0.3', '0.2']);
  });
});

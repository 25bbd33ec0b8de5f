/** The currencies of ISO 4217: their pricing units, and what their minor units are. */
import { describe, expect, test } from 'vitest';
import { FIAT_CREDIT_TYPES, isFiat, USD_CENTS } from '../../../src/core/credit-types.ts';
import {
  currencyOf,
  inMajorUnits,
  minorUnitPlaces,
  ofMinorUnits,
  roundToMinorUnit,
} from '../../../src/core/currencies.ts';
import { Decimal } from '../../../src/core/decimal.ts';
import { CURRENCY_CODES, minorUnitPlacesOfCode } from '../../../src/core/iso-4217.ts';

const CUSTOM = '0a3f1d6e-0000-4000-8000-000000000000';
const idOf = (code: string) => FIAT_CREDIT_TYPES.find(({ name }) => name === code)?.id ?? '';
const dec = (text: string) => new Decimal(text);

/** Every code that was ever offered. Amounts are stored in them, so none may go; new ones are added here. */
const OFFERED =
  `AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BOV BRL BSD BTN BWP BYN BZD
  CAD CDF CHE CHF CHW CLF CLP CNY COP COU CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD
  GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD
  LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR
  PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD
  TWD TZS UAH UGX USD USN UYI UYU UYW UZS VED VES VND VUV WST XAD XAF XCD XCG XOF XPF YER ZAR ZMW ZWG`.split(
    /\s+/,
  );

/** The minor units of ISO 4217 that do not have two places. */
const OTHER_MINOR_UNITS = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
} as const;

describe('the list', () => {
  test('the list of currencies has every currency that was ever offered', () =>
    expect(CURRENCY_CODES).toEqual(OFFERED));

  test('the list of currencies has one pricing unit for each, with a separate id, US cents first', () => {
    expect(FIAT_CREDIT_TYPES[0]).toEqual(USD_CENTS);
    expect(FIAT_CREDIT_TYPES.map(({ id }) => currencyOf(id)?.code).sort()).toEqual(OFFERED);
    expect(new Set(FIAT_CREDIT_TYPES.map(({ id }) => id)).size).toBe(OFFERED.length);
    expect(FIAT_CREDIT_TYPES.every(({ id }) => isFiat(id))).toBe(true);
  });

  test('the list of currencies keeps the ids that clients may hold', () => {
    expect(idOf('EUR')).toBe('58f0be15-cc47-4220-bdaf-072ab0e44f96');
    expect(idOf('GBP')).toBe('86173fc2-db21-5925-ae1f-a400feacd03e');
    expect(idOf('SGD')).toBe('bdcdd5e1-c96e-5622-bf99-dfa6cb173059');
    expect(FIAT_CREDIT_TYPES.slice(0, 4).map(({ name }) => name)).toEqual([
      'USD (cents)',
      'EUR',
      'GBP',
      'AUD',
    ]);
  });

  test('the list of currencies has the minor units of ISO 4217', () => {
    const places = new Map(
      Object.entries(OTHER_MINOR_UNITS).flatMap(([digits, codes]) =>
        codes.split(' ').map((code) => [code, Number(digits)] as const),
      ),
    );
    const expected = OFFERED.map((code) => [code, places.get(code) ?? 2]);
    expect(OFFERED.map((code) => [code, minorUnitPlacesOfCode(code)])).toEqual(expected);
  });

  test('the list of currencies has no currency for a custom unit', () => {
    expect(currencyOf(CUSTOM)).toBeNull();
    expect(isFiat(CUSTOM)).toBe(false);
    expect(minorUnitPlaces(CUSTOM)).toBe(0);
    expect(minorUnitPlacesOfCode('XXX')).toBeUndefined();
  });
});

describe('a stored amount', () => {
  test.each([
    // unit, stored, rounded, in minor units of the rounded one, in major units of the stored one
    ['USD (cents)', '1250.5', '1251', '1251', '12.505'],
    ['EUR', '12.505', '12.51', '1251', '12.505'],
    ['JPY', '1250.5', '1251', '1251', '1250.5'],
    ['KWD', '1.2505', '1.251', '1251', '1.2505'],
    ['CLF', '0.12505', '0.1251', '1251', '0.12505'],
    ['MGA', '-12.505', '-12.51', '-1251', '-12.505'],
  ])(
    'a stored amount of %s %s is rounded to %s, which is %s of the minor unit',
    (name, stored, rounded, minor, major) => {
      const id = idOf(name);
      const currency = currencyOf(id);
      const payable = roundToMinorUnit(dec(stored), id);
      expect(payable.toFixed()).toBe(rounded);
      expect(ofMinorUnits(dec(minor), id).toFixed()).toBe(rounded);
      expect(currency && inMajorUnits(dec(stored), currency).toFixed()).toBe(major);
    },
  );

  test.each([
    ['USD (cents)', '500'],
    ['EUR', '5'],
    ['JPY', '500'],
    ['KWD', '0.5'],
  ])('500 of the minor unit of %s are %s', (name, stored) => {
    expect(ofMinorUnits(dec('500'), idOf(name)).toFixed()).toBe(stored);
  });
});

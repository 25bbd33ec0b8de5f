import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonNumber, parseJson, parseLongJson, stringifyJson } from '../../../../src/api/base/json.ts';
import { decimal } from '../../../../src/core/decimal.ts';

describe('parseLongJson', () => {
  const outcomeOf = async (parse: () => unknown): Promise<unknown> => {
    try {
      return { value: await parse() };
    } catch (error) {
      return { message: (error as Error).message };
    }
  };

  it.each(['{"a":[1,0.10,"x"]}', '1e2', '{', `${'['.repeat(65)}${']'.repeat(65)}`, '"\\u0000"', '[1}'])(
    'parseLongJson reads and refuses %s as parseJson does',
    async (text) => {
      expect(await outcomeOf(() => parseLongJson(text))).toEqual(await outcomeOf(() => parseJson(text)));
    },
  );

  it('parseLongJson lets other work run between its steps', async () => {
    let turns = 0;
    const isDone = parseLongJson('[]').then(() => true);
    while (!(await Promise.race([isDone, nextTurn()]))) turns += 1;
    expect(turns).toBeGreaterThan(0);
  });
});

function nextTurn(): Promise<boolean> {
  return new Promise((resolve) => {
    setImmediate(() => resolve(false));
  });
}

describe('parseJson', () => {
  it.each([
    ['0', 0],
    ['-0.5', -0.5],
    ['123456789012345', 123456789012345],
    ['0.10', 0.1],
  ])('parseJson reads %s as a plain number', (text, value) => {
    expect(parseJson(text)).toBe(value);
  });

  it.each(['9007199254740993', '0.1234567890123456789', '1e2', '-1.5E-7', '0.00000000000000001'])(
    'parseJson keeps every digit of %s',
    (text) => {
      expect(parseJson(text)).toEqual(new JsonNumber(text));
    },
  );

  it('parseJson agrees with JSON.parse on everything that a double can hold', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (text) => {
        const plain = JSON.stringify(parseJson(text), (_key, value) =>
          value instanceof JsonNumber ? Number(value.text) : value,
        );
        expect(JSON.parse(plain)).toEqual(
          JSON.parse(text, (_key, value) => (Object.is(value, -0) ? 0 : value)),
        );
      }),
    );
  });

  it('parseJson reads a text in the same way, whether or not it has a number that needs care', () => {
    const json = fc.oneof(
      fc.json({ maxDepth: 4 }),
      fc.constantFrom('"[1e2"', '{"a":":123456789012345678"}', '-0'),
    );
    fc.assert(
      fc.property(json, fc.constantFrom('', ' ', '\n\t'), (text, space) => {
        const [read, number] = parseJson(`[${space}${text}${space},${space}1e2]`) as unknown[];
        expect(read).toEqual(parseJson(text));
        expect(number).toEqual(new JsonNumber('1e2'));
      }),
    );
  });

  it('parseJson takes the last of repeated keys, as JSON.parse does', () => {
    expect(parseJson('{"a":1,"a":2}')).toEqual({ a: 2 });
  });

  it('parseJson does not let __proto__ or constructor reach a prototype', () => {
    const value = parseJson('{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}');
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.hasOwn({}, 'admin') || 'admin' in {}).toBe(false);
  });

  it.each([
    ['{"a":1,}', /position 7/],
    ['{"a" 1}', /position 5/],
    ['[1', /position 2/],
    ['nope', /position 0/],
    ['{} {}', /position 3/],
    ['[01]', /position 2/],
    ['["\t"]', /position 2/],
  ])('parseJson refuses %s naming the position', (text, message) => {
    expect(() => parseJson(text)).toThrow(message);
  });

  it('parseJson refuses deep nesting without exhausting the stack, and is not fooled by brackets in strings', () => {
    expect(() => parseJson('['.repeat(1_000_000))).toThrow(/deeper than 64/);
    expect(parseJson(`"${'['.repeat(100)}\\"${'{'.repeat(100)}"`)).toHaveLength(201);
    expect(parseJson(`${'['.repeat(64)}${']'.repeat(64)}`)).toBeInstanceOf(Array);
  });

  it('parseJson refuses the character U+0000, which PostgreSQL cannot store, naming the field', () => {
    expect(() => parseJson('{"a":[{"b":"x\\u0000"}]}')).toThrow(
      'a[0].b: must not contain the character U+0000',
    );
    expect(() => parseJson('{"\\u0000":1}')).toThrow(/U\+0000/);
    expect(parseJson('"\\\\u0000"')).toBe('\\u0000');
  });
});

describe('stringifyJson', () => {
  it('stringifyJson writes decimals as number literals with all their digits and no exponent', () => {
    expect(stringifyJson({ total: decimal('123456789012345678901234567890.000000000001') })).toBe(
      '{"total":123456789012345678901234567890.000000000001}',
    );
    expect(stringifyJson([decimal('1e-30'), decimal('1e21'), decimal('-0')])).toBe(
      '[0.000000000000000000000000000001,1000000000000000000000,0]',
    );
  });

  it('stringifyJson writes back what was parsed, digit by digit', () => {
    const text = '{"a":9007199254740993,"b":[1,null,true,"é\\"\\n"],"c":{"d":1e2}}';
    expect(stringifyJson(parseJson(text))).toBe(text);
  });

  it('stringifyJson writes plain values as JSON.stringify does', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(stringifyJson(value)).toBe(JSON.stringify(value));
      }),
    );
  });

  it('stringifyJson leaves out undefined members', () => {
    expect(stringifyJson({ a: undefined, b: 1 })).toBe('{"b":1}');
  });

  it.each([
    [undefined],
    [Number.NaN],
    [Number.POSITIVE_INFINITY],
    [1n],
    [new Date(0)],
    [new Map()],
    [[undefined]],
  ])('stringifyJson refuses to write %s', (value) => {
    expect(() => stringifyJson(value)).toThrow(/not a JSON value/);
  });
});

it('half a surrogate pair is refused with the path of its field, a proper pair is kept', () => {
  expect(() => parseJson('{"a":["\\ud83d"]}')).toThrow('a[0]: must not contain half a surrogate pair');
  expect(() => parseJson('{"\\udc00":1}')).toThrow('must not contain half a surrogate pair');
  expect(parseJson('{"a":"\\ud83d\\ude00"}')).toEqual({ a: '😀' });
});

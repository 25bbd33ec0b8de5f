/** Functions of values of any type, of lists, and of JSON in text. */
import { type ScalarFunction, scalar, special } from './scalar-function.ts';

const JSON_NOTE =
  'a member of the JSON object in the text: a number or text as a property is; NULL where there is none';

export const VALUE_FUNCTIONS: readonly ScalarFunction[] = [
  special('COALESCE', [2, 20], 'COALESCE(x, y, …)', 'COALESCE(properties.weight, 1)', {
    synonyms: ['IFNULL', 'NVL'],
  }),
  special('NULLIF', [2, 2], 'NULLIF(x, y)', "NULLIF(properties.user, '')"),
  special('IF', [3, 3], 'IF(condition, x, y)', 'IF(properties.tokens > 100, 1, 0)'),
  special(
    'MULTIIF',
    [3, 41],
    'multiIf(condition, x, …, else)',
    'multiIf(properties.a > 2, 2, properties.a > 1, 1, 0)',
  ),
  special('CAST', [1, 1], 'CAST(x AS type), x::type', 'properties.started::TIMESTAMP', {
    note: 'types: DECIMAL, DECIMAL(p, s), INTEGER, VARCHAR, TIMESTAMP; NULL where it is none',
  }),
  scalar(
    'HAS',
    'HAS(list, value)',
    "HAS(properties.tags, 'beta')",
    { takes: ['list', 'shown'], gives: 'boolean', sql: ([list = '', x = '']) => `has(${list}, ${x})` },
    { synonyms: ['ARRAY_CONTAINS', 'LIST_CONTAINS'], note: 'elements are compared as text' },
  ),
  special('ELEMENT', [2, 2], 'list[n]', 'properties.tags[1]', {
    synonyms: ['arrayElement'],
    note: 'the first one is 1, the last one -1; NULL where there is none',
  }),
  special(
    'JSON_EXTRACT',
    [2, 12],
    "text ->> 'member', JSONExtractString(text, 'member', …)",
    "properties.usage ->> 'tokens'",
    {
      synonyms: [
        'JSONExtract',
        'JSONExtractString',
        'JSONExtractInt',
        'JSONExtractUInt',
        'JSONExtractFloat',
        'JSONExtractBool',
        'JSONExtractRaw',
        'JSON_EXTRACT_SCALAR',
        'JSON_EXTRACT_STRING',
      ],
      note: JSON_NOTE,
    },
  ),
  special(
    'JSON_VALUE',
    [2, 2],
    "JSON_VALUE(text, '$.a.b')",
    "JSON_VALUE(properties.usage, '$.tokens.output')",
    {
      note: JSON_NOTE,
    },
  ),
];

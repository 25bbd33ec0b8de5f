/** Functions of text. Positions and lengths count characters; comparisons are by bytes. */
import { type ScalarFunction, scalar, special, wholeResult } from './scalar-function.ts';

const RE2 = 'the pattern stands in quotes and is matched in linear time (RE2, no look-around)';

export const TEXT_FUNCTIONS: readonly ScalarFunction[] = [
  scalar(
    'LOWER',
    'LOWER(text)',
    'LOWER(properties.model)',
    { takes: ['text'], gives: 'text', sql: ([x = '']) => `lowerUTF8(${x})` },
    { synonyms: ['lcase', 'lowerUTF8'] },
  ),
  scalar(
    'UPPER',
    'UPPER(text)',
    'UPPER(properties.region)',
    { takes: ['text'], gives: 'text', sql: ([x = '']) => `upperUTF8(${x})` },
    { synonyms: ['ucase', 'upperUTF8'] },
  ),
  scalar(
    'CONCAT',
    'CONCAT(x, y, …), x || y',
    "properties.region || '-' || properties.model",
    { takes: ['shown'], gives: 'text', sql: (args) => `concat(${args.join(', ')})` },
    { least: 2, most: 20, note: 'NULL where one of them is' },
  ),
  scalar(
    'SUBSTRING',
    'SUBSTRING(text, from[, length]), SUBSTRING(text FROM from FOR length)',
    'SUBSTRING(properties.sku, 1, 3)',
    { takes: ['text', 'whole', 'whole'], gives: 'text', sql: (args) => `substringUTF8(${args.join(', ')})` },
    { least: 2, synonyms: ['SUBSTR', 'MID', 'substringUTF8'] },
  ),
  special('LENGTH', [1, 1], 'LENGTH(text or list)', 'LENGTH(properties.prompt)', {
    synonyms: ['CHAR_LENGTH', 'CHARACTER_LENGTH', 'lengthUTF8', 'CARDINALITY', 'ARRAY_LENGTH'],
    note: 'characters of a text, elements of a list; a property whose text is a JSON list is a list',
  }),
  ...[
    ['TRIM', 'trimBoth', ['BTRIM']],
    ['LTRIM', 'trimLeft', ['trimLeft']],
    ['RTRIM', 'trimRight', ['trimRight']],
  ].map(([name, engine, synonyms]) =>
    scalar(
      String(name),
      `${String(name)}(text)`,
      `${String(name)}(properties.user)`,
      { takes: ['text'], gives: 'text', sql: ([x = '']) => `${String(engine)}(${x})` },
      { synonyms: Array.isArray(synonyms) ? synonyms : [], note: 'spaces' },
    ),
  ),
  scalar(
    'REPLACE',
    'REPLACE(text, from, to)',
    "REPLACE(properties.path, '/v1/', '/')",
    { takes: ['text', 'literal', 'literal'], gives: 'text', sql: (args) => `replaceAll(${args.join(', ')})` },
    { synonyms: ['replaceAll'], note: 'from and to stand in quotes' },
  ),
  scalar(
    'SPLIT_PART',
    'SPLIT_PART(text, separator, n)',
    "SPLIT_PART(properties.path, '/', 2)",
    {
      takes: ['text', 'literal', 'whole'],
      gives: 'text',
      // Without a value there are no parts.
      sql: ([text = '', separator = '', n = '']) =>
        `if(isNull(${text}) OR isNull(${n}) OR ifNull(${n}, 0) = 0, NULL, arrayElement(splitByString(${separator}, ifNull(${text}, '')), ifNull(${n}, 1)))`,
    },
    { note: 'the first part is 1, the last one -1; empty where there is none' },
  ),
  scalar(
    'STARTS_WITH',
    'STARTS_WITH(text, prefix)',
    "STARTS_WITH(properties.model, 'gpt')",
    { takes: ['text', 'text'], gives: 'boolean', sql: (args) => `startsWith(${args.join(', ')})` },
    { synonyms: ['startsWith'] },
  ),
  scalar(
    'ENDS_WITH',
    'ENDS_WITH(text, suffix)',
    "ENDS_WITH(properties.file, '.pdf')",
    { takes: ['text', 'text'], gives: 'boolean', sql: (args) => `endsWith(${args.join(', ')})` },
    { synonyms: ['endsWith'] },
  ),
  scalar(
    'POSITION',
    'POSITION(text, part), POSITION(part IN text)',
    "POSITION(properties.path, '/')",
    {
      takes: ['text', 'text'],
      gives: 'number',
      sql: (args) => wholeResult(`positionUTF8(${args.join(', ')})`),
    },
    { synonyms: ['STRPOS', 'INSTR', 'positionUTF8'], note: 'from 1; 0 where it is not in the text' },
  ),
  scalar('LEFT', 'LEFT(text, n)', 'LEFT(properties.sku, 3)', {
    takes: ['text', 'whole'],
    gives: 'text',
    sql: (args) => `leftUTF8(${args.join(', ')})`,
  }),
  scalar('RIGHT', 'RIGHT(text, n)', 'RIGHT(properties.sku, 3)', {
    takes: ['text', 'whole'],
    gives: 'text',
    sql: (args) => `rightUTF8(${args.join(', ')})`,
  }),
  scalar(
    'LIKE',
    "text [NOT] LIKE 'pattern'",
    "properties.model LIKE 'gpt-%'",
    { takes: ['text', 'like'], gives: 'boolean', sql: (args) => `like(${args.join(', ')})` },
    { note: '% is any text, _ any character, \\ takes the next one as it is' },
  ),
  scalar(
    'ILIKE',
    "text [NOT] ILIKE 'pattern'",
    "properties.model ILIKE 'GPT%'",
    { takes: ['text', 'like'], gives: 'boolean', sql: (args) => `ilike(${args.join(', ')})` },
    { note: 'without regard to case' },
  ),
  scalar(
    'REGEXP_MATCHES',
    "REGEXP_MATCHES(text, 'pattern')",
    "REGEXP_MATCHES(properties.model, '^gpt-[0-9]+')",
    { takes: ['text', 'pattern'], gives: 'boolean', sql: (args) => `match(${args.join(', ')})` },
    { synonyms: ['REGEXP_LIKE', 'match'], note: RE2 },
  ),
  scalar(
    'REGEXP_EXTRACT',
    "REGEXP_EXTRACT(text, 'pattern')",
    "REGEXP_EXTRACT(properties.path, '^/v([0-9]+)/')",
    {
      takes: ['text', 'pattern'],
      gives: 'property',
      sql: ([x = '', pattern = '']) => `if(match(${x}, ${pattern}), extract(${x}, ${pattern}), NULL)`,
    },
    {
      synonyms: ['REGEXP_SUBSTR'],
      note: `the first group in brackets, else the whole match; NULL without a match; ${RE2}`,
    },
  ),
  scalar(
    'REGEXP_REPLACE',
    "REGEXP_REPLACE(text, 'pattern', 'replacement')",
    "REGEXP_REPLACE(properties.path, '[0-9]+', 'N')",
    {
      takes: ['text', 'pattern', 'replacement'],
      gives: 'text',
      sql: (args) => `replaceRegexpAll(${args.join(', ')})`,
    },
    { synonyms: ['replaceRegexpAll'], note: `every match; \\1 is the first group; ${RE2}` },
  ),
];

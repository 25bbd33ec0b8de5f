import { describe, expect, test } from 'vitest';
import { isSingleStatement } from '../../../src/embedded/single-statement.ts';

describe('one statement', () => {
  test.each([
    'SELECT 1',
    "SELECT ';'",
    "SELECT 'it''s;', 'a\\';b'",
    'SELECT 1 -- one; two\n',
    'SELECT /* ; */ 1',
    "SELECT '-- ;' AS a",
    'SELECT "quoted", `name`',
    "SELECT 'never closed ;",
  ])('one statement is recognised: %j', (sql) => {
    expect(isSingleStatement(sql)).toBe(true);
  });

  test.each([
    'SELECT 1; SELECT 2',
    'SELECT 1;',
    "SELECT 'a'; DROP TABLE t",
    "SELECT 'a\\\\'; DROP TABLE t --'",
    "SELECT 'a''; '; DROP TABLE t",
    'SELECT 1 -- comment\n; DROP TABLE t',
    'SELECT /* /* */ 1; DROP TABLE t -- */',
    'SELECT "a;b"',
    'SELECT `a`; DROP TABLE t',
    'SELECT $tag$ ; $tag$',
    'SELECT ‘a’; DROP TABLE t',
    '# comment ;',
  ])('one statement is not claimed where there may be more: %j', (sql) => {
    expect(isSingleStatement(sql)).toBe(false);
  });
});

import { describe, expect, it } from 'vitest';
import { readTree, verifyTree } from '../../../../src/metering/sql/run/parse-tree.ts';

/** The tree that ClickHouse prints for `SELECT count() FROM usage_events WHERE customer_ref IN ['a']`. */
const ALLOWED = [
  'SelectWithUnionQuery (children 1)',
  ' ExpressionList (children 1)',
  '  SelectQuery (children 3)',
  '   ExpressionList (children 1)',
  '    Function count (alias g1) (children 1)',
  '     ExpressionList',
  '   TablesInSelectQuery (children 1)',
  '    TablesInSelectQueryElement (children 1)',
  '     TableExpression (children 1)',
  '      TableIdentifier usage_events',
  '   Function in (children 1)',
  '    ExpressionList (children 2)',
  '     Identifier customer_ref',
  "     Literal Array_['a']",
];

const replaced = (line: number, ...lines: string[]) => ALLOWED.toSpliced(line, 1, ...lines);

describe('a parse tree', () => {
  it('a parse tree of a statement that reads the events once passes', () => {
    expect(() => verifyTree(readTree(ALLOWED))).not.toThrow();
  });

  it.each([
    ['another table', replaced(9, '      TableIdentifier system.users'), 'the table system.users'],
    [
      'the events of another database',
      replaced(9, '      TableIdentifier other.usage_events'),
      'the table other.usage_events',
    ],
    [
      'no events',
      replaced(9, '      TableIdentifier system.one'),
      'reads the events 1 to 8 times, not 0 times',
    ],
    ['another condition first', replaced(12, '     Identifier event_type'), 'names their customer'],
    [
      'a table function',
      replaced(9, '      Function file (children 1)', '       ExpressionList'),
      'TableExpression holds Function',
    ],
    ['an unknown function', replaced(4, '    Function sleep (children 1)'), 'the function sleep'],
    [
      'all columns',
      replaced(5, '     ExpressionList (children 1)', '      Asterisk'),
      'Asterisk is not among the parts',
    ],
    ['an unknown node', replaced(5, '     Anything'), 'Anything is not among the parts'],
    ['settings', replaced(2, '  SelectQuery (children 4)').concat('   Set'), 'Set is not among the parts'],
    [
      'a second table',
      ALLOWED.toSpliced(6, 1, '   TablesInSelectQuery (children 2)').toSpliced(
        10,
        0,
        '    TablesInSelectQueryElement (children 2)',
        '     TableExpression (children 1)',
        '      TableIdentifier usage_events',
        '     TableJoin',
      ),
      'reads from SELECTs',
    ],
    ['another statement', ['DropQuery'], 'a statement is a SELECT, not DropQuery'],
  ])('a parse tree with %s is refused', (_, lines, message) => {
    expect(() => verifyTree(readTree(lines))).toThrow(message);
  });

  it('a parse tree that names no customer passes only where the rows of all are read', () => {
    const tree = readTree(replaced(12, '     Identifier event_type'));
    const tables = new Map([['usage_events', 'customer_ref']]);
    expect(() => verifyTree(tree, { tables, readsMin: 1, ofAllCustomers: true })).not.toThrow();
    expect(() => verifyTree(tree, { tables, readsMin: 1, ofAllCustomers: false })).toThrow(
      'names their customer',
    );
  });

  it.each([
    ['has no lines', []],
    ['has two roots', [...ALLOWED, 'SelectWithUnionQuery']],
    ['skips a level', ['SelectWithUnionQuery (children 1)', '  ExpressionList']],
    ['lacks a part that it announces', ALLOWED.slice(0, -1)],
    ['has a part that it does not announce', [...ALLOWED, '      TableIdentifier usage_events']],
    ['is none', ['1 + 1']],
  ])('a parse tree that %s is not read', (_, lines) => {
    expect(() => readTree(lines)).toThrow('assertion failed');
  });

  it('a parse tree keeps literals apart from structure', () => {
    const literal = "    Literal 'x\\n      TableIdentifier system.users (children 1) (alias y)' (alias z)";
    const tree = readTree(replaced(4, literal).toSpliced(5, 1));
    expect(() => verifyTree(tree)).not.toThrow();
  });
});

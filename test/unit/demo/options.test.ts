import { describe, expect, it } from 'vitest';
import { parseOptions } from '../../../src/demo/options.ts';

describe('options of the demo', () => {
  it('default to a server of its own, 500,000 events and 20 customers', () => {
    expect(parseOptions([])).toEqual({
      server: null,
      traceFile: null,
      events: 500_000,
      customers: 20,
      keep: false,
    });
  });

  it('take a running server with its token, a trace and sizes', () => {
    const args = [
      '--url',
      'http://127.0.0.1:3000',
      '--token',
      't',
      '--trace',
      'a.csv',
      '--events',
      '5',
      '--keep',
    ];
    expect(parseOptions(args)).toMatchObject({
      server: { url: new URL('http://127.0.0.1:3000'), token: 't' },
      traceFile: 'a.csv',
      events: 5,
      keep: true,
    });
  });

  it('show the help', () => {
    expect(parseOptions(['--help'])).toBe('help');
  });

  it.each([
    [['--url', 'http://127.0.0.1:3000'], '--url needs --token'],
    [['--token', 't'], '--token goes with --url'],
    [['--url', '127.0.0.1:3000', '--token', 't'], '--url must be an http or https address'],
    [['--url', 'ftp://x', '--token', 't'], '--url must be an http or https address'],
    [['--events', '0'], '--events must be a whole number from 1'],
    [['--events', '1e6'], '--events must be a whole number from 1'],
    [['--customers', '501'], '--customers must be a whole number from 1 to 500'],
    [['--evnets', '5'], '--evnets'],
    [['file.csv'], 'file.csv'],
  ])('%j is refused, naming the option', (args, message) => {
    expect(() => parseOptions(args)).toThrow(message);
  });
});

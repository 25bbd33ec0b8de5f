import { describe, expect, it } from 'vitest';
import { BackfillFailure, EXIT } from '../../../../../src/app/commands/backfill/failure.ts';
import { parseOptions } from '../../../../../src/app/commands/backfill/options.ts';

describe('the arguments of a backfill', () => {
  it('are a file and options in any order', () => {
    const plain = { format: null, mapping: null, delimiter: null, reportFile: null, restart: false };
    expect(parseOptions(['events.gz'])).toEqual({ ...plain, source: 'events.gz' });
    expect(
      parseOptions([
        '--restart',
        '--skip-invalid',
        'report',
        'events',
        '--format',
        'csv',
        '--delimiter',
        'tab',
      ]),
    ).toEqual({
      ...plain,
      source: 'events',
      format: 'csv',
      delimiter: '\t',
      reportFile: 'report',
      restart: true,
    });
    expect(parseOptions(['--help'])).toBe('help');
  });

  it.each([
    [[], 'SOURCE is missing'],
    [['a', 'b'], 'there can be one SOURCE only'],
    [['a', '--skip-invalid', ''], '--skip-invalid needs the name of a file'],
    [['a', '--force'], "Unknown option '--force'"],
  ])('%j is refused, saying why', (args, problem) => {
    const refusal = expect.objectContaining({
      message: expect.stringContaining(problem),
      exitCode: EXIT.usage,
    });
    expect(() => parseOptions(args)).toThrow(refusal);
    expect(() => parseOptions(args)).toThrow(BackfillFailure);
  });
});

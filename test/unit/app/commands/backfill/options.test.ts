import { describe, expect, it } from 'vitest';
import { BackfillFailure, EXIT } from '../../../../../src/app/commands/backfill/failure.ts';
import { parseOptions } from '../../../../../src/app/commands/backfill/options.ts';

describe('the arguments of a backfill', () => {
  it('are a file and options in any order', () => {
    expect(parseOptions(['events.gz'])).toEqual({ file: 'events.gz', reportFile: null, restart: false });
    expect(parseOptions(['--restart', '--skip-invalid', 'report', 'events'])).toEqual({
      file: 'events',
      reportFile: 'report',
      restart: true,
    });
    expect(parseOptions(['--help'])).toBe('help');
  });

  it.each([
    [[], 'FILE is missing'],
    [['a', 'b'], 'there can be one FILE only'],
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

import { describe, expect, it } from 'vitest';
import { createTerminal, type Output } from '../../../../../src/app/commands/terminal/terminal.ts';

function headingOn(output: Omit<Output, 'write'>): string {
  let written = '';
  createTerminal({ ...output, write: (text: string) => (written += text) }).heading('Usage');
  return written;
}

describe('a heading', () => {
  it('a heading is bold on a terminal with colours', () => {
    expect(headingOn({ isTTY: true, hasColors: () => true })).toBe('\n\u001b[1mUsage\u001b[22m\n');
  });

  it.each<[string, Omit<Output, 'write'>]>([
    ['a terminal without colours', { isTTY: true, hasColors: () => false }],
    ['a terminal that does not say', { isTTY: true }],
    ['a pipe or a file', { hasColors: () => true }],
  ])('a heading is plain on %s', (_what, output) => {
    expect(headingOn(output)).toBe('\nUsage\n');
  });
});

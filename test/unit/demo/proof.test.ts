import { describe, expect, it } from 'vitest';
import { createTerminal } from '../../../src/app/commands/terminal/terminal.ts';
import { decimal } from '../../../src/core/decimal.ts';
import { deliverySection, lineAgrees, type ProofLine } from '../../../src/demo/proof.ts';
import { printProof } from '../../../src/demo/report.ts';

function print(lines: readonly ProofLine[]) {
  let written = '';
  const terminal = createTerminal({
    write: (text: string) => {
      written += text;
    },
  });
  const agrees = printProof(terminal, [{ title: 'Tokens', own: null, lines }]);
  return { agrees, written };
}

const part = (name: string, expected: string, actual: string) => ({
  name,
  expected: decimal(expected),
  actual: decimal(actual),
});

describe('the proof', () => {
  it('the proof agrees only to the last digit', () => {
    const line = (actual: string): ProofLine => ({
      source: 'invoice',
      kind: 'quantity',
      parts: [part('a', '9007199254740993.10', actual)],
    });
    expect(lineAgrees(line('9007199254740993.1'))).toBe(true);
    expect(lineAgrees(line('9007199254740993.100000000000000000000000000001'))).toBe(false);
  });

  it('the proof is not fooled by errors of two customers that cancel out, and names both', () => {
    const { agrees, written } = print([
      { source: 'invoices', kind: 'quantity', parts: [part('Ann', '10', '11'), part('Ben', '10', '9')] },
    ]);
    expect(agrees).toBe(false);
    expect(written).toContain('20  ✗');
    expect(written).toContain('Ann: expected 10, got 11');
    expect(written).toContain('Ben: expected 10, got 9');
  });

  it('the proof prints a check mark after figures that agree', () => {
    const { agrees, written } = print([
      { source: 'invoices', kind: 'money', parts: [part('Ann', '1250', '1250.0')] },
    ]);
    expect(agrees).toBe(true);
    expect(written).toContain('invoices  $12.50  ✓');
  });

  it('the proof notices an event that was accepted twice', () => {
    const report = { events: 100, repeatedEvents: 50, accepted: 101, duplicates: 49, retries: 0 };
    const [accepted, dropped] = deliverySection(report).lines;
    expect([accepted, dropped].map((line) => line !== undefined && lineAgrees(line))).toEqual([false, false]);
  });
});

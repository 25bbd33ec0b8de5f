import { describe, expect, it } from 'vitest';
import { createProgress, type Step } from '../../../../../src/app/commands/terminal/progress.ts';
import { createTerminal } from '../../../../../src/app/commands/terminal/terminal.ts';

const EVENTS: Step = { unit: 'events', total: 1000 };

/** A progress on a clock that the test moves, and what it has written. */
function recorded(step: Step, isTTY: boolean) {
  const clock = { ms: 0 };
  let written = '';
  const terminal = createTerminal({ isTTY, write: (text: string) => (written += text) });
  return { clock, progress: createProgress(terminal, step, () => clock.ms), written: () => written };
}

describe('progress on a terminal', () => {
  it('progress on a terminal is a bar redrawn in place, with rate and remaining time', () => {
    const { clock, progress, written } = recorded(EVENTS, true);
    clock.ms = 1000;
    progress.advance(250);
    expect(written()).toBe(
      `\r\u001b[2K  ${'█'.repeat(8)}${'░'.repeat(22)}  25 %  250 of 1,000 events  250/s  ETA 3.0 s`,
    );
    clock.ms = 2000;
    progress.advance(750);
    expect(progress.finish()).toBe(2);
    expect(written()).toMatch(/█{30} 100 % {2}1,000 of 1,000 events {2}500\/s {2}in 2\.0 s\n$/);
  });

  it('progress on a terminal is drawn ten times a second at most', () => {
    const { clock, progress, written } = recorded(EVENTS, true);
    for (clock.ms = 0; clock.ms < 1000; clock.ms += 10) progress.advance(1);
    expect(written().split('\r')).toHaveLength(11);
  });

  it('progress on a terminal of an unknown number of units follows the fraction that it is given', () => {
    const { clock, progress, written } = recorded({ unit: 'lines', total: null, fromFraction: 0.5 }, true);
    clock.ms = 1000;
    progress.advance(40, 0.6);
    expect(written()).toContain(' 60 %  40 lines  40.0/s  ETA 4.0 s');
  });

  it('progress on a terminal that ends early leaves the bar as it is, and the next text on a separate line', () => {
    const { progress, written } = recorded(EVENTS, true);
    progress.end();
    expect(written()).toBe('');
    progress.advance(250);
    progress.end();
    progress.end();
    expect(written()).toMatch(/ 25 % .*[^\n]\n$/);
  });
});

describe('progress where nothing can be redrawn', () => {
  it('progress where nothing can be redrawn is a plain line every ten seconds, and one at the end', () => {
    const { clock, progress, written } = recorded(EVENTS, false);
    for (let second = 1; second <= 25; second++) {
      clock.ms = second * 1000;
      progress.advance(40);
    }
    progress.finish();
    expect(written()).toBe(
      [
        '   40 %  400 of 1,000 events  40.0/s  ETA 15 s',
        '   80 %  800 of 1,000 events  40.0/s  ETA 5.0 s',
        '  100 %  1,000 of 1,000 events  40.0/s  in 25 s',
        '',
      ].join('\n'),
    );
  });
});

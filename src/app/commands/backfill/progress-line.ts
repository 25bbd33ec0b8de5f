/** Shows how far a backfill is: a bar that is redrawn on a terminal, a line now and then elsewhere. */
import { formatCount, formatSeconds } from '../../../demo/number-format.ts';
import type { Terminal } from '../../../demo/terminal.ts';

export interface ProgressLine {
  /** `lines` of this run are done, and this part of the file, from 0 to 1. */
  show(lines: number, fraction: number): void;
  /** Ends the bar, so that the next text begins on a line of its own. */
  end(): void;
}

const BAR_WIDTH = 30;
const REDRAW_EVERY_MS = 100;
const LINE_EVERY_MS = 10_000;

/** `fromFraction` of the file was done before this run. `nowMs` is any clock that only moves forward. */
export function createProgressLine(
  terminal: Terminal,
  fromFraction: number,
  nowMs: () => number = () => performance.now(),
): ProgressLine {
  const startedMs = nowMs();
  let shownMs = terminal.interactive ? Number.NEGATIVE_INFINITY : startedMs;
  let isDrawn = false;
  return {
    show(lines, fraction) {
      const now = nowMs();
      if (now - shownMs < (terminal.interactive ? REDRAW_EVERY_MS : LINE_EVERY_MS)) return;
      shownMs = now;
      const text = statusText(lines, fraction, fromFraction, Math.max((now - startedMs) / 1000, 1e-3));
      if (terminal.interactive) terminal.redraw(`  ${bar(fraction)} ${text}`);
      else terminal.line(`  ${text}`);
      isDrawn = terminal.interactive;
    },
    end() {
      if (isDrawn) terminal.line();
      isDrawn = false;
    },
  };
}

function bar(fraction: number): string {
  const filled = Math.round(fraction * BAR_WIDTH);
  return `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)}`;
}

function statusText(lines: number, fraction: number, fromFraction: number, seconds: number): string {
  const done = fraction - fromFraction;
  const rest = done > 0 ? formatSeconds(((1 - fraction) / done) * seconds) : '?';
  const percent = String(Math.floor(fraction * 100)).padStart(3);
  return `${percent} %  ${formatCount(lines)} lines  ${formatCount(lines / seconds)}/s  ETA ${rest}`;
}

/**
 * Progress of a long step: a bar with rate and remaining time on a terminal, a line for every tenth
 * elsewhere. Drawing never slows the work: at most ten times a second.
 */
import { formatCount, formatSeconds } from './number-format.ts';
import type { Terminal } from './terminal.ts';

export interface Progress {
  /** Reports that `count` more units are done. */
  advance(count: number): void;
  /** Draws the final state and returns the seconds that the step took. */
  finish(): number;
}

const BAR_WIDTH = 30;
const REDRAW_EVERY_MS = 100;
const STEPS_WITHOUT_TERMINAL = 10;

/** `nowMs` is any clock that only moves forward. */
export function createProgress(
  terminal: Terminal,
  unit: string,
  total: number,
  nowMs: () => number = () => performance.now(),
): Progress {
  const startedMs = nowMs();
  let done = 0;
  let drawnMs = Number.NEGATIVE_INFINITY;
  let stepsWritten = 0;

  const status = () => {
    const seconds = Math.max((nowMs() - startedMs) / 1000, 1e-3);
    return { seconds, text: statusText(unit, done, total, seconds) };
  };
  return {
    advance: (count) => {
      done += count;
      if (terminal.interactive) {
        if (nowMs() - drawnMs < REDRAW_EVERY_MS) return;
        drawnMs = nowMs();
        terminal.redraw(`  ${bar(done / total)} ${status().text}`);
        return;
      }
      const step = Math.floor((done / total) * STEPS_WITHOUT_TERMINAL);
      if (step <= stepsWritten || step >= STEPS_WITHOUT_TERMINAL) return;
      stepsWritten = step;
      terminal.line(`  ${status().text}`);
    },
    finish: () => {
      const { seconds, text } = status();
      if (terminal.interactive) terminal.redraw(`  ${bar(1)} ${text}\n`);
      else terminal.line(`  ${text}`);
      return seconds;
    },
  };
}

function bar(fraction: number): string {
  const filled = Math.round(Math.min(1, fraction) * BAR_WIDTH);
  return `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)}`;
}

function statusText(unit: string, done: number, total: number, seconds: number): string {
  const perSecond = done / seconds;
  const percent = Math.floor((done / total) * 100);
  const ending =
    done >= total
      ? `in ${formatSeconds(seconds)}`
      : `ETA ${done === 0 ? '?' : formatSeconds((total - done) / perSecond)}`;
  return `${String(percent).padStart(3)} %  ${formatCount(done)} of ${formatCount(total)} ${unit}  ${formatRate(perSecond)}/s  ${ending}`;
}

function formatRate(perSecond: number): string {
  return perSecond < 100 ? perSecond.toFixed(1) : formatCount(perSecond);
}

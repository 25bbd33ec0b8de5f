/**
 * Progress of a long step: a bar with rate and remaining time on a terminal, a few lines
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
/** Lines written where nothing can be redrawn: one for each tenth of a long step, each quarter of a short one. */
const STEPS_LONG = 10;
const STEPS_SHORT = 4;
const LONG_FROM = 1_000;

/** `nowMs` is any clock that only moves forward. */
export function createProgress(
  terminal: Terminal,
  unit: string,
  total: number,
  nowMs: () => number = () => performance.now(),
): Progress {
  const startedMs = nowMs();
  const steps = total >= LONG_FROM ? STEPS_LONG : STEPS_SHORT;
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
      const step = Math.floor((done / total) * steps);
      if (step <= stepsWritten || step >= steps) return;
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

/**
 * Progress of a long step: a bar with rate and remaining time on a terminal, a line every ten seconds elsewhere.
 * Drawing never slows the work: at most ten times a second.
 */
import { formatCount, formatSeconds } from './number-format.ts';
import type { Terminal } from './terminal.ts';

export interface Step {
  /** The word for the counted things, such as `events`. */
  readonly unit: string;
  /** The total; null if unknown, then every advance reports the fraction. */
  readonly total: number | null;
  /** The fraction that was done before this step began. */
  readonly fromFraction?: number;
}

export interface Progress {
  /** Reports that `count` more units are done; `fraction`, from 0 to 1, is the share of the whole done so far. */
  advance(count: number, fraction?: number): void;
  /** Ends the bar at its current state, so that the next text begins on a new line. */
  end(): void;
  /** Shows the step as done and returns its duration in seconds. */
  finish(): number;
}

const BAR_WIDTH = 30;
const REDRAW_EVERY_MS = 100;
const LINE_EVERY_MS = 10_000;

/** `nowMs` is any monotonic clock. */
export function createProgress(
  terminal: Terminal,
  { unit, total, fromFraction = 0 }: Step,
  nowMs: () => number = () => performance.now(),
): Progress {
  const startedMs = nowMs();
  let shownMs = terminal.interactive ? Number.NEGATIVE_INFINITY : startedMs;
  let done = 0;
  let isDrawn = false;

  const secondsSinceStart = () => Math.max((nowMs() - startedMs) / 1000, 1e-3);
  const show = (fraction: number, seconds: number, ending: string) => {
    const counted = total === null ? formatCount(done) : `${formatCount(done)} of ${formatCount(total)}`;
    const percent = String(Math.floor(fraction * 100)).padStart(3);
    const text = `${percent} %  ${counted} ${unit}  ${formatRate(done / seconds)}/s  ${ending}`;
    if (terminal.interactive) terminal.redraw(`  ${bar(fraction)} ${text}`);
    else terminal.line(`  ${text}`);
    isDrawn = terminal.interactive;
  };
  const end = () => {
    if (isDrawn) terminal.line();
    isDrawn = false;
  };
  return {
    advance(count, fraction = total === null ? fromFraction : (done + count) / total) {
      done += count;
      if (nowMs() - shownMs < (terminal.interactive ? REDRAW_EVERY_MS : LINE_EVERY_MS)) return;
      shownMs = nowMs();
      const seconds = secondsSinceStart();
      const reached = fraction - fromFraction;
      const rest = reached > 0 ? formatSeconds(((1 - fraction) / reached) * seconds) : '?';
      show(fraction, seconds, `ETA ${rest}`);
    },
    end,
    finish() {
      const seconds = secondsSinceStart();
      show(1, seconds, `in ${formatSeconds(seconds)}`);
      end();
      return seconds;
    },
  };
}

function bar(fraction: number): string {
  const filled = Math.round(Math.min(1, fraction) * BAR_WIDTH);
  return `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)}`;
}

function formatRate(perSecond: number): string {
  return perSecond < 100 ? perSecond.toFixed(1) : formatCount(perSecond);
}

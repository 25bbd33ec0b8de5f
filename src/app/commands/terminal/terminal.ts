/**
 * The output of commands: lines, a few styles if the output supports colours, and one line that is redrawn in place.
 */
import { styleText } from 'node:util';

/** The part of a writable stream, or of a terminal, that is used. */
export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
  /** False also if the environment disables colours, for example by NO_COLOR. */
  hasColors?(): boolean;
}

export interface Terminal {
  /** False for a pipe or a file: nothing can be redrawn there. */
  readonly interactive: boolean;
  readonly columns: number;
  line(text?: string): void;
  heading(text: string): void;
  /** Replaces the current line; only for interactive terminals. */
  redraw(text: string): void;
  bold(text: string): string;
  dim(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  red(text: string): string;
}

const COLUMNS_DEFAULT = 100;

export function createTerminal(output: Output): Terminal {
  const interactive = output.isTTY === true;
  const colours = interactive && output.hasColors?.() === true;
  // The colours of this output are known, so Node need not check the process's own.
  const styled = (style: 'bold' | 'dim' | 'green' | 'red' | 'yellow') => (text: string) =>
    colours ? styleText(style, text, { validateStream: false }) : text;
  const bold = styled('bold');
  return {
    interactive,
    columns: output.columns ?? COLUMNS_DEFAULT,
    line: (text = '') => {
      output.write(`${text}\n`);
    },
    heading: (text) => {
      output.write(`\n${bold(text)}\n`);
    },
    redraw: (text) => {
      output.write(`\r\u001b[2K${text}`);
    },
    bold,
    dim: styled('dim'),
    green: styled('green'),
    yellow: styled('yellow'),
    red: styled('red'),
  };
}

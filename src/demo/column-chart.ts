/** A small column chart of block characters, two characters a column. Heights are approximate, for display only. */

const ROWS = 6;
const EIGHTHS = ['', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const AXIS_WIDTH = 9;

/** Lines of the chart: the highest value labels the axis, `labels` stand under the columns where they fit. */
export function columnChartLines(values: readonly number[], labels: readonly string[]): string[] {
  const top = Math.max(...values, 0);
  const lines: string[] = [];
  for (let row = ROWS - 1; row >= 0; row--) {
    const axis = row === ROWS - 1 ? formatShort(top) : row === 0 ? '0' : '';
    const cells = values.map((value) => cell(value, top, row)).join('');
    lines.push(`${axis.padStart(AXIS_WIDTH)} ┤${cells}`.trimEnd());
  }
  lines.push(`${' '.repeat(AXIS_WIDTH)} └${'──'.repeat(values.length)}`);
  lines.push(`${' '.repeat(AXIS_WIDTH + 2)}${labelLine(labels)}`.trimEnd());
  return lines;
}

function cell(value: number, top: number, row: number): string {
  if (value <= 0 || top <= 0) return '  ';
  // The smallest bar is one eighth high: a column with any usage must not look empty.
  const eighths = Math.max(1, Math.round((value / top) * ROWS * 8));
  const block = EIGHTHS[Math.min(8, Math.max(0, eighths - row * 8))] ?? '';
  return block === '' ? '  ' : `${block}${block}`;
}

/** Puts each label under its column and leaves out those that would touch the one before. */
function labelLine(labels: readonly string[]): string {
  let line = '';
  labels.forEach((label, index) => {
    const column = index * 2;
    if (label === '' || (line !== '' && line.length >= column)) return;
    line = line.padEnd(column) + label;
  });
  return line;
}

/** `12.3 M`: three significant digits for the axis of a chart. */
export function formatShort(value: number): string {
  const units = [
    { size: 1e12, letter: ' T' },
    { size: 1e9, letter: ' G' },
    { size: 1e6, letter: ' M' },
    { size: 1e3, letter: ' k' },
  ];
  const unit = units.find(({ size }) => value >= size);
  if (unit === undefined) return String(Number(value.toPrecision(3)));
  return `${Number((value / unit.size).toPrecision(3))}${unit.letter}`;
}

/** A plain text table: columns as wide as their widest cell, numbers to the right. */

export interface Column {
  readonly title: string;
  readonly align: 'left' | 'right';
}

const GAP = '  ';
const INDENT = '  ';

/** Lines of the table: titles, a rule, the rows, and after another rule the `footer` rows. */
export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  footer: readonly (readonly string[])[] = [],
): string[] {
  const all = [columns.map((column) => column.title), ...rows, ...footer];
  const widths = columns.map((_, index) => Math.max(...all.map((cells) => (cells[index] ?? '').length)));
  const render = (cells: readonly string[]) =>
    INDENT +
    columns
      .map(({ align }, index) => {
        const cell = cells[index] ?? '';
        const width = widths[index] ?? 0;
        return align === 'right' ? cell.padStart(width) : cell.padEnd(width);
      })
      .join(GAP)
      .trimEnd();
  const rule = INDENT + widths.map((width) => '─'.repeat(width)).join('─'.repeat(GAP.length));
  const head = [render(columns.map((column) => column.title)), rule];
  const foot = footer.length === 0 ? [] : [rule, ...footer.map(render)];
  return [...head, ...rows.map(render), ...foot];
}

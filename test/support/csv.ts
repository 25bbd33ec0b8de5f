/** Reads CSV strictly as RFC 4180 has it: records end with CR LF, and cells with special characters are quoted. */

/** The cells of every record, the header included. Throws where the text is not CSV. */
export function parseCsv(text: string): string[][] {
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y;
  const records: string[][] = [];
  let record: string[] = [];
  while (cell.lastIndex < text.length) {
    const at = cell.lastIndex;
    const match = cell.exec(text);
    if (match === null) throw new Error(`not CSV from ${at} on: ${text.slice(at, at + 100)}`);
    const [, quoted, plain, end] = match;
    record.push(quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'));
    if (end === ',') continue;
    records.push(record);
    record = [];
  }
  if (record.length > 0) throw new Error('the last record has no end');
  return records;
}

/** The records by column. */
export function csvRows(text: unknown): Record<string, string>[] {
  const [header = [], ...rows] = parseCsv(String(text));
  return rows.map((row) => Object.fromEntries(header.map((name, index) => [name, row[index] ?? ''])));
}

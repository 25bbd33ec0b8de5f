/** A file with columns, and the conversion of its rows. */
import type { InputFile } from '../files/input-file.ts';
import type { EventWriter } from './event-of-row.ts';
import type { Position } from './line.ts';
import type { Mapping } from './mapping.ts';

export interface Table {
  readonly file: InputFile;
  readonly from: Position;
  readonly mapping: Mapping;
  readonly writer: EventWriter;
}

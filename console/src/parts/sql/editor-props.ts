import type { SqlNames } from './sql-names.ts';
import type { SqlPlace } from './sql-place.ts';

/** Of a field for SQL. */
export interface SqlEditorProps {
  readonly label: string;
  readonly value: string;
  readonly names: SqlNames;
  /** Where the service found something wrong. */
  readonly problem?: SqlPlace | null;
  onChange(text: string): void;
  /** Ctrl or Cmd with Enter. */
  onRun(): void;
}

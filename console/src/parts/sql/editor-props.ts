import type { SqlNames } from './sql-names.ts';
import type { SqlPlace } from './sql-place.ts';

/** The props of a field for SQL. */
export interface SqlEditorProps {
  readonly label: string;
  readonly value: string;
  readonly names: SqlNames;
  /** The place of a problem reported by the service. */
  readonly problem?: SqlPlace | null;
  onChange(text: string): void;
  /** Ctrl or Cmd with Enter. */
  onRun(): void;
}

/** The names that SQL may use, for clients that show them: functions, and the views of queries across customers. */
import { VIEW_NAMES, type ViewColumn, viewColumns } from '../../metering/sql/values/views.ts';

export { documentedFunctions as listSqlFunctions } from '../../metering/sql/functions/table.ts';

export interface SqlView {
  readonly name: string;
  readonly columns: ViewColumn[];
}

export function listSqlViews(): SqlView[] {
  return VIEW_NAMES.map((name) => ({ name, columns: [...viewColumns(name)] }));
}

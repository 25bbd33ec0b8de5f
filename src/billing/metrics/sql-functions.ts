/** The functions that a SQL metric may use, for whoever shows them. */
export { documentedFunctions as listSqlFunctions } from '../../metering/sql/functions/table.ts';

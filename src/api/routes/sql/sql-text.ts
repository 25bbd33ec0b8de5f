import { z } from 'zod';

/** As long as a SQL metric. */
const QUERY_LENGTH_MAX = 10_000;

/** The text of a query across customers. */
export const sqlText = z.string().min(1).max(QUERY_LENGTH_MAX);

/** The forms of an answer besides JSON, and which one a client asks for by its Accept header. */
import type { Context } from 'hono';
import { accepts } from 'hono/accepts';
import { CSV, CSV_TYPE } from './csv.ts';
import type { RouteDefinition } from './route.ts';

export const PARQUET_TYPE = 'application/vnd.apache.parquet';
const JSON_TYPE = 'application/json';

/** A form that is written piece by piece, while it is sent. */
export interface StreamedForm {
  /** The Content-Type of the answer. */
  readonly mediaType: string;
  readonly run: NonNullable<RouteDefinition['csv'] | RouteDefinition['parquet']>['run'];
}

/** The form of `definition` that the client prefers to JSON; null: JSON, also where the header names other types only. */
export function streamedForm(
  { csv, parquet }: Pick<RouteDefinition, 'csv' | 'parquet'>,
  context: Context,
): StreamedForm | null {
  const forms = new Map<string, StreamedForm>();
  if (csv !== undefined) forms.set(CSV, { mediaType: CSV_TYPE, run: csv.run });
  if (parquet !== undefined) forms.set(PARQUET_TYPE, { mediaType: PARQUET_TYPE, run: parquet.run });
  if (forms.size === 0) return null;
  const supports = [JSON_TYPE, ...forms.keys()];
  return forms.get(accepts(context, { header: 'Accept', supports, default: JSON_TYPE })) ?? null;
}

/** Identifies the stores whose backups are in a place. */
import { z } from 'zod';
import { jsonOrNull } from '../../core/json-or-null.ts';
import { CommandFailure } from '../failures/command-failure.ts';

const identitySchema = z.object({ format: z.literal(1), stores: z.string() });

export function identityText(stores: string): string {
  return JSON.stringify({ format: 1, stores });
}

/** Throws a `CommandFailure` if the place has backups of other stores. */
export function requireSameStores(
  text: string,
  stores: string,
  names: { readonly place: string; readonly file: string },
): void {
  const identity = identitySchema.safeParse(jsonOrNull(text));
  if (!identity.success) throw new CommandFailure(`${names.file} is damaged, or of a later version`);
  if (identity.data.stores !== stores)
    throw new CommandFailure(`${names.place} has the backups of other stores: name another place`);
}

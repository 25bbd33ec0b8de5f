/** Overrides inside JSON documents, which may be so many that they take long to parse. */
import { z } from 'zod';
import { freezeDeeply } from '../../core/freeze-deeply.ts';
import { mapInChunks } from '../../core/in-chunks.ts';
import { type Override, override } from '../../core/terms/overrides.ts';

const list = z.array(z.unknown());

/**
 * The overrides of a member of a document, immutable. Throws for anything but a list of overrides. Other work runs
 * between parts of many.
 */
export async function storedOverrides(member: unknown): Promise<readonly Override[]> {
  return Object.freeze(await mapInChunks(list.parse(member), (one) => freezeDeeply(override.parse(one))));
}

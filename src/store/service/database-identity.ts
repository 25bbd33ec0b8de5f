/** Identifies this database: the same for all connections to it, different for a copy or a restored one. */
import { createHash } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Database } from '../base/database.ts';

const identityRow = z.object({ cluster: z.string(), database: z.string() });
const CHARACTERS = 16;

/** Null: the server does not provide it. The identifier of the cluster itself stays here. */
export async function databaseIdentity(db: Database): Promise<string | null> {
  try {
    const [row] = await db.execute(
      sql`select c.system_identifier::text as cluster, d.oid::text as database
          from pg_control_system() c, pg_database d where d.datname = current_database()`,
    );
    const { cluster, database } = identityRow.parse(row);
    return createHash('sha256').update(`${cluster}/${database}`).digest('hex').slice(0, CHARACTERS);
  } catch {
    // A server may deny its users the function.
    return null;
  }
}

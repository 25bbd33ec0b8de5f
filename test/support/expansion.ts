/** Which statements of a migration do more than add something (docs/explanation/upgrades.md, "Without a gap"). */

const ADDS = [
  /^create (unlogged )?table (if not exists )?\S+/,
  /^create index (if not exists )?\S+/,
  /^create (materialized |or replace )?view (if not exists )?\S+/,
  /^create (sequence|type|function|dictionary) /,
  /^comment on /,
  /^alter table \S+( on cluster \S+)? add column /,
  /^alter table \S+( on cluster \S+)? add (index|projection|constraint \S+ foreign key) /,
];

/** Statements that a version before could notice. ClickHouse and Drizzle separate theirs in different ways. */
export function beyondExpansion(text: string): string[] {
  const created = new Set(
    [...text.matchAll(/create table (\S+)/gi)].map(([, table]) => table?.toLowerCase()),
  );
  return text
    .split(/--> statement-breakpoint|;\s*$/m)
    .map((statement) =>
      statement
        .replace(/^--.*$/gm, '')
        .replace(/\$\{\w+\}/g, '')
        .trim(),
    )
    .filter(
      (statement) => statement !== '' && !addsOnly(statement.toLowerCase().replace(/\s+/g, ' '), created),
    );
}

function addsOnly(statement: string, created: ReadonlySet<string | undefined>): boolean {
  // Rows of a table that no version knows yet.
  if (created.has(/^insert into (\S+)/.exec(statement)?.[1])) return true;
  if (/\badd column\b/.test(statement) && /\bnot null\b/.test(statement) && !/\bdefault\b/.test(statement))
    return false;
  return ADDS.some((form) => form.test(statement)) && !/,\s*(drop|rename|alter|modify)\b/.test(statement);
}

/** Named definitions of a statement. A name is unique in the statement; equal expressions of one SELECT share a name. */

export interface NameSource {
  /** A name that is unique in the statement. */
  fresh(hint: string): string;
}

/** `count` names are already in use. */
export function createNames(count = 0): NameSource & { count(): number } {
  let taken = count;
  return {
    count: () => taken,
    fresh: (hint) => {
      taken += 1;
      return `${hint}${taken}`;
    },
  };
}

/** The WITH clause of one SELECT. */
export interface Definitions {
  /** Names `sql` (with a fresh name by default), so that it can be used several times and is written once. */
  readonly define: (sql: string, name?: string) => string;
  readonly names: NameSource;
  /** Whether `sql` is the name of a column. A name defined here is not one: ClickHouse repeats its expression. */
  readonly isColumn: (sql: string) => boolean;
  /** `expression AS name`, in an order in which each depends only on earlier ones. */
  readonly list: () => readonly string[];
}

const NAME = /^[a-z_]+\d*$/;

export function createDefinitions(names: NameSource): Definitions {
  const list: string[] = [];
  const given = new Set<string>();
  const known = new Map<string, string>();
  return {
    names,
    isColumn: (sql) => NAME.test(sql) && !given.has(sql),
    define: (sql, ownName) => {
      if (NAME.test(sql)) return sql;
      const existing = known.get(sql);
      if (existing !== undefined) return existing;
      const name = ownName ?? names.fresh('d');
      list.push(`${sql} AS ${name}`);
      known.set(sql, name);
      given.add(name);
      return name;
    },
    list: () => list,
  };
}

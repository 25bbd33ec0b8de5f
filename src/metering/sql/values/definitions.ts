/** Named definitions of a statement. A name is unique in the statement; equal expressions of one SELECT share a name. */

export interface NameSource {
  /** A name that nothing else in the statement has. */
  fresh(hint: string): string;
}

/** `count` names are taken already. */
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
  /** Gives `sql` a name (a fresh one), so that it can be used several times and is written once. */
  readonly define: (sql: string, name?: string) => string;
  readonly names: NameSource;
  /** Whether `sql` is the name of a column. A name given here is none: ClickHouse repeats what it stands for. */
  readonly isColumn: (sql: string) => boolean;
  /** `expression AS name`, in an order in which each builds on those before. */
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

/** Names for what a statement computes: every name once in the whole statement, every text once per SELECT. */

export interface NameSource {
  /** A name that nothing else in the statement has. */
  fresh(hint: string): string;
}

export function createNames(): NameSource {
  let count = 0;
  return {
    fresh: (hint) => {
      count += 1;
      return `${hint}${count}`;
    },
  };
}

/** The WITH clause of one SELECT. */
export interface Definitions {
  /** Gives `sql` a name (a fresh one), so that it can be used several times and is written once. */
  readonly define: (sql: string, name?: string) => string;
  readonly names: NameSource;
  /** `expression AS name`, in an order in which each builds on those before. */
  readonly list: () => readonly string[];
}

const NAME = /^[a-z_]+\d*$/;

export function createDefinitions(names: NameSource): Definitions {
  const list: string[] = [];
  const known = new Map<string, string>();
  return {
    names,
    define: (sql, ownName) => {
      if (NAME.test(sql)) return sql;
      const existing = known.get(sql);
      if (existing !== undefined) return existing;
      const name = ownName ?? names.fresh('d');
      list.push(`${sql} AS ${name}`);
      known.set(sql, name);
      return name;
    },
    list: () => list,
  };
}

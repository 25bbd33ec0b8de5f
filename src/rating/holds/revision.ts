/**
 * Revisions of a large value of which only the newest is needed, such as thousands of holds: a change takes the time of
 * the change alone. The newest revision has the value; an earlier one knows the way back, and takes the value over when
 * it is read. So every revision reads as if it had a copy.
 */

export interface Change<Value> {
  /** Must be undone by `revert`. */
  apply(value: Value): void;
  revert(value: Value): void;
}

interface Way<Value> {
  readonly to: Revision<Value>;
  /** From this revision to the one that the way leads to. */
  readonly change: Change<Value>;
}

export class Revision<Value> {
  private value: Value | null;
  private way: Way<Value> | null = null;

  constructor(value: Value) {
    this.value = value;
  }

  /** The value as of this revision, until another revision is read. */
  read(): Value {
    if (this.way === null) return this.value as Value;
    const behind: Revision<Value>[] = [];
    let newest: Revision<Value> = this;
    for (; newest.way !== null; newest = newest.way.to) behind.push(newest);
    for (const one of behind.reverse()) one.takeOver();
    return this.value as Value;
  }

  /** The next revision. */
  changed(change: Change<Value>): Revision<Value> {
    const value = this.read();
    change.apply(value);
    const next = new Revision(value);
    this.value = null;
    this.way = { to: next, change };
    return next;
  }

  private takeOver(): void {
    const { way } = this;
    if (way === null) return;
    const { to, change } = way;
    const value = to.value as Value;
    change.revert(value);
    to.value = null;
    to.way = { to: this, change: { apply: change.revert, revert: change.apply } };
    this.value = value;
    this.way = null;
  }
}

/** The families in memory, by customer and by the ids and ingest aliases of their events. */
import { hashText } from '../../core/byte-hash.ts';
import type { HoldFamily } from './hold-family.ts';

/** A customer found by id or ingest alias. */
export interface NamedFamily {
  readonly customerId: string;
  readonly family: HoldFamily;
}

/** The limit of families in memory. The oldest without holds are evicted first. */
const FAMILIES_MAX = 20_000;

export class KnownFamilies {
  /** By id of a customer. */
  readonly #families = new Map<string, HoldFamily>();
  /** By id or ingest alias. */
  readonly #names = new Map<string, NamedFamily>();
  /** By hash of a name: the number of names. */
  readonly #owners = new Map<number, number>();

  of(customerId: string): HoldFamily | null {
    return this.#families.get(customerId) ?? null;
  }

  named(ref: string): NamedFamily | null {
    return this.#names.get(ref) ?? null;
  }

  hasNames(): boolean {
    return this.#names.size > 0;
  }

  /** Whether a name may have this hash. */
  isOwner(hash: number): boolean {
    return this.#owners.has(hash);
  }

  all(): Set<HoldFamily> {
    return new Set(this.#families.values());
  }

  /** Whether the evaluation adds names to the family. */
  hasNewNames(family: HoldFamily, customerOf: ReadonlyMap<string, string>): boolean {
    return [...customerOf].some(([ref, id]) => {
      const known = this.#names.get(ref);
      return known?.customerId !== id || known.family !== family;
    });
  }

  /** Registers the family under its present names, and evicts another family that had one of its customers. */
  remember(family: HoldFamily): void {
    const { customerIds, customerOf } = family.evaluated;
    for (const id of customerIds) {
      const other = this.#families.get(id);
      if (other !== undefined && other !== family) this.forget(other);
    }
    for (const ref of family.names) this.#unname(ref);
    family.names = [...customerOf.keys()];
    for (const [ref, customerId] of customerOf) {
      this.#unname(ref);
      this.#names.set(ref, { customerId, family });
      const hash = hashText(ref);
      this.#owners.set(hash, (this.#owners.get(hash) ?? 0) + 1);
    }
    for (const id of customerIds) this.#families.set(id, family);
  }

  forget(family: HoldFamily): void {
    family.send({ kind: 'overtaken' });
    for (const ref of family.names) if (this.#names.get(ref)?.family === family) this.#unname(ref);
    for (const id of family.evaluated.customerIds)
      if (this.#families.get(id) === family) this.#families.delete(id);
  }

  /** Evicts a family if the limit is reached. */
  makeRoom(isBusy: (family: HoldFamily) => boolean): void {
    for (const family of this.#families.values()) {
      if (this.#families.size < FAMILIES_MAX) return;
      if (family.active.size === 0 && !isBusy(family)) this.forget(family);
    }
  }

  #unname(ref: string): void {
    if (!this.#names.delete(ref)) return;
    const hash = hashText(ref);
    const count = (this.#owners.get(hash) ?? 1) - 1;
    if (count > 0) this.#owners.set(hash, count);
    else this.#owners.delete(hash);
  }
}

/**
 * A fair queue, round robin by owner (a tenant, for example): the owner who was served longest ago comes next, with
 * their oldest item. Knows nothing of the items.
 */

interface Waiting<T> {
  owner: string;
  item: T;
}

/** Owners whose last turn is remembered; older ones count as never served. */
const REMEMBERED = 1000;

export class FairQueue<T> {
  readonly #waiting: Waiting<T>[] = [];
  /** The number of each owner's last turn, oldest first. */
  readonly #served = new Map<string, number>();
  #turn = 0;

  get length(): number {
    return this.#waiting.length;
  }

  /** How many items of one owner wait. */
  lengthOf(owner: string): number {
    return this.#waiting.reduce((count, entry) => (entry.owner === owner ? count + 1 : count), 0);
  }

  /** Adds an item behind the others of its owner; with `again` in front of all. */
  add(owner: string, item: T, { again = false }: { again?: boolean } = {}): void {
    if (!again) this.#waiting.push({ owner, item });
    else {
      this.#waiting.unshift({ owner, item });
      this.#served.delete(owner);
    }
  }

  /** Removes and returns the next item that `suits`; undefined when there is none. */
  take(suits: (item: T) => boolean = () => true): T | undefined {
    let next: Waiting<T> | undefined;
    for (const entry of this.#waiting) {
      if (suits(entry.item) && (next === undefined || this.#servedAt(entry) < this.#servedAt(next))) next = entry;
    }
    if (next === undefined) return undefined;
    this.#waiting.splice(this.#waiting.indexOf(next), 1);
    this.#turn += 1;
    const { owner, item } = next;
    this.#served.delete(owner);
    this.#served.set(owner, this.#turn);
    if (this.#served.size > REMEMBERED) this.#served.delete(this.#served.keys().next().value ?? '');
    return item;
  }

  /** Removes an item that no longer waits. */
  remove(item: T): void {
    const at = this.#waiting.findIndex((entry) => entry.item === item);
    if (at >= 0) this.#waiting.splice(at, 1);
  }

  /** Removes and returns everything. */
  clear(): T[] {
    return this.#waiting.splice(0).map(({ item }) => item);
  }

  #servedAt({ owner }: Waiting<T>): number {
    return this.#served.get(owner) ?? 0;
  }
}

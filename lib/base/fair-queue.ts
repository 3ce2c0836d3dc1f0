/**
 * A fair queue: the owner who was served longest ago comes next, and of that owner the oldest item. Knows nothing of
 * what is waited for.
 */

interface Place<T> {
  whose: string;
  item: T;
}

/** Owners whose last turn is known; those before count as never served. */
const REMEMBERED = 1000;

export class FairQueue<T> {
  readonly #places: Place<T>[] = [];
  /** When each was served last, as a number that only grows; the one longest ago first. */
  readonly #served = new Map<string, number>();
  #turn = 0;

  get length(): number {
    return this.#places.length;
  }

  /** How many of one owner wait. */
  lengthOf(whose: string): number {
    return this.#places.reduce((count, place) => (place.whose === whose ? count + 1 : count), 0);
  }

  /** Puts something in, behind what its owner has there already, or with `again` before all of it. */
  add(whose: string, item: T, { again = false }: { again?: boolean } = {}): void {
    if (!again) this.#places.push({ whose, item });
    else {
      this.#places.unshift({ whose, item });
      this.#served.delete(whose);
    }
  }

  /** Takes the next one that suits out; undefined when there is none. */
  take(suits: (item: T) => boolean = () => true): T | undefined {
    let next: Place<T> | undefined;
    for (const place of this.#places) {
      if (suits(place.item) && (next === undefined || this.#servedAt(place) < this.#servedAt(next))) next = place;
    }
    if (next === undefined) return undefined;
    this.#places.splice(this.#places.indexOf(next), 1);
    this.#turn += 1;
    const { whose, item } = next;
    this.#served.delete(whose);
    this.#served.set(whose, this.#turn);
    if (this.#served.size > REMEMBERED) this.#served.delete(this.#served.keys().next().value ?? '');
    return item;
  }

  /** Takes one out that does not want to wait any longer. */
  remove(item: T): void {
    const at = this.#places.findIndex((place) => place.item === item);
    if (at >= 0) this.#places.splice(at, 1);
  }

  /** Takes everything out. */
  clear(): T[] {
    return this.#places.splice(0).map(({ item }) => item);
  }

  #servedAt({ whose }: Place<T>): number {
    return this.#served.get(whose) ?? 0;
  }
}

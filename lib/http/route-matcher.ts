/**
 * Finds the routes of a path: static segments before a parameter before a rest. Works on raw segments; decodes nothing.
 */

interface Node<T> {
  statics: Map<string, Node<T>>;
  parameter: Node<T> | null;
  rest: Node<T> | null;
  /** By method; empty where no route ends. */
  values: Map<string, T>;
}

export interface RouteMatch<T> {
  /** The routes of this path by method. */
  methods: ReadonlyMap<string, T>;
  /** Raw values of the parameters in the order of the pattern; those of a rest are its raw segments. */
  parameters: string[];
  rest: string[] | null;
}

/**
 * A table of patterns such as `/instances/:id/volumes/:volume/*`; `*` is only allowed last and takes one segment or
 * more.
 */
export class RouteMatcher<T> {
  readonly #root: Node<T> = node();

  /** Adds a pattern. Throws when the method has that pattern already. */
  add(method: string, pattern: string, value: T): void {
    let at = this.#root;
    for (const segment of pattern.split('/').slice(1)) {
      if (segment === '*') {
        at.rest ??= node();
        at = at.rest;
      } else if (segment.startsWith(':')) {
        at.parameter ??= node();
        at = at.parameter;
      } else {
        let next = at.statics.get(segment);
        if (next === undefined) {
          next = node();
          at.statics.set(segment, next);
        }
        at = next;
      }
    }
    if (at.values.has(method)) throw new Error(`${method} ${pattern} is in the table twice.`);
    at.values.set(method, value);
  }

  /** The patterns that match a path, the most specific first. */
  find(segments: readonly string[]): RouteMatch<T>[] {
    const found: RouteMatch<T>[] = [];
    walk(this.#root, segments, 0, [], found);
    return found;
  }
}

function node<T>(): Node<T> {
  return { statics: new Map(), parameter: null, rest: null, values: new Map() };
}

function walk<T>(
  at: Node<T>,
  segments: readonly string[],
  index: number,
  parameters: string[],
  found: RouteMatch<T>[],
): void {
  const segment = segments[index];
  if (segment === undefined) {
    if (at.values.size > 0) found.push({ methods: at.values, parameters, rest: null });
    return;
  }
  const fixed = at.statics.get(segment);
  if (fixed !== undefined) walk(fixed, segments, index + 1, parameters, found);
  if (at.parameter !== null && segment !== '') {
    walk(at.parameter, segments, index + 1, [...parameters, segment], found);
  }
  if (at.rest !== null) found.push({ methods: at.rest.values, parameters, rest: segments.slice(index) });
}

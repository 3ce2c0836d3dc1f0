/** Cycles among what depends on each other. Pure, and without recursion: a chain may be ten thousand long. */

interface Dependent {
  name: string;
  deps: readonly string[];
}

/** Cycles, each once and by its names in order; none that shares a name with an earlier one. */
export function cyclesOf(all: readonly Dependent[]): string[][] {
  const deps = new Map(all.map((one) => [one.name, one.deps]));
  const left = new Map<string, number>();
  const dependents = new Map<string, string[]>();
  for (const { name } of all) left.set(name, 0);
  for (const { name, deps: names } of all) {
    for (const dep of names) {
      if (!deps.has(dep)) continue;
      left.set(name, (left.get(name) ?? 0) + 1);
      const others = dependents.get(dep);
      if (others) others.push(name);
      else dependents.set(dep, [name]);
    }
  }
  /** Takes out what waits for nothing that is left. */
  const settle = (ready: string[]) => {
    for (let name = ready.pop(); name !== undefined; name = ready.pop()) {
      if (!left.delete(name)) continue;
      for (const other of dependents.get(name) ?? []) {
        const waits = left.get(other);
        if (waits === undefined) continue;
        left.set(other, waits - 1);
        if (waits === 1) ready.push(other);
      }
    }
  };
  settle([...left].filter(([, waits]) => waits === 0).map(([name]) => name));
  const cycles: string[][] = [];
  while (left.size > 0) {
    const path: string[] = [];
    const seen = new Map<string, number>();
    let at: string | undefined = left.keys().next().value;
    while (at !== undefined && !seen.has(at)) {
      seen.set(at, path.length);
      path.push(at);
      at = deps.get(at)?.find((dep) => left.has(dep));
    }
    const cycle = at === undefined ? path : path.slice(seen.get(at));
    cycles.push(cycle);
    settle(cycle.map((name) => name));
  }
  return cycles;
}

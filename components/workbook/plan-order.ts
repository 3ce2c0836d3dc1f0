/** The order in which the parts of a world may run. Pure. */
import type { PlanWorld } from '#lib/contract/schema.ts';

/**
 * Names of the components and nested worlds of a world: each after all that it depends on, else as in the source. What
 * is on a cycle comes last.
 */
export function sortedByDependency({ components, workflows, edges }: PlanWorld): string[] {
  const parts = [...components, ...workflows].sort((one, other) => one.line - other.line);
  const waitsFor = new Map(parts.map(({ name }) => [name, new Set<string>()]));
  const leadsTo = new Map<string, string[]>();
  for (const { from, to } of edges) {
    if (from === to || !waitsFor.has(from)) continue;
    waitsFor.get(to)?.add(from);
    leadsTo.set(from, [...(leadsTo.get(from) ?? []), to]);
  }
  const sorted: string[] = [];
  const place = (name: string): void => {
    sorted.push(name);
    waitsFor.delete(name);
    for (const next of leadsTo.get(name) ?? []) {
      const left = waitsFor.get(next);
      left?.delete(name);
    }
  };
  while (waitsFor.size > 0) {
    const ready = parts.find(({ name }) => waitsFor.get(name)?.size === 0);
    if (ready === undefined) return [...sorted, ...waitsFor.keys()];
    place(ready.name);
  }
  return sorted;
}

/** What changes for those who use a workbook when another version of it takes its place. Pure. */
import { componentsOfPlan } from './docked.ts';
import type { ComponentPort, PlanComponent, UpgradeChange, WorkbookPlan } from './types.ts';

/** All changes, by the paths of components: those of the old version in its order, then what is new. */
export function checkUpgrade(before: WorkbookPlan, after: WorkbookPlan): UpgradeChange[] {
  const now = new Map(componentsOfPlan(after).map((component) => [component.path, component]));
  const changes: UpgradeChange[] = [];
  const known = new Set<string>();
  for (const old of componentsOfPlan(before)) {
    known.add(old.path);
    const component = now.get(old.path);
    if (component === undefined) {
      const loss = old.persist ? ' Its state is kept and no longer used.' : '';
      changes.push({
        kind: 'removed_component',
        component: old.path,
        message: `“${old.path}” is removed.${loss}`,
        breaking: true,
      });
    } else changes.push(...changesOf(old, component));
  }
  for (const { path, uses } of now.values()) {
    if (known.has(path)) continue;
    const needs = uses.length === 0 ? '' : ` It uses ${uses.join(', ')}.`;
    changes.push({ kind: 'added_component', component: path, message: `“${path}” is new.${needs}`, breaking: false });
  }
  return changes;
}

function changesOf(old: PlanComponent, now: PlanComponent): UpgradeChange[] {
  const changes: UpgradeChange[] = [];
  const add = (kind: UpgradeChange['kind'], breaking: boolean, message: string) =>
    changes.push({ kind, component: now.path, message: `“${now.path}” ${message}`, breaking });
  for (const port of old.out) {
    const other = portOf(now.out, port);
    if (other === undefined) add('changed_output', true, `no longer gives “${port.name}”.`);
    else if (other.type !== port.type)
      add('changed_output', true, `gives “${port.name}” as ${other.type}, was ${port.type}.`);
  }
  for (const port of now.out)
    if (portOf(old.out, port) === undefined) add('changed_output', false, `also gives “${port.name}”.`);
  for (const port of now.in) {
    const other = portOf(old.in, port);
    if (other === undefined)
      add('changed_input', !port.optional, `${port.optional ? 'may take' : 'needs'} “${port.name}”.`);
    else if (other.type !== port.type)
      add('changed_input', true, `takes “${port.name}” as ${port.type}, was ${other.type}.`);
    else if (other.optional && !port.optional)
      add('changed_input', true, `needs “${port.name}”, which could be missing.`);
  }
  for (const port of old.in)
    if (portOf(now.in, port) === undefined) add('changed_input', false, `no longer takes “${port.name}”.`);
  for (const capability of now.uses)
    if (!old.uses.includes(capability)) add('new_capability', true, `uses ${capability}.`);
  if (old.persist && !now.persist) add('dropped_persist', true, 'no longer keeps its state.');
  if (old.lang !== now.lang || old.src !== now.src || old.file !== now.file)
    add('changed_code', false, old.lang === now.lang ? 'has other code.' : `is ${now.lang}, was ${old.lang}.`);
  return changes;
}

function portOf(ports: readonly ComponentPort[], { name }: ComponentPort): ComponentPort | undefined {
  return ports.find((port) => port.name === name);
}

/** A plan in words: each world with its components, what each takes, gives, uses and keeps. */
import { tookInWords } from '../ui/durations.ts';
import {
  type LastRun,
  type PlacedComponent,
  type PlacedWorld,
  type PlanDrawing,
  type PlanLinks,
  portInWords,
  scheduleInWords,
} from './plan-drawing.ts';

function wordsOf(component: PlacedComponent): string {
  const { lang, deps, uses, persist, schedule } = component;
  const ins = component.in.map(portInWords).join(', ');
  const outs = component.out.map(portInWords).join(', ');
  return [
    lang,
    deps.length === 0 ? '' : `after ${deps.join(', ')}`,
    ins === '' ? '' : `takes ${ins}`,
    outs === '' ? '' : `gives ${outs}`,
    uses.length === 0 ? '' : `uses ${uses.join(', ')}`,
    persist ? 'keeps its state' : '',
    schedule === null ? '' : `scheduled ${scheduleInWords(schedule)}`,
  ]
    .filter((part) => part !== '')
    .join('; ');
}

function Line({ component, run, links }: { component: PlacedComponent; run: LastRun | undefined; links: PlanLinks }) {
  const href = links.hrefOf(component);
  const name = <code className="text-[0.8125rem]">{component.path}</code>;
  return (
    <li>
      {href === null ? name : <a href={href}>{name}</a>}: {wordsOf(component)}
      {run !== undefined && (run.ok ? `; last took ${tookInWords(run.took_ms)}` : '; failed last')}
    </li>
  );
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

function worldInWords({ name, path, imports, exports, schedule, deps, depth }: PlacedWorld): string {
  return [
    depth === 0 ? `World ${name}` : `World ${name} in ${parentOf(path)}`,
    deps.length === 0 ? '' : `after ${deps.join(', ')}`,
    imports.length === 0 ? '' : `takes ${imports.map(portInWords).join(', ')}`,
    exports.length === 0 ? '' : `gives ${exports.map(portInWords).join(', ')}`,
    schedule === null ? '' : `scheduled ${scheduleInWords(schedule)}`,
  ]
    .filter((part) => part !== '')
    .join('; ');
}

export function PlanList({
  drawing: { listed, count },
  runs,
  links,
  open,
}: {
  drawing: Pick<PlanDrawing, 'listed' | 'count'>;
  runs: Readonly<Record<string, LastRun>>;
  links: PlanLinks;
  open: boolean;
}) {
  const { worlds, components } = listed;
  return (
    <details className="act mt-3" open={open}>
      <summary>In words</summary>
      <div className="mt-3 grid gap-3 text-small">
        {worlds.map((world) => {
          const own = components.filter(({ path }) => parentOf(path) === world.path);
          return (
            <div key={world.path}>
              <p className="font-[560] [overflow-wrap:anywhere]">{worldInWords(world)}</p>
              {own.length > 0 && (
                <ul className="mt-1 list-disc pl-5 [overflow-wrap:anywhere]">
                  {own.map((component) => (
                    <Line key={component.path} component={component} run={runs[component.path]} links={links} />
                  ))}
                </ul>
              )}
            </div>
          );
        })}
        {count > components.length && <p>and {(count - components.length).toLocaleString('en')} more</p>}
      </div>
    </details>
  );
}

/** The Workbook tab: the plan as a graph, what a newer version would change, and the form that runs it. */

import Link from 'next/link';
import type { MarkedCall } from '#components/calls/call-mark.ts';
import { WithCall } from '#components/calls/with-call.tsx';
import { DisabledAction } from '#components/ui/disabled-action.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import { ChooseWorkbook, UndockForm, UpgradeForm } from '#components/workbook/dock-forms.tsx';
import { PlanGraph } from '#components/workbook/plan-graph.tsx';
import { layoutPlan } from '#components/workbook/plan-layout.ts';
import { controlOf, fieldOf } from '#components/workbook/port-values.ts';
import { RunForm } from '#components/workbook/run-form.tsx';
import { UpgradeList } from '#components/workbook/upgrade-list.tsx';
import { workbookAddress } from '#components/workbook/workbook-address.ts';
import type { Caller } from '#lib/auth/caller.ts';
import { whyNot } from '#lib/contract/access.ts';
import type { ComponentPort, Instance } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { type SearchParams, singleValues } from '../../search-params.ts';
import { type Docked, portsOfTarget, type RunTarget, readDocked, readOffer, targetIn } from './docked-workbook.ts';
import { lastRunsOf } from './last-runs.ts';
import { wakeNote, whyUnusable } from './use-refusals.ts';
import { dockWorkbook, runTarget, upgradeWorkbook } from './workbook-actions.ts';

const CHOICES = 200;

/** The address of the tab with a component or world chosen. */
function runAddress(id: string, { kind, path }: RunTarget): string {
  return `/sandboxes/${id}?${new URLSearchParams({ tab: 'workbook', [kind]: path })}#run`;
}

async function NotDocked({ caller, instance }: { caller: Caller; instance: Instance }) {
  const { id, tenant, workbook } = instance;
  const refusal = whyNot(caller, 'patchInstance', { tenant });
  const { items } = await getHost().operations.listWorkbooks(caller, { tenant, limit: CHOICES });
  const choices = items.filter(({ components }) => components !== null);
  return (
    <PageSection id="dock" name="Dock it" note="A workbook says what a sandbox runs. It keeps its files.">
      {workbook !== null && (
        <p className="mb-4">
          Its workbook “{workbook}” is not known here: nothing of it can run. Dock it to one of these instead.
        </p>
      )}
      {refusal !== null ? (
        <DisabledAction id="dock" label="Dock it" whyNot={refusal} />
      ) : choices.length === 0 ? (
        <p className="text-ink-2">
          {tenant} has no workbook yet. <Link href={`/workbooks?tenant=${tenant}#new`}>Write one</Link>, or try an
          example there.
        </p>
      ) : (
        <WithCall name="patchInstance" path={{ id }} fields={{ workbook: 'text' }}>
          <ChooseWorkbook workbooks={choices} action={dockWorkbook.bind(null, id)} />
        </WithCall>
      )}
    </PageSection>
  );
}

async function Upgrade({ caller, instance, docked }: { caller: Caller; instance: Instance; docked: Docked }) {
  const offer = await readOffer(caller, docked);
  if (offer === null) return null;
  const { id, tenant, version } = docked.workbook;
  const refusal = whyNot(caller, 'patchInstance', { tenant });
  return (
    <PageSection
      id="upgrade"
      name="Upgrade"
      note={
        <>
          Version {version} is newer than version {docked.version}, which it runs.{' '}
          <Link
            href={workbookAddress(id, { tenant, from: docked.version, to: version, hash: 'versions' })}
            prefetch={false}
          >
            Compare them
          </Link>
        </>
      }
    >
      <div className="grid gap-4">
        <UpgradeList changes={offer.changes} />
        {refusal === null ? (
          <WithCall name="patchInstance" path={{ id: instance.id }} body={{ workbook: id, workbook_version: version }}>
            <UpgradeForm
              version={version}
              breaking={offer.breaking}
              action={upgradeWorkbook.bind(null, instance.id, id, version)}
            />
          </WithCall>
        ) : (
          <DisabledAction id="upgrade" label="Upgrade" whyNot={refusal} />
        )}
      </div>
    </PageSection>
  );
}

/** Links to what else could be run: each world, and from a component back to its workflow. */
function Targets({ id, docked, target }: { id: string; docked: Docked; target: RunTarget }) {
  const worlds = docked.plan.worlds.map(({ path }): RunTarget => ({ kind: 'world', path }));
  const others = worlds.filter(({ path }) => target.kind === 'component' || path !== target.path);
  if (others.length === 0) return null;
  return (
    <p className="text-small text-ink-2">
      Or run{' '}
      {others.map((other, index) => (
        <span key={other.path}>
          {index > 0 && ', '}
          <Link href={runAddress(id, other)} prefetch={false} scroll={false}>
            the whole workflow {other.path}
          </Link>
        </span>
      ))}
      .
    </p>
  );
}

const INPUT_KINDS = {
  text: 'text',
  number: 'number',
  integer: 'number',
  boolean: 'yes',
  json: 'json',
  base64: 'text',
} as const;

/** The call of a run, with what is typed for its ports. */
function runCall(id: string, { kind, path }: RunTarget, ports: readonly ComponentPort[]): MarkedCall {
  const fields = Object.fromEntries(
    ports.map((port) => [fieldOf(port), { to: port.name, in: 'input', kind: INPUT_KINDS[controlOf(port)] } as const]),
  );
  return kind === 'component'
    ? { name: 'callComponent', path: { id, component: path }, fields }
    : { name: 'callWorkflow', path: { id }, body: { world: path }, fields };
}

function Run({
  caller,
  instance,
  docked,
  target,
}: {
  caller: Caller;
  instance: Instance;
  docked: Docked;
  target: RunTarget;
}) {
  const { id, tenant } = instance;
  const { kind, path } = target;
  const refusal =
    whyNot(caller, kind === 'component' ? 'callComponent' : 'callWorkflow', { tenant }) ??
    whyUnusable('command', instance);
  const wakes = wakeNote('command', instance);
  const ports = portsOfTarget(docked.plan, target);
  return (
    <PageSection
      id="run"
      name="Run"
      note={kind === 'component' ? 'One component, by itself.' : 'All its components, each after what it depends on.'}
    >
      <div className="grid gap-4">
        <p className="[overflow-wrap:anywhere]">
          {kind === 'component' ? 'The component' : 'The workflow'} <code>{path}</code>.
          {wakes !== null && refusal === null && <span className="text-small text-ink-3"> {wakes}</span>}
        </p>
        {refusal === null ? (
          <WithCall {...runCall(id, target, ports)}>
            <RunForm
              key={`${kind} ${path}`}
              target={{ sandbox: id, kind, path }}
              ports={ports}
              action={runTarget.bind(null, id, kind, path)}
              button={kind === 'component' ? 'Run it' : 'Run all of it'}
            />
          </WithCall>
        ) : (
          <DisabledAction id="run" label="Run it" whyNot={refusal} />
        )}
        <Targets id={id} docked={docked} target={target} />
      </div>
    </PageSection>
  );
}

export async function WorkbookTab({
  caller,
  instance,
  search,
}: {
  caller: Caller;
  instance: Instance;
  search: SearchParams;
}) {
  const docked = await readDocked(caller, instance);
  if (docked === null) return <NotDocked caller={caller} instance={instance} />;
  const { id, tenant } = instance;
  const { workbook, version, plan } = docked;
  const target = targetIn(plan, singleValues(search));
  const runs = await lastRunsOf(caller, id);
  return (
    <>
      <PageSection
        id="plan"
        name="Plan"
        margin={false}
        note={
          <>
            <Link href={workbookAddress(workbook.id, { tenant, version })} prefetch={false}>
              {workbook.title ?? workbook.id}
            </Link>
            , version {version}. Choose a component to run it by itself.
          </>
        }
      >
        <PlanGraph
          drawing={layoutPlan(plan)}
          runs={runs}
          links={{
            hrefOf: ({ path }) => runAddress(id, { kind: 'component', path }),
            ...(target?.kind === 'component' ? { chosen: target.path } : {}),
          }}
        />
      </PageSection>
      <Upgrade caller={caller} instance={instance} docked={docked} />
      {target !== null && <Run caller={caller} instance={instance} docked={docked} target={target} />}
      <PageSection id="undock" name="Undock" note="Its files stay, and so does what its components kept.">
        {whyNot(caller, 'patchInstance', { tenant }) === null ? (
          <WithCall name="patchInstance" path={{ id }} body={{ workbook: null }}>
            <UndockForm action={dockWorkbook.bind(null, id)} />
          </WithCall>
        ) : (
          <DisabledAction id="undock" label="Undock" whyNot={whyNot(caller, 'patchInstance', { tenant }) ?? ''} />
        )}
      </PageSection>
    </>
  );
}

/**
 * The ways out of a fault, on the sandbox's own page: each with what it does, as a form, a link, or a disabled button
 * with the reason.
 */

import Link from 'next/link';
import type { ReactNode } from 'react';
import { callMark } from '#components/calls/call-mark.ts';
import { WithCall } from '#components/calls/with-call.tsx';
import { numberInWords } from '#components/sandbox/count-words.ts';
import { DisabledAction } from '#components/ui/disabled-action.tsx';
import { sizeInWords } from '#components/ui/durations.ts';
import { RetryForm } from '#components/ui/retry-form.tsx';
import { minuteMoment } from '#components/ui/zones.ts';
import type { Caller } from '#lib/auth/caller.ts';
import { whyNot } from '#lib/contract/access.ts';
import type { Instance, Snapshot } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { plan } from '#lib/lifecycle/plan.ts';
import { type BlockingFault, type WayOut, waysOf } from '#lib/lifecycle/ways-out.ts';
import { retryWake } from '../../retry.ts';
import { visitorZone } from '../../zone.ts';
import { restoreInPlace, resumeFromStored, salvage } from './repair-actions.ts';
import { FromStoredForm, RestoreForm, SalvageForm } from './repair-forms.tsx';

/** How many snapshots to choose from, newest first. */
const CHOICES = 20;

const TITLES: Readonly<Record<WayOut, { title: string; does: string }>> = {
  restore: {
    title: 'Restore a snapshot',
    does: 'The snapshot takes the place of its file. It keeps its id and settings; the file that is there now is kept aside on the server.',
  },
  salvage: {
    title: 'Salvage what is readable',
    does: 'Every file that can still be read goes into a new sandbox, and you are told which cannot. This one stays as it is.',
  },
  accept: {
    title: 'Try again',
    does: 'Opens the file as it is, by force. One whose structure is damaged is refused again, and nothing is lost.',
  },
  retry: { title: 'Try again', does: 'Clears the fault and wakes it. What failed may fail again; nothing is lost.' },
  return: {
    title: 'Try again',
    does: 'For a file that was put back in its place: looks for it again, and wakes it.',
  },
  raw: {
    title: 'Download the raw file',
    does: 'The file as it is, with private volumes and deleted data: for repair elsewhere.',
  },
  stored: {
    title: 'Take its file in the store',
    does: 'The last whole object of it becomes its file, and it wakes. What was written since is lost.',
  },
  delete: { title: 'Delete it', does: 'For good, without reading the file.' },
};

function RepairOption({ way, children }: { way: WayOut; children: ReactNode }) {
  const { title, does } = TITLES[way];
  return (
    <li className="grid gap-x-8 gap-y-2 border-t border-rule-2 py-3 last:pb-0 lg:grid-cols-[minmax(0,20rem)_minmax(0,1fr)]">
      <div>
        <h3 className="font-[560]">{title}</h3>
        <p className="text-small text-ink-2">{does}</p>
      </div>
      <div className="self-center">{children}</div>
    </li>
  );
}

function labelOf({ tag, created, bytes }: Snapshot, zone: string): string {
  return `${tag === null ? '' : `${tag}, `}${minuteMoment(created, zone)}, ${sizeInWords(bytes)}`;
}

async function RestoreControl({ instance, caller }: { instance: Instance; caller: Caller }) {
  const { id, tenant } = instance;
  const against = whyNot(caller, 'restoreInstance', { tenant });
  const { items } = await getHost().operations.listSnapshots(caller, { source: id, limit: CHOICES });
  const refusal = against ?? (items.length === 0 ? 'No snapshot was ever taken of it.' : null);
  if (refusal !== null) return <DisabledAction id="restore" label="Restore in place" whyNot={refusal} />;
  const zone = await visitorZone();
  const snapshots = items.map((snapshot) => ({ id: snapshot.id, label: labelOf(snapshot, zone) }));
  return (
    <WithCall name="restoreInstance" path={{ id }} fields={{ snapshot: 'text' }}>
      <RestoreForm action={restoreInPlace.bind(null, id)} name={instance.name ?? id} snapshots={snapshots} />
    </WithCall>
  );
}

function RetryControl({ instance, caller }: { instance: Instance; caller: Caller }) {
  const { id, state, tenant } = instance;
  const against = whyNot(caller, state === 'archived' ? 'revive' : 'resume', { tenant });
  if (against !== null) return <DisabledAction id="again" label="Try again with force" whyNot={against} />;
  if (state === 'archived') {
    return (
      <Link href={`/sandboxes/${id}#moves`} prefetch={false}>
        Revive it with force, and a reason
      </Link>
    );
  }
  return (
    <WithCall name="resumeInstance" path={{ id }} body={{ force: true }}>
      <RetryForm label="Try again with force" name={instance.name ?? id} action={retryWake.bind(null, id)} />
    </WithCall>
  );
}

function RepairControl({ way, instance, caller }: { way: WayOut; instance: Instance; caller: Caller }) {
  const { id, tenant, state } = instance;
  switch (way) {
    case 'restore':
      return <RestoreControl instance={instance} caller={caller} />;
    case 'stored': {
      const against = whyNot(caller, 'resume', { tenant });
      if (against !== null) return <DisabledAction id="stored" label="Take it from the store" whyNot={against} />;
      return (
        <WithCall name="resumeInstance" path={{ id }} body={{ from: 'stored' }} fields={{ reason: 'text' }}>
          <FromStoredForm action={resumeFromStored.bind(null, id)} name={instance.name ?? id} />
        </WithCall>
      );
    }
    case 'salvage': {
      const against = whyNot(caller, 'salvage', { tenant });
      if (against !== null) return <DisabledAction id="salvage" label="Salvage" whyNot={against} />;
      return (
        <WithCall name="salvageInstance" path={{ id }} fields={{ name: 'text' }}>
          <SalvageForm action={salvage.bind(null, id)} />
        </WithCall>
      );
    }
    case 'raw': {
      const against = whyNot(caller, 'raw', { tenant });
      if (against !== null) return <DisabledAction id="raw" label="Download" whyNot={against} />;
      return (
        <a
          href={`/api/instances/${id}/raw`}
          download
          className="button"
          {...callMark({ name: 'rawInstance', path: { id } })}
        >
          Download <span className="sr-only">the raw file</span>
        </a>
      );
    }
    case 'delete': {
      const against = whyNot(caller, 'runPlan', { tenant });
      if (against !== null) return <DisabledAction id="delete-it" label="Delete" whyNot={against} />;
      const steps = plan(state, 'deleted')?.length ?? 1;
      return (
        <Link href={`/sandboxes/${id}/plan?to=deleted`} prefetch={false}>
          Delete it in {numberInWords(steps)} {steps === 1 ? 'step' : 'steps'}
        </Link>
      );
    }
    default:
      return <RetryControl instance={instance} caller={caller} />;
  }
}

export function RepairOptions({
  fault,
  instance,
  caller,
}: {
  fault: BlockingFault;
  instance: Instance;
  caller: Caller;
}) {
  return (
    <section aria-labelledby="ways-out" className="mt-4">
      <h2 id="ways-out" className="part-name mb-2">
        Ways out
      </h2>
      <ul>
        {waysOf(fault, instance.stored !== null).map((way) => (
          <RepairOption key={way} way={way}>
            <RepairControl way={way} instance={instance} caller={caller} />
          </RepairOption>
        ))}
      </ul>
    </section>
  );
}

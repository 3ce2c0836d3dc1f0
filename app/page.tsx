/** The overview: how many are where, what is about to happen, what is wrong, what happened last. */
import Link from 'next/link';
import { RowClock } from '#components/idle-clock.tsx';
import { Ledger } from '#components/ledger.tsx';
import { Part } from '#components/part.tsx';
import { RetryForm } from '#components/retry-form.tsx';
import { StateDiagram } from '#components/state-diagram.tsx';
import { StateMark } from '#components/state-mark.tsx';
import { FAULT_MEANS, numberInWords } from '#components/state-words.ts';
import { WakePlot } from '#components/wake-plot.tsx';
import { mayDo } from '#lib/api/access.ts';
import type { Caller } from '#lib/api/operations.ts';
import type { Instance } from '#lib/api/schema.ts';
import { getHost } from '#lib/host.ts';
import type { State } from '#lib/lifecycle/states.ts';
import { blocks, FAULTS, type Fault } from '#lib/lifecycle/words.ts';
import { renderedAt, requireCaller } from './caller.ts';
import { retry } from './retry.ts';

export const dynamic = 'force-dynamic';
// The layout's template reaches pages below it, not the one beside it.
export const metadata = { title: { absolute: 'Overview · Winterdock' } };

const HOUR = 3600;
const DUE_SHOWN = 8;
const FAULTY_SHOWN = 5;
const LINES_SHOWN = 15;
const WAKE_DAYS = 30;

function figures(count: number): string {
  return count.toLocaleString('en');
}

/** The headline: what is awake, asleep and filed away, in words. */
function standing(states: Readonly<Record<State, number>>): string {
  const asleep = states.suspended + states.frozen;
  if (states.created + states.active + asleep + states.archived === 0) return 'The dock is empty.';
  const counts = [states.active, asleep, states.archived];
  // Words and figures do not mix in one sentence.
  const said = counts.map(counts.every((count) => numberInWords(count) !== null) ? numberInWords : figures);
  const words = [`${said[0]} awake`, `${said[1]} asleep`, `${said[2]} filed away`];
  const sentence = words.join(', ');
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`;
}

function SandboxLink({ instance }: { instance: Pick<Instance, 'id' | 'name'> }) {
  return (
    <Link href={`/sandboxes/${instance.id}`} prefetch={false} className="[overflow-wrap:anywhere]">
      {instance.name ?? <code className="text-[0.8125rem]">{instance.id}</code>}
    </Link>
  );
}

function Due({ instances, rendered }: { instances: Instance[]; rendered: number }) {
  if (instances.length === 0) return <p className="text-ink-2">Nothing moves by itself within the hour.</p>;
  return (
    <ul className="grid">
      {instances.map((instance) => (
        <li
          key={instance.id}
          className="flex items-baseline justify-between gap-4 border-b border-rule py-2 last:border-0"
        >
          <span className="flex min-w-0 items-baseline gap-2">
            <StateMark state={instance.state} size={14} className="translate-y-0.5 flex-none" />
            <SandboxLink instance={instance} />
          </span>
          <span className="text-small whitespace-nowrap">
            <RowClock instance={instance} rendered={rendered} />
          </span>
        </li>
      ))}
    </ul>
  );
}

/** The way out of a fault, where there is one from here: an archived sandbox needs a reason, which its own page asks for. */
function WayOut({ instance, caller }: { instance: Instance; caller: Caller }) {
  if (!mayDo(caller, 'resume', { tenant: instance.tenant })) return null;
  if (instance.state === 'archived') {
    return (
      <Link href={`/sandboxes/${instance.id}#moves`} prefetch={false} className="text-small">
        Revive it with force
      </Link>
    );
  }
  return (
    <RetryForm
      label={blocks(instance.fault) ? 'Try again with force' : 'Wake it'}
      name={instance.name ?? instance.id}
      action={retry.bind(null, instance.id)}
    />
  );
}

function Faults({
  counts,
  faulty,
  caller,
}: {
  counts: readonly [Fault, number][];
  faulty: readonly Instance[];
  caller: Caller;
}) {
  if (counts.length === 0) return <p className="text-ink-2">None. Every file is where its row says.</p>;
  return (
    <div className="grid gap-3">
      <p>
        {counts.map(([fault, count], index) => (
          <span key={fault}>
            {index > 0 && ', '}
            <Link href={`/sandboxes?fault=${fault}`} prefetch={false} title={FAULT_MEANS[fault]}>
              {count.toLocaleString('en')} {fault}
            </Link>
          </span>
        ))}
      </p>
      <ul className="grid">
        {faulty.map((instance) => (
          <li key={instance.id} className="border-b border-rule py-2 last:border-0">
            <p className="flex items-baseline gap-2">
              <StateMark
                state={instance.state}
                fault={instance.fault}
                size={14}
                className="translate-y-0.5 flex-none"
              />
              <SandboxLink instance={instance} />
              <span className="text-small text-ink-2">
                {instance.fault}, {instance.state}
              </span>
            </p>
            {instance.fault_reason !== null && (
              <p className="ml-[1.375rem] text-small text-ink-2 [overflow-wrap:anywhere]">{instance.fault_reason}</p>
            )}
            <div className="mt-1.5 ml-[1.375rem]">
              <WayOut instance={instance} caller={caller} />
            </div>
          </li>
        ))}
      </ul>
    </div>
  );
}

export default async function Overview() {
  const caller = await requireCaller('/');
  const { operations } = getHost();
  const [{ states, faults }, due, ledger, wakes] = await Promise.all([
    operations.counts(caller),
    operations.due(caller, HOUR, DUE_SHOWN),
    operations.events(caller, { limit: LINES_SHOWN }),
    mayDo(caller, 'wakeTimes') ? operations.wakeTimes(caller, { days: WAKE_DAYS }) : null,
  ]);
  const present = FAULTS.map((fault): [Fault, number] => [fault, faults[fault] ?? 0]).filter(([, count]) => count > 0);
  const faulty = (
    await Promise.all(
      present.map(([fault]) => operations.listInstances(caller, { fault, sort: 'updated', limit: FAULTY_SHOWN })),
    )
  )
    .flatMap(({ items }) => items)
    .slice(0, FAULTY_SHOWN);
  const rendered = renderedAt();
  const empty = Object.values(states).every((count) => count === 0);
  return (
    <>
      <h1 className="headline pt-8 pb-8 sm:pt-12">{standing(states)}</h1>
      <div className="pb-12">
        <StateDiagram counts={states} />
      </div>
      {empty ? (
        <Part id="begin" name="Begin">
          <p className="max-w-xl">
            No sandbox has been created yet.{' '}
            {mayDo(caller, 'createInstance') && (
              <>
                <Link href="/sandboxes#new" className="font-[520]">
                  Create the first one
                </Link>{' '}
                and run a command in it; a quarter of an hour after the last one it falls asleep by itself.
              </>
            )}
          </p>
        </Part>
      ) : (
        <div className="grid gap-x-16 lg:grid-cols-2">
          <Part id="due" name="Next hour" note="What the ladder does if nothing else happens" margin={false}>
            <Due instances={due} rendered={rendered} />
          </Part>
          <Part id="faults" name="Faults" note="What needs a person" margin={false}>
            <Faults counts={present} faulty={faulty} caller={caller} />
          </Part>
        </div>
      )}
      {wakes !== null && wakes.length > 0 && (
        <Part
          id="wakes"
          name="Wake times"
          note={`Of the last ${WAKE_DAYS} days, by where the file came from. The dot is the median, the bar ends at the 99th of a hundred.`}
        >
          <WakePlot times={wakes} />
        </Part>
      )}
      <Part id="ledger" name="Ledger" note="The last lines. Nothing in it is ever changed.">
        {ledger.items.length === 0 ? (
          <p className="text-ink-2">Nothing has happened yet.</p>
        ) : (
          <Ledger events={ledger.items} rendered={rendered} />
        )}
      </Part>
    </>
  );
}

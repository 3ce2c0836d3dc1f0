/** One sandbox: where it is and why, what happens next, what may be done, what is inside, and everything that happened to it. */
import type { Metadata } from 'next';
import Link from 'next/link';
import { notFound } from 'next/navigation';
import { cache } from 'react';
import { CopyId } from '#components/copy-id.tsx';
import { thresholdInWords } from '#components/durations.ts';
import { whyItIsHere } from '#components/event-words.ts';
import { StandingDetail } from '#components/headline.tsx';
import { Hold } from '#components/hold.tsx';
import { IdleClock } from '#components/idle-clock.tsx';
import { Ledger } from '#components/ledger.tsx';
import { Moves } from '#components/moves.tsx';
import { Part } from '#components/part.tsx';
import { SandboxDiagram } from '#components/state-diagram.tsx';
import { StateMark } from '#components/state-mark.tsx';
import { FAULT_MEANS, standing } from '#components/state-words.ts';
import { Terminal } from '#components/terminal.tsx';
import type { Event, Instance } from '#lib/api/schema.ts';
import { isWinterdockError } from '#lib/errors.ts';
import { getHost } from '#lib/host.ts';
import { blocks } from '#lib/lifecycle/words.ts';
import { currentCaller, renderedAt, requireCaller } from '../../caller.ts';
import { hold, move, run } from './actions.ts';
import { Inside } from './inside.tsx';
import { offersFor } from './offers.ts';
import { OnFile } from './on-file.tsx';
import { Tombstone } from './tombstone.tsx';

export const dynamic = 'force-dynamic';

const LINES_SHOWN = 30;

interface Props {
  params: Promise<{ id: string }>;
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

/** The sandbox; `gone` for a deleted one, null when there is none. Read once per request. */
const readSandbox = cache(async (id: string, path: string): Promise<Instance | 'gone' | null> => {
  const caller = await requireCaller(path);
  try {
    const instance = await getHost().operations.getInstance(caller, id);
    return instance.state === 'deleted' ? 'gone' : instance;
  } catch (error) {
    if (isWinterdockError(error) && error.code === 'gone') return 'gone';
    if (isWinterdockError(error) && (error.code === 'not_found' || error.code === 'validation')) return null;
    throw error;
  }
});

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { id } = await params;
  if ((await currentCaller()) === null) return { title: 'Sandbox' };
  const sandbox = await readSandbox(id, `/sandboxes/${id}`);
  if (sandbox === null) return { title: 'No such sandbox' };
  return { title: sandbox === 'gone' ? `${id}, deleted` : (sandbox.name ?? sandbox.id) };
}

/** Why no command can run in it now, or null. */
function whyNoCommands({ state, fault }: Instance): string | null {
  if (blocks(fault)) return 'Its fault stops every command: wake it with force first.';
  return state === 'archived' ? 'It is archived, and a command does not revive it: revive it first.' : null;
}

/** What running a command does besides, or null. */
function wakes({ state, pending }: Instance): string | null {
  if (state === 'active' || pending === 'resume') return null;
  return state === 'created'
    ? 'Running a command wakes it for the first time.'
    : `It is ${state}: running a command wakes it.`;
}

/** The line that put the sandbox where it is: its last transition, or for a new one its registration. */
function whyHere(instance: Instance, moves: readonly Event[], events: readonly Event[]): Event | undefined {
  return moves[0] ?? events.findLast((event) => event.to === instance.state);
}

function Title({ instance, rendered }: { instance: Instance; rendered: number }) {
  const labels = Object.entries(instance.labels);
  return (
    <header className="pt-6 pb-8 sm:pt-8">
      <nav aria-label="Where this is" className="mb-6 flex flex-wrap gap-x-2 text-small text-ink-3">
        <Link href="/sandboxes">Sandboxes</Link>
        <span aria-hidden="true">/</span>
        <Link href={`/sandboxes?tenant=${instance.tenant}`}>{instance.tenant}</Link>
        <span aria-hidden="true">/</span>
      </nav>
      <h1>
        <span className="block text-[1.125rem] font-[560] tracking-[-0.01em] [overflow-wrap:anywhere]">
          {instance.name ?? instance.id}
        </span>
        <span className="headline mt-1.5 block">
          <StateMark
            state={instance.state}
            fault={instance.fault}
            size={36}
            className="mr-3 inline-block h-[0.82em] w-[0.82em] align-[-0.07em]"
          />
          {standing(instance)}{' '}
          <span className="quiet">
            · <StandingDetail instance={instance} rendered={rendered} />
          </span>
        </span>
      </h1>
      <div className="mt-4 flex flex-wrap items-center gap-x-4 gap-y-2 text-small">
        <CopyId id={instance.id} />
        {labels.map(([key, value]) => (
          <Link
            key={key}
            href={`/sandboxes?label=${encodeURIComponent(`${key}:${value}`)}`}
            prefetch={false}
            className="pill hover:border-ink"
            title={`${key}: ${value}`}
          >
            {key}:{value}
          </Link>
        ))}
      </div>
    </header>
  );
}

function FaultNotice({ instance }: { instance: Instance }) {
  if (instance.fault === null) return null;
  return (
    <div className="mb-10 border-l-4 border-fault bg-fault-wash px-5 py-4" role="note">
      <p className="font-[560]">
        Fault: {instance.fault}
        {instance.fault_reason !== null && <span className="font-normal">. {instance.fault_reason}</span>}
      </p>
      <p className="mt-1 max-w-3xl text-ink-2">{FAULT_MEANS[instance.fault]}</p>
    </div>
  );
}

function Block({ id, name, children }: { id: string; name: string; children: React.ReactNode }) {
  return (
    <section aria-labelledby={`${id}-name`} className="border-t border-rule-2 py-4 first:border-ink">
      <h2 id={`${id}-name`} className="part-name mb-2">
        {name}
      </h2>
      {children}
    </section>
  );
}

export default async function Sandbox({ params, searchParams }: Props) {
  const { id } = await params;
  const caller = await requireCaller(`/sandboxes/${id}`);
  const instance = await readSandbox(id, `/sandboxes/${id}`);
  if (instance === null) notFound();
  if (instance === 'gone') return <Tombstone id={id} />;
  const { operations } = getHost();
  const [moves, events, settings, search] = await Promise.all([
    operations.instanceEvents(caller, id, { type: 'transition', limit: 1 }),
    operations.instanceEvents(caller, id, { limit: LINES_SHOWN }),
    operations.getSettings(caller),
    searchParams,
  ]);
  const rendered = renderedAt();
  const because = whyHere(instance, moves.items, events.items);
  const held = instance.hold_until !== null && instance.hold_until > rendered;
  const holdable = instance.next !== null || instance.keep_hot || held || instance.state === 'active';
  return (
    <>
      <Title instance={instance} rendered={rendered} />
      <FaultNotice instance={instance} />
      <div className="grid gap-x-16 gap-y-6 pb-12 lg:grid-cols-[23rem_minmax(0,1fr)]">
        <div className="lg:pt-1">
          <SandboxDiagram current={instance.state} />
        </div>
        <div>
          <Block id="why" name="Why it is here">
            <p className="max-w-2xl">
              {because === undefined ? 'It was registered, and nobody has woken it yet.' : whyItIsHere(because)}
            </p>
            {because?.reason != null && <p className="mt-1 max-w-2xl text-ink-2">“{because.reason}”</p>}
          </Block>
          <Block id="next" name="What happens next">
            <div className="flex flex-wrap items-start justify-between gap-x-10 gap-y-4">
              <IdleClock instance={instance} rendered={rendered} />
              {holdable && <Hold keepHot={instance.keep_hot} held={held} action={hold.bind(null, id)} />}
            </div>
          </Block>
          <Block id="moves" name="What may be done">
            <Moves id={id} offers={offersFor(instance)} action={move.bind(null, id)} />
          </Block>
        </div>
      </div>
      <Inside instance={instance} search={search} rendered={rendered} />
      <Part
        id="run"
        name="Run"
        note="A shell over the volumes. JavaScript and Python are in it where the policy allows."
      >
        <Terminal id={id} action={run.bind(null, id)} blocked={whyNoCommands(instance)} wakes={wakes(instance)} />
      </Part>
      <OnFile
        instance={instance}
        rendered={rendered}
        suspendAfter={thresholdInWords(instance.idle_to_suspend_s ?? settings.idle_to_suspend_s)}
        freezeAfter={thresholdInWords(instance.idle_to_freeze_s ?? settings.idle_to_freeze_s)}
      />
      <Part id="ledger" name="Ledger" note="What happened to it, newest first.">
        <Ledger events={events.items} rendered={rendered} showInstance={false} />
        {events.next !== null && (
          <p className="mt-3 text-small text-ink-3">
            The last {LINES_SHOWN} lines. Older ones: <code>GET /instances/{id}/events</code>
          </p>
        )}
      </Part>
    </>
  );
}

/**
 * The head of a sandbox's page: its name, its state with a running clock, why it is there, what happens next, what may
 * be done, and the states folded into a strip. It knows nothing of the tabs below it.
 */
import Link from 'next/link';
import type { ReactNode } from 'react';
import { WithCalls } from '#components/calls/with-call.tsx';
import { IdleClock } from '#components/figures/idle-clock.tsx';
import { NextSchedule } from '#components/figures/next-schedule.tsx';
import { RecoveryWords } from '#components/live/recovery-words.tsx';
import { LiveSandboxDiagram, LiveStateStrip } from '#components/live/sandbox-diagram.tsx';
import { FollowOperation, ProcessNote, TitleStatus } from '#components/live/sandbox-status.tsx';
import { Moves } from '#components/sandbox/moves.tsx';
import { TITLE } from '#components/sandbox/state-chip.tsx';
import { Breadcrumbs } from '#components/ui/breadcrumbs.tsx';
import { CopyId } from '#components/ui/copy-id.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { mayDo } from '#lib/contract/access.ts';
import type { Instance, PatchInput } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { moveSandbox, setHold } from './actions.ts';
import { whyNoCommands } from './command-refusal.ts';
import { HoldForm } from './hold-form.tsx';
import { WhyHere } from './last-transition.tsx';
import { moveOffers } from './move-offers.ts';
import { nextFirings } from './next-firings.ts';
import { readRevival } from './revival.ts';
import { tabAddress } from './tab-names.ts';

/** Few enough for one row. */
const LABELS_SHOWN = 4;
const HOUR = 3600;
/** Schedules that are looked at for the next one. */
const SCHEDULES = 200;

function Labels({ instance, list }: { instance: Instance; list: string }) {
  const labels = Object.entries(instance.labels);
  const more = labels.length - LABELS_SHOWN;
  return (
    <>
      {labels.slice(0, LABELS_SHOWN).map(([key, value]) => (
        <Link
          key={key}
          href={`${list}?label=${encodeURIComponent(`${key}:${value}`)}`}
          prefetch={false}
          className="pill max-w-52 hover:border-ink max-sm:hidden"
          title={`${key}: ${value}`}
        >
          {key}:{value}
        </Link>
      ))}
      {labels.length > 0 && (
        <Link
          href={tabAddress(instance.id, 'settings')}
          prefetch={false}
          className={`text-small ${more > 0 ? '' : 'sm:hidden'}`}
        >
          <span className="sm:hidden">
            {labels.length} {labels.length === 1 ? 'label' : 'labels'}
          </span>
          <span className="max-sm:hidden">
            {more} more {more === 1 ? 'label' : 'labels'}
          </span>
        </Link>
      )}
    </>
  );
}

/** Where to go once it is awake: on the spot where it was woken. */
function NextSteps({ caller, instance }: { caller: Caller; instance: Instance }) {
  const { id } = instance;
  // Its state is the one before the wake: only what does not change with it counts.
  const terminal = whyNoCommands(caller, { ...instance, state: 'active', fault: null }) === null;
  return (
    <p className="flex flex-wrap gap-2">
      {terminal && (
        <Link href={tabAddress(id, 'terminal')} prefetch={false} className="button button-ink">
          Open terminal
        </Link>
      )}
      <Link href={tabAddress(id, 'files')} prefetch={false} className="button">
        Files
      </Link>
    </p>
  );
}

/** The strip of states, which opens into the map with the hops in words. */
function StateMap({ instance, rendered }: { instance: Instance; rendered: number }) {
  return (
    <details id="map" className="group print:hidden">
      <summary className="flex items-center justify-between gap-3 py-1 hover:bg-wash">
        <LiveStateStrip instance={instance} rendered={rendered} />
        <span className="text-small whitespace-nowrap text-ink-3">
          <span className="max-sm:sr-only">where it may go </span>
          <span className="inline-block group-open:rotate-90" aria-hidden="true">
            ›
          </span>
        </span>
      </summary>
      <div className="py-3">
        <LiveSandboxDiagram instance={instance} rendered={rendered} />
      </div>
    </details>
  );
}

/** What stands beside the clock, and stops it or lets it run. */
function Hold({ caller, instance, rendered }: { caller: Caller; instance: Instance; rendered: number }): ReactNode {
  const { id, tenant, state, next, keep_hot, hold_until } = instance;
  const isHeld = hold_until !== null && hold_until > rendered;
  const holdable = next !== null || keep_hot || isHeld || state === 'active';
  if (!holdable || !mayDo(caller, 'patchInstance', { tenant })) return null;
  const patch = (body: PatchInput) => ({ name: 'patchInstance' as const, path: { id }, body });
  return (
    <WithCalls
      by={{
        'let-go': patch({ keep_hot: false }),
        'keep-hot': patch({ keep_hot: true }),
        hour: patch({ hold_until: Math.max(rendered, hold_until ?? 0) + HOUR }),
        release: patch({ hold_until: null }),
      }}
    >
      <HoldForm keepHot={keep_hot} isHeld={isHeld} action={setHold.bind(null, id)} />
    </WithCalls>
  );
}

/** `rendered`: the server's time in epoch seconds. */
export async function SandboxHead({
  caller,
  instance,
  rendered,
}: {
  caller: Caller;
  instance: Instance;
  rendered: number;
}) {
  const { id, name, tenant, state } = instance;
  const list = state === 'archived' ? { name: 'Archive', href: '/archive' } : { name: 'Sandboxes', href: '/sandboxes' };
  const offers = moveOffers(instance, caller);
  const schedules = await getHost().operations.listSchedules(caller, id, { limit: SCHEDULES });
  const [nextSchedule] = state === 'deleted' ? [] : nextFirings(schedules.items, 1);
  const revivable = offers.some(({ verb, whyNot }) => verb === 'revive' && whyNot === null);
  // A card that asks for a reason, and what a move did, stand beside all of it; a row of buttons beside the name.
  const across = revivable ? 'lg:col-[1/2]' : 'lg:col-[1/-1] lg:group-has-[#moves_.outcome]/head:col-[1/2]';
  return (
    <>
      <header className={`sandbox-head ${revivable ? '' : 'sandbox-head-stays'}`}>
        <FollowOperation instance={instance} rendered={rendered} />
        <div className="group/head grid gap-x-10 gap-y-2 lg:grid-cols-[minmax(0,1fr)_auto] lg:grid-rows-[auto_1fr] lg:gap-y-1">
          <div className="min-w-0 lg:col-[1/2] lg:row-start-1">
            <div className="mb-0.5 crumb-line flex items-baseline gap-x-3 gap-y-1 text-small">
              <Breadcrumbs steps={[list, { name: tenant, href: `${list.href}?tenant=${tenant}` }]} tight />
              <CopyId id={id} />
              <Labels instance={instance} list={list.href} />
            </div>
            <h1 className="flex flex-wrap items-center gap-x-3 gap-y-1.5 lg:flex-nowrap">
              <span className={`min-w-0 max-lg:line-clamp-2 lg:truncate ${TITLE}`} title={name ?? id}>
                {name ?? id}
              </span>{' '}
              <TitleStatus instance={instance} rendered={rendered} />
            </h1>
          </div>
          {/* One line where there is room for it, so that nothing below moves when the state changes. */}
          <div
            className={`flex items-center gap-x-3 gap-y-1.5 ${across} ${revivable ? 'flex-wrap content-start' : 'one-line-facts'}`}
          >
            <WhyHere caller={caller} instance={instance} />
            <div
              id="next"
              className={`flex flex-wrap items-center gap-x-3 gap-y-1.5 lg:flex-none lg:flex-nowrap ${revivable ? 'max-sm:hidden' : ''}`}
            >
              <IdleClock instance={instance} rendered={rendered} />
              <Hold caller={caller} instance={instance} rendered={rendered} />
            </div>
            {nextSchedule !== undefined && (
              <NextSchedule at={nextSchedule.at} rendered={rendered} href={tabAddress(id, 'schedules')} />
            )}
            <ProcessNote instance={instance} rendered={rendered} />
            {(instance.replicate !== 'off' || instance.recovery_point.as !== 'none') && (
              <p className="text-small text-ink-2">
                <Link href={tabAddress(id, 'settings')} prefetch={false}>
                  Replica
                </Link>{' '}
                <RecoveryWords instance={instance} rendered={rendered} />
              </p>
            )}
          </div>
          <div
            id="moves"
            className={`min-w-0 lg:col-start-2 lg:row-start-1 ${revivable ? 'lg:row-span-2 lg:w-[27rem]' : 'lg:max-w-[27rem] lg:min-w-80 lg:self-end lg:has-[.outcome]:row-[1/3] lg:has-[.outcome]:self-start'}`}
          >
            <Moves
              id={id}
              offers={offers}
              action={moveSandbox.bind(null, id)}
              revival={revivable ? await readRevival(caller, instance) : null}
              next={<NextSteps caller={caller} instance={instance} />}
            />
          </div>
        </div>
      </header>
      <StateMap instance={instance} rendered={rendered} />
    </>
  );
}

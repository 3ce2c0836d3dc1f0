/** The Schedules tab: what comes next in the reader's zone, every schedule with its buttons, and the history of one. */

import Link from 'next/link';
import { WithCalls } from '#components/calls/with-call.tsx';
import { DisabledAction } from '#components/ui/disabled-action.tsx';
import { tookInWords } from '#components/ui/durations.ts';
import { LocalTime } from '#components/ui/local-time.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import { cronInWords } from '#components/workbook/rhythm.ts';
import { ScheduleButtons } from '#components/workbook/schedule-buttons.tsx';
import { ScheduleForm } from '#components/workbook/schedule-form.tsx';
import { rhythmInWords, runsInWords } from '#components/workbook/schedule-words.ts';
import type { Caller } from '#lib/auth/caller.ts';
import { isWinterdockError } from '#lib/base/errors.ts';
import { whyNot } from '#lib/contract/access.ts';
import type { Instance, Schedule, ScheduleRun } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { addressWith, type SearchParams, singleValues } from '../../search-params.ts';
import { readDocked, targetsOf } from './docked-workbook.ts';
import { nextFirings } from './next-firings.ts';
import { addSchedule, changeSchedule, lookAtSchedule } from './schedule-actions.ts';
import { tabAddress } from './tab-names.ts';

const SHOWN = 50;
const FIRINGS_SHOWN = 8;
const RUNS_SHOWN = 20;

function pageAddress(id: string, search: Record<string, string>): string {
  return `${addressWith(`/sandboxes/${id}`, { tab: 'schedules', ...search })}#parts`;
}

/** Why a schedule does not fire now; null when it does. */
function stateOf({ paused, resting, next_at }: Schedule): string | null {
  if (resting) return 'rests: its sandbox is archived';
  if (paused) return 'paused';
  return next_at === null ? 'is not due again' : null;
}

function LastRun({ schedule, rendered }: { schedule: Schedule; rendered: number }) {
  const { last_at, last_result, last_took_ms, fault } = schedule;
  if (last_at === null) return <span className="text-ink-3">has not run yet</span>;
  return (
    <>
      <span className={last_result === 'failed' || last_result === 'lost' ? 'text-fault-ink' : undefined}>
        {last_result ?? 'runs'}
      </span>{' '}
      <RelativeTime at={last_at} rendered={rendered} />
      {last_took_ms !== null && `, ${tookInWords(last_took_ms)}`}
      {fault !== null && <span className="block text-fault-ink [overflow-wrap:anywhere]">{fault}</span>}
    </>
  );
}

function ScheduleRow({
  caller,
  instance,
  schedule,
  rendered,
}: {
  caller: Caller;
  instance: Instance;
  schedule: Schedule;
  rendered: number;
}) {
  const { id, cron, repeat, timezone, source, next_at, paused } = schedule;
  const state = stateOf(schedule);
  const name = runsInWords(schedule);
  return (
    <tr>
      <td className="max-md:col-span-full md:max-w-80">
        <Link
          href={pageAddress(instance.id, { schedule: id })}
          prefetch={false}
          scroll={false}
          className="font-mono text-[0.8125rem] [overflow-wrap:anywhere]"
        >
          {name === '' ? 'a command' : name}
        </Link>
        {source === 'workbook' && <span className="block text-[0.75rem] text-ink-3">declared by the workbook</span>}
      </td>
      <td className="max-md:col-start-1 text-small">
        {rhythmInWords(schedule)}
        <span className="block text-[0.75rem] text-ink-3">
          {cron !== null && cronInWords(cron) !== null && <code>{cron}</code>}{' '}
          {repeat !== null && <code>{repeat}</code>} {(cron !== null || repeat !== null) && timezone}
        </span>
      </td>
      <td className="max-md:col-span-full text-small text-ink-2">
        {next_at !== null && (
          <>
            <span className="md:hidden">next </span>
            <LocalTime at={next_at} />
          </>
        )}
        {state !== null && <span className="block">{state}</span>}
      </td>
      <td className="max-md:col-span-full text-small text-ink-2">
        <LastRun schedule={schedule} rendered={rendered} />
      </td>
      <td className="max-md:col-span-full">
        {whyNot(caller, 'patchSchedule', { tenant: instance.tenant }) === null && (
          <WithCalls
            by={{
              run: { name: 'runSchedule', path: { id: instance.id, schedule: id } },
              pause: { name: 'patchSchedule', path: { id: instance.id, schedule: id }, body: { paused: true } },
              'go-on': { name: 'patchSchedule', path: { id: instance.id, schedule: id }, body: { paused: false } },
              delete: { name: 'deleteSchedule', path: { id: instance.id, schedule: id } },
            }}
          >
            <ScheduleButtons
              name={name}
              paused={paused}
              deletable={source === 'api'}
              action={changeSchedule.bind(null, instance.id, id)}
            />
          </WithCalls>
        )}
      </td>
    </tr>
  );
}

function RunRow({ run }: { run: ScheduleRun }) {
  const { planned_at, started_ms, took_ms, result, error, missed, exit_code } = run;
  return (
    <tr>
      <td className="max-md:col-span-full text-small">
        <LocalTime at={Math.floor(started_ms / 1000)} />
        {planned_at === null && <span className="block text-[0.75rem] text-ink-3">somebody asked for it</span>}
        {missed && result !== 'skipped' && (
          <span className="block text-[0.75rem] text-ink-3">made up for a missed time</span>
        )}
      </td>
      <td
        className={`max-md:col-span-full text-small [overflow-wrap:anywhere] ${result === 'failed' || result === 'lost' ? 'text-fault-ink' : 'text-ink-2'}`}
      >
        {result ?? 'runs now'}
        {error !== null ? `: ${error}` : exit_code !== null && exit_code !== 0 && `, exit code ${exit_code}`}
      </td>
      <td className="text-right whitespace-nowrap max-md:col-start-1 text-small text-ink-2 max-md:!text-left">
        {took_ms === null ? '' : tookInWords(took_ms)}
      </td>
    </tr>
  );
}

async function History({ caller, id, schedule }: { caller: Caller; id: Instance['id']; schedule: Schedule }) {
  const { items } = await getHost()
    .operations.scheduleRuns(caller, id, schedule.id, { limit: RUNS_SHOWN })
    .catch((error: unknown) => {
      if (isWinterdockError(error) && error.code === 'not_found') return { items: [] };
      throw error;
    });
  return (
    <PageSection id="history" name="History" note={<code>{runsInWords(schedule)}</code>}>
      {items.length === 0 ? (
        <p className="text-ink-2">It has not run yet.</p>
      ) : (
        <table className="ledger ledger-cards">
          <thead>
            <tr>
              <th scope="col">Started</th>
              <th scope="col">Result</th>
              <th scope="col" className="text-right whitespace-nowrap">
                Took
              </th>
            </tr>
          </thead>
          <tbody>
            {items.map((run) => (
              <RunRow key={run.id} run={run} />
            ))}
          </tbody>
        </table>
      )}
      <p className="mt-3 flex flex-wrap gap-x-5 gap-y-1 text-small">
        {items.some(({ exit_code }) => exit_code !== null) && (
          <Link href={addressWith(`/sandboxes/${id}`, { volume: 'workspace', path: '/events.org' })} prefetch={false}>
            The end of what its runs printed
          </Link>
        )}
        <Link href={tabAddress(id, 'schedules')} prefetch={false} scroll={false}>
          Close its history
        </Link>
      </p>
    </PageSection>
  );
}

function Firings({ schedules }: { schedules: readonly Schedule[] }) {
  const firings = nextFirings(schedules, FIRINGS_SHOWN);
  if (firings.length === 0) return null;
  return (
    <PageSection id="firings" name="Next" note="In your time zone; each wakes the sandbox if it sleeps.">
      <ol className="grid gap-1">
        {firings.map(({ at, schedule }) => (
          <li key={`${at} ${schedule.id}`} className="grid items-baseline gap-x-4 sm:grid-cols-[12.5rem_1fr]">
            <LocalTime at={at} />
            <code className="text-[0.8125rem] text-ink-2 [overflow-wrap:anywhere]">{runsInWords(schedule)}</code>
          </li>
        ))}
      </ol>
    </PageSection>
  );
}

export async function SchedulesTab({
  caller,
  instance,
  search,
  rendered,
}: {
  caller: Caller;
  instance: Instance;
  search: SearchParams;
  rendered: number;
}) {
  const { id, tenant } = instance;
  const { cursor, schedule: chosenId } = singleValues(search);
  const { operations } = getHost();
  const [page, docked] = await Promise.all([
    operations.listSchedules(caller, id, { limit: SHOWN, cursor }),
    readDocked(caller, instance),
  ]);
  const chosen = page.items.find((schedule) => schedule.id === chosenId);
  const refusal = whyNot(caller, 'createSchedule', { tenant });
  return (
    <>
      <Firings schedules={page.items} />
      <PageSection id="schedules" name="Schedules" margin={false} note="What runs by itself, and when.">
        {page.items.length === 0 ? (
          <p className="text-ink-2">Nothing runs by itself. Add a schedule below, or declare one in the workbook.</p>
        ) : (
          <table className="ledger ledger-cards">
            <thead>
              <tr>
                <th scope="col">Runs</th>
                <th scope="col">When</th>
                <th scope="col">Next</th>
                <th scope="col">Last</th>
                <th scope="col">
                  <span className="sr-only">What may be done</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {page.items.map((schedule) => (
                <ScheduleRow
                  key={schedule.id}
                  caller={caller}
                  instance={instance}
                  schedule={schedule}
                  rendered={rendered}
                />
              ))}
            </tbody>
          </table>
        )}
        {page.next !== null && (
          <p className="mt-3 text-small">
            <Link href={pageAddress(id, { cursor: page.next })} prefetch={false}>
              More of them
            </Link>
          </p>
        )}
      </PageSection>
      {chosen !== undefined && <History caller={caller} id={id} schedule={chosen} />}
      <PageSection id="add" name="Add one" note="It wakes the sandbox, runs, and is in the ledger.">
        {refusal === null ? (
          <WithCalls
            by={{
              '': {
                name: 'createSchedule',
                path: { id },
                fields: {
                  what: { to: 'component' },
                  command: 'text',
                  rhythm: { to: 'cron', kind: 'rhythm' },
                  timezone: 'text',
                  missed: 'text',
                  input: 'json',
                },
              },
              look: null,
            }}
          >
            <ScheduleForm
              components={docked === null ? [] : targetsOf(docked.plan)}
              zones={['UTC', ...Intl.supportedValuesOf('timeZone')]}
              action={addSchedule.bind(null, id)}
              look={lookAtSchedule.bind(null, id)}
            />
          </WithCalls>
        ) : (
          <DisabledAction id="add" label="Add the schedule" whyNot={refusal} />
        )}
      </PageSection>
    </>
  );
}

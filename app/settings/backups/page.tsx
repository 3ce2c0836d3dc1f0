/** Backups: what is wrong with them, those that there are, one now, and when and where they are made. */
import Link from 'next/link';
import { WithCall, WithCalls } from '#components/calls/with-call.tsx';
import { AutoRefresh } from '#components/ui/auto-refresh.tsx';
import { lengthInWords } from '#components/ui/durations.ts';
import { PageSection } from '#components/ui/page-section.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import { ProgressBar } from '#components/ui/progress-bar.tsx';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import { shellWord } from '#lib/client/call-text.ts';
import { mayDo, whyNot } from '#lib/contract/access.ts';
import { type Backup, type BackupSettingsAnswer, backupsQuerySchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { renderedAt, requireCaller } from '../../caller.ts';
import { bringBack } from '../../moment-actions.ts';
import { MomentForm } from '../../moment-form.tsx';
import { addressWith, type SearchParams, singleValues } from '../../search-params.ts';
import { NotAllowed } from '../not-allowed.tsx';
import { askForBackup, saveBackupSettings } from './actions.ts';
import { backupStateInWords, backupsInWords, costInWords, holdsInWords } from './backup-words.ts';
import { BackUpNowForm, BackupSettingsForm } from './forms.tsx';

export const dynamic = 'force-dynamic';
export const metadata = { title: 'Backups' };

const PATH = '/settings/backups';
const SHOWN = 30;
/** Where the fields of a moment go in its calls. */
const OF_MOMENT = { instance: { to: 'id', in: 'path' }, time: 'moment', reason: 'text' } as const;
const REFRESH_MS = 3000;

function Trial({ verified, rendered }: Pick<Backup, 'verified'> & { rendered: number }) {
  if (verified === null) return <span className="text-ink-3">not yet</span>;
  return (
    <span className={verified.error === null ? undefined : 'text-fault-ink'}>
      {verified.error === null ? 'came back ' : 'did not come back '}
      <RelativeTime at={verified.time} rendered={rendered} />
    </span>
  );
}

function BackupTable({ backups, rendered }: { backups: readonly Backup[]; rendered: number }) {
  return (
    <table className="ledger ledger-cards">
      <thead>
        <tr>
          <th scope="col">As of</th>
          <th scope="col">State</th>
          <th scope="col">Would restore</th>
          <th scope="col">Added</th>
          <th scope="col">Last tried</th>
        </tr>
      </thead>
      <tbody>
        {backups.map((backup) => {
          const { id, begun, asked, reason, error, planned } = backup;
          const state = backupStateInWords(backup);
          return (
            <tr key={id}>
              <td className="max-md:col-span-full">
                <Link href={`${PATH}/${id}`} prefetch={false} className="font-[560]">
                  <RelativeTime at={begun ?? asked} rendered={rendered} />
                </Link>
                <span className="block text-small text-ink-3">
                  {planned === null ? (reason ?? 'asked for') : 'by the schedule'}
                </span>
              </td>
              <td className={`max-md:col-span-full ${state.isBad ? 'text-fault-ink' : ''}`}>
                {state.says}
                {error !== null && <span className="block text-small [overflow-wrap:anywhere]">{error}</span>}
              </td>
              <td className="max-md:col-span-full">{holdsInWords(backup)}</td>
              <td className="max-md:col-span-full">
                {costInWords(backup) !== '' && <span className="md:hidden">added </span>}
                {costInWords(backup)}
              </td>
              <td className="max-md:col-span-full">
                {backup.state === 'made' && (
                  <>
                    <span className="md:hidden">tried: </span>
                    <Trial verified={backup.verified} rendered={rendered} />
                  </>
                )}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function UnderWay({ backup, rendered }: { backup: Backup; rendered: number }) {
  const { progress, begun, asked } = backup;
  return (
    <div className="mb-5 grid max-w-2xl gap-2">
      <AutoRefresh everyMs={REFRESH_MS} />
      <p>
        {backup.state === 'asked' ? 'One waits its turn, asked for ' : 'One is being made, begun '}
        <RelativeTime at={begun ?? asked} rendered={rendered} />.
      </p>
      {progress !== null && progress.all > 0 && (
        <ProgressBar label="Sandboxes copied" value={progress.done} max={progress.all} />
      )}
    </div>
  );
}

function beginOf(settings: BackupSettingsAnswer) {
  const { target, cron, timezone, enabled, keep, with_keys: withKeys, trial_cron: trial } = settings;
  return {
    target: target ?? '',
    cron,
    timezone,
    enabled: enabled ? 'on' : '',
    hourly: String(keep.hourly),
    daily: String(keep.daily),
    weekly: String(keep.weekly),
    monthly: String(keep.monthly),
    with_keys: withKeys ? 'on' : '',
    trial_cron: trial ?? '',
  };
}

export default async function BackupsPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  const caller = await requireCaller(PATH);
  const why = whyNot(caller, 'listBackups');
  if (why !== null) return <NotAllowed title="Backups" why={why} />;
  const { cursor } = singleValues(await searchParams);
  const parsed = backupsQuerySchema.safeParse({ limit: SHOWN, ...(cursor === undefined ? {} : { cursor }) });
  const { operations } = getHost();
  const [settings, replication, page] = await Promise.all([
    operations.backupSettings(caller),
    mayDo(caller, 'storage') ? operations.storage(caller).then(({ replication: one }) => one) : null,
    operations.listBackups(caller, parsed.success ? parsed.data : { limit: SHOWN }),
  ]);
  const rendered = renderedAt();
  const { fault, next, last } = settings;
  const open = page.items.find(({ state }) => state === 'asked' || state === 'running');
  return (
    <>
      <div className="pt-10 pb-10">
        <h1 className="headline">
          Backups <span className="quiet">{backupsInWords(settings)}</span>
        </h1>
        {fault === null ? (
          <p className="mt-4 max-w-[44rem] text-ink-2">
            {last === null ? (
              'What is lost with this disk is lost, until there is one.'
            ) : (
              <>
                The last one was made <RelativeTime at={last} rendered={rendered} />
                {next !== null && <>, the next is {next > rendered ? `in ${lengthInWords(next - rendered)}` : 'due'}</>}
                .
              </>
            )}
          </p>
        ) : (
          <div className="mt-6 grid gap-1 border-l-4 border-fault bg-fault-wash px-5 py-4" role="alert">
            <p className="[overflow-wrap:anywhere]">{fault.reason}</p>
            <p className="text-small text-ink-2">
              Since <RelativeTime at={fault.since} rendered={rendered} />. It ends by itself with the next good one.
            </p>
          </div>
        )}
      </div>
      <PageSection id="now" name="Now" note="It delays nobody, and copies only what is new.">
        {open !== undefined && <UnderWay backup={open} rendered={rendered} />}
        <WithCall name="makeBackup" fields={{ reason: 'text' }}>
          <BackUpNowForm action={askForBackup} />
        </WithCall>
      </PageSection>
      <PageSection id="backups" name="Backups" note="Newest first. One that somebody asked for is kept for a week.">
        {page.items.length === 0 ? (
          <p className="text-ink-2">The server has made none yet.</p>
        ) : (
          <>
            <BackupTable backups={page.items} rendered={rendered} />
            <Pagination
              next={page.next === null ? null : addressWith(PATH, { cursor: page.next })}
              first={cursor === undefined ? null : PATH}
            />
          </>
        )}
      </PageSection>
      {replication !== null && (
        <PageSection
          id="replica"
          name="The replica"
          note="Beside the backups: each moment that it keeps of each sandbox, while the server runs."
        >
          <p className="mb-5 max-w-3xl text-ink-2">
            In <code className="text-[0.8125rem] [overflow-wrap:anywhere]">{replication.url}</code>. All of it comes
            back with the server stopped, or on an empty machine:
          </p>
          <pre className="paper-log mb-5 max-w-3xl px-3 py-2 whitespace-pre-wrap [overflow-wrap:anywhere]">
            npm run restore -- --from {shellWord(replication.url)}
          </pre>
          <WithCalls
            by={{
              new: { name: 'instanceFromMoment', fields: { ...OF_MOMENT, name: 'text' } },
              itself: { name: 'restoreInstance', fields: OF_MOMENT },
            }}
          >
            <MomentForm action={bringBack.bind(null, '')} />
          </WithCalls>
        </PageSection>
      )}
      {mayDo(caller, 'putBackupSettings') && (
        <PageSection id="schedule" name="Schedule" note="A place is tried before it is taken.">
          <WithCall
            name="putBackupSettings"
            fields={{ target: 'text', cron: 'text', timezone: 'text', trial_cron: 'text' }}
          >
            <BackupSettingsForm
              action={saveBackupSettings}
              begin={beginOf(settings)}
              canEncrypt={settings.has_passphrase}
            />
          </WithCall>
        </PageSection>
      )}
    </>
  );
}

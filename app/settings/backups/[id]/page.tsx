/** One backup: what it holds, whether it came back when it was tried, and what can be brought back from it. */
import Link from 'next/link';
import { notFound } from 'next/navigation';
import { WithCall } from '#components/calls/with-call.tsx';
import { AutoRefresh } from '#components/ui/auto-refresh.tsx';
import { tookInWords } from '#components/ui/durations.ts';
import { Fact, FactList } from '#components/ui/fact-list.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import { ProgressBar } from '#components/ui/progress-bar.tsx';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import { exactMoment } from '#components/ui/zones.ts';
import type { Caller } from '#lib/auth/caller.ts';
import { isWinterdockError } from '#lib/base/errors.ts';
import { whyNot } from '#lib/contract/access.ts';
import type { Backup, BackupRestore } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { renderedAt, requireCaller } from '../../../caller.ts';
import { problemInWords, problemOf } from '../../../problem.ts';
import { visitorZone } from '../../../zone.ts';
import { ConfirmButton } from '../../confirm-button.tsx';
import { NotAllowed } from '../../not-allowed.tsx';
import { restoreFromBackup, tryBackup } from '../actions.ts';
import { backupStateInWords, costInWords, holdsInWords, planInWords } from '../backup-words.ts';
import { RestoreOneForm } from '../forms.tsx';

export const dynamic = 'force-dynamic';
export const metadata = { title: 'A backup' };

const REFRESH_MS = 3000;

async function read(caller: Caller, id: string): Promise<Backup> {
  try {
    return await getHost().operations.getBackup(caller, id);
  } catch (error) {
    if (isWinterdockError(error) && error.code === 'not_found') notFound();
    throw error;
  }
}

/** What all of it would restore, or why that cannot be said. */
async function planOf(caller: Caller, id: string): Promise<BackupRestore | string> {
  try {
    return await getHost().operations.restoreBackup(caller, id, { dry_run: true });
  } catch (error) {
    const { says, hint } = problemInWords(problemOf(error, caller));
    return hint === undefined ? says : `${says} ${hint}`;
  }
}

function Facts({ backup, rendered }: { backup: Backup; rendered: number }) {
  const { target, actor, actor_name: name, planned, reason, took_ms: took, keys, verified } = backup;
  return (
    <FactList>
      <Fact name="Would restore">{holdsInWords(backup) || 'nothing'}</Fact>
      <Fact name="Added">{costInWords(backup) || 'nothing'}</Fact>
      <Fact name="Key files">{keys ? 'in it, encrypted' : 'not in it'}</Fact>
      <Fact name="Took">{took === null ? 'not known' : tookInWords(took)}</Fact>
      <Fact name="Asked by">
        {planned === null ? (name ?? actor) : 'the schedule'}
        {reason !== null && `: ${reason}`}
      </Fact>
      <Fact name="Last tried">
        {verified === null ? (
          'not yet'
        ) : (
          <span className={verified.error === null ? undefined : 'text-fault-ink'}>
            {verified.error ?? 'came back as it was'} <RelativeTime at={verified.time} rendered={rendered} />
          </span>
        )}
      </Fact>
      <Fact name="Lies in" wide>
        <code className="text-[0.8125rem]">{target}</code>
      </Fact>
    </FactList>
  );
}

export default async function BackupPage({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params;
  const caller = await requireCaller(`/settings/backups/${id}`);
  const why = whyNot(caller, 'restoreBackup');
  if (why !== null) return <NotAllowed title="A backup" why={why} />;
  const backup = await read(caller, id);
  const plan = backup.state === 'made' ? await planOf(caller, id) : null;
  const rendered = renderedAt();
  const zone = await visitorZone();
  const { begun, asked, progress, error } = backup;
  const state = backupStateInWords(backup);
  return (
    <>
      <div className="pt-10 pb-10">
        <p className="mb-2 text-small">
          <Link href="/settings/backups" prefetch={false}>
            All backups
          </Link>
        </p>
        <h1 className="headline">
          Backup of {exactMoment(begun ?? asked, zone)} <span className="quiet">{state.says}</span>
        </h1>
        {error !== null && <p className="mt-4 text-fault-ink [overflow-wrap:anywhere]">{error}</p>}
      </div>
      {(backup.state === 'asked' || backup.state === 'running') && (
        <PageSection id="progress" name="Progress" note="It goes on when this page is closed.">
          <AutoRefresh everyMs={REFRESH_MS} />
          {progress !== null && progress.all > 0 ? (
            <ProgressBar label="Sandboxes copied" value={progress.done} max={progress.all} />
          ) : (
            <p className="text-ink-2">It begins with the registry.</p>
          )}
        </PageSection>
      )}
      <PageSection id="facts" name="What it holds" note={<code className="text-[0.75rem]">{id}</code>}>
        <Facts backup={backup} rendered={rendered} />
        {backup.state === 'made' && (
          <div className="mt-5">
            <WithCall name="verifyBackup" path={{ id }}>
              <ConfirmButton
                action={tryBackup.bind(null, id)}
                button="Restore one drawn sandbox, to try it"
                doing="Trying…"
                label="of this backup"
              />
            </WithCall>
          </div>
        )}
      </PageSection>
      {backup.state === 'made' && (
        <PageSection id="one" name="One sandbox" note="While the server runs. What it has is kept aside.">
          <WithCall name="restoreBackup" path={{ id }} fields={{ instance: 'text', as: 'text', reason: 'text' }}>
            <RestoreOneForm action={restoreFromBackup.bind(null, id)} />
          </WithCall>
        </PageSection>
      )}
      {plan !== null && (
        <PageSection id="all" name="All of it" note="With the server stopped, or on an empty machine.">
          {typeof plan === 'string' ? (
            <p className="text-fault-ink [overflow-wrap:anywhere]">{plan}</p>
          ) : (
            <div className="grid max-w-3xl gap-3">
              <ul className="grid gap-1">
                {planInWords(plan).map((line) => (
                  <li key={line}>{line}</li>
                ))}
              </ul>
              <pre className="paper-log px-3 py-2 whitespace-pre-wrap [overflow-wrap:anywhere]">{plan.command}</pre>
              <p className="text-small text-ink-2">
                What is there is refused, or set aside with <code>--force</code>. <code>--dry-run</code> only says what
                would be done.
              </p>
            </div>
          )}
        </PageSection>
      )}
    </>
  );
}

/** What came of a revival at the support desk, and of the last ones. */
import { headers } from 'next/headers';
import Link from 'next/link';
import {
  type ActorNames,
  actionInWords,
  actorInWords,
  quoted,
  wakeEventInWords,
  withinSentence,
} from '#components/ledger/event-words.ts';
import { RowStatus } from '#components/live/sandbox-status.tsx';
import { CopyId } from '#components/ui/copy-id.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { isWinterdockError } from '#lib/base/errors.ts';
import { isInstanceId } from '#lib/base/ids.ts';
import type { Event, Instance } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { whyNoCommands } from '../sandboxes/[id]/command-refusal.ts';

const SHOWN = 5;
/** How many moves are looked through for revivals. */
const MOVES = 200;

interface Revival {
  line: Event;
  /** As it is now; null when it is gone. */
  now: Instance | null;
  /** The last thing that happened to it since; null when nothing did. */
  last: Event | null;
}

const isRevival = ({ from, to }: Event) => from === 'archived' && to !== 'archived' && to !== 'deleted';

async function followed(caller: Caller, line: Event): Promise<Revival> {
  const { operations } = getHost();
  const { instance: id } = line;
  if (id === null) return { line, now: null, last: null };
  try {
    const [now, { items }] = await Promise.all([
      operations.getInstance(caller, id),
      operations.instanceEvents(caller, id, { limit: 1 }),
    ]);
    const last = items[0] ?? null;
    return { line, now, last: last === null || last.seq <= line.seq ? null : last };
  } catch (error) {
    if (isWinterdockError(error) && ['gone', 'not_found'].includes(error.code)) return { line, now: null, last: null };
    throw error;
  }
}

/** The last revivals, newest first, with what became of each. */
export async function readRevivals(caller: Caller): Promise<Revival[]> {
  const { items } = await getHost().operations.events(caller, { type: 'transition', limit: MOVES });
  return Promise.all(
    items
      .filter(isRevival)
      .slice(0, SHOWN)
      .map((line) => followed(caller, line)),
  );
}

/** The revival of one sandbox, when its last move was one; null otherwise. */
export async function readRevived(caller: Caller, id: string | undefined): Promise<Revival | null> {
  if (id === undefined || !isInstanceId(id)) return null;
  try {
    const { items } = await getHost().operations.instanceEvents(caller, id, { type: 'transition', limit: 10 });
    const line = items.find(isRevival);
    return line === undefined ? null : await followed(caller, line);
  } catch (error) {
    if (isWinterdockError(error) && ['gone', 'not_found'].includes(error.code)) return null;
    throw error;
  }
}

/** The address of a sandbox, as the visitor reaches this server. */
async function linkTo(id: string): Promise<string> {
  const { publicUrl, port } = getHost().config;
  const origin = publicUrl ?? `http://${(await headers()).get('host') ?? `localhost:${port}`}`;
  return `${origin}/sandboxes/${id}`;
}

export async function RevivedCard({
  caller,
  revival,
  rendered,
}: {
  caller: Caller;
  revival: Revival;
  rendered: number;
}) {
  const { line, now } = revival;
  if (now === null) return null;
  return (
    <div
      id="revived"
      role="status"
      data-answer=""
      className="mb-6 grid max-w-3xl gap-2 rounded border border-ink bg-sheet p-4"
    >
      <p>
        <Link href={`/sandboxes/${now.id}`} prefetch={false} className="font-[560] [overflow-wrap:anywhere]">
          {now.name ?? now.id}
        </Link>{' '}
        is back. {wakeEventInWords(line)}
      </p>
      <p className="flex flex-wrap items-baseline gap-x-3 gap-y-1 text-small text-ink-2">
        <span>A link to send back:</span>
        <CopyId id={await linkTo(now.id)} label="Copy the link" />
      </p>
      <p className="flex flex-wrap gap-2">
        <Link href={`/sandboxes/${now.id}?tab=files`} prefetch={false} className="button">
          Files
        </Link>
        {whyNoCommands(caller, now) === null && (
          <Link href={`/sandboxes/${now.id}?tab=terminal`} prefetch={false} className="button">
            Open terminal
          </Link>
        )}
        <span className="inline-flex items-center text-small">
          <RowStatus instance={now} rendered={rendered} />
        </span>
      </p>
    </div>
  );
}

function Now({ now, last, names, rendered }: Omit<Revival, 'line'> & { names: ActorNames; rendered: number }) {
  if (now === null) return <span className="text-ink-2">deleted since</span>;
  return (
    <>
      <RowStatus instance={now} rendered={rendered} />
      <span className="block text-small text-ink-2">
        {last === null ? (
          'Nothing happened to it since.'
        ) : (
          <>
            {actorInWords(last, names)} {actionInWords(last)} it <RelativeTime at={last.time} rendered={rendered} />
          </>
        )}
      </span>
    </>
  );
}

export function LastRevivals({
  revivals,
  names,
  rendered,
}: {
  revivals: readonly Revival[];
  names: ActorNames;
  rendered: number;
}) {
  if (revivals.length === 0) return null;
  return (
    <PageSection id="revivals" name="Revived lately" note="And what happened afterwards">
      <table className="ledger ledger-cards">
        <thead>
          <tr>
            <th scope="col">Sandbox</th>
            <th scope="col">Revived</th>
            <th scope="col">Since then</th>
          </tr>
        </thead>
        <tbody>
          {revivals.map(({ line, now, last }) => (
            <tr key={line.seq}>
              <td className="max-md:col-span-full [overflow-wrap:anywhere]">
                <Link href={`/sandboxes/${line.instance}`} prefetch={false} className="font-[540]">
                  {now?.name ?? line.instance}
                </Link>
                {line.tenant !== null && <code className="block text-[0.8125rem] text-ink-3">{line.tenant}</code>}
              </td>
              <td className="max-md:col-span-full">
                <RelativeTime at={line.time} rendered={rendered} />{' '}
                <span className="text-ink-2">by {withinSentence(actorInWords(line, names))}</span>
                {line.reason !== null && (
                  <span className="block text-small text-ink-2 [overflow-wrap:anywhere]">{quoted(line.reason)}</span>
                )}
              </td>
              <td className="max-md:col-span-full">
                <Now now={now} last={last} names={names} rendered={rendered} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </PageSection>
  );
}

'use client';
/**
 * The idle clock of one sandbox: its next automatic move, the time left, and the cause. Activity writes no ledger line,
 * so a page polls the row while use can set its clock back.
 */
import type { Instance } from '#lib/contract/schema.ts';
import type { State } from '#lib/lifecycle/state-map.ts';
import { useInstance } from '../live/live-data.tsx';
import { countdown, lengthInWords, thresholdInWords } from '../ui/durations.ts';
import { useNow } from '../ui/use-now.ts';
import { useZone } from '../ui/zone.tsx';
import { exactMoment } from '../ui/zones.ts';

type Clocked = Pick<
  Instance,
  | 'id'
  | 'state'
  | 'fault'
  | 'next'
  | 'keep_hot'
  | 'hold_until'
  | 'attached'
  | 'calls'
  | 'pending'
  | 'ephemeral'
  | 'updated'
  | 'unreachable'
>;

/** What the ladder will do, as a verb: `suspends`, `freezes`. */
const MOVE_WORDS: Readonly<Record<State, string>> = {
  created: 'returns to created',
  active: 'wakes',
  suspended: 'suspends',
  frozen: 'freezes',
  archived: 'is archived',
  deleted: 'is deleted',
};

const WATCHED_MS = 15_000;
const RAN_OUT_MS = 3000;

/** Whether the setting keeps a sandbox where it is: one that was filed all the same has no process to keep. */
function keepsIt({ keep_hot, state }: Pick<Clocked, 'keep_hot' | 'state'>): boolean {
  return keep_hot && (state === 'active' || state === 'suspended');
}

/** Whether a terminal, a call or a run holds it. */
function isInUse({ attached, calls }: Pick<Clocked, 'attached' | 'calls'>): boolean {
  return attached + calls > 0;
}

/** Why it will make no automatic move. */
function whyStill(instance: Clocked, now: number): string {
  if (instance.state === 'deleted') return 'Nothing happens to it any more.';
  if (instance.unreachable !== null) return 'Its host is away: no automatic move before that is back.';
  if (instance.fault !== null && instance.fault !== 'error') return 'Its fault stops every automatic move.';
  if (instance.pending !== null) return 'An operation is under way: no automatic move before it ends.';
  if (keepsIt(instance)) return 'Kept hot: no automatic move.';
  if (isInUse(instance)) return 'In use: the clock starts when the last terminal, call or run ends.';
  if (instance.hold_until !== null && instance.hold_until > now) return 'Held.';
  if (instance.state === 'created') return 'It waits for its first resume.';
  if (instance.state === 'frozen') return 'It stays frozen until someone needs it: frozen never archives itself.';
  if (instance.state === 'archived') return 'It stays filed: archived is a decision, and so is the way back.';
  return 'No automatic move is set.';
}

/** The same in two words, for a row. */
function stillInShort(instance: Clocked): string {
  if (instance.state === 'deleted') return '';
  if (instance.unreachable !== null) return 'stopped: its host is away';
  if (instance.fault !== null && instance.fault !== 'error') return 'stopped by its fault';
  if (instance.pending !== null) return 'held by an operation';
  if (keepsIt(instance)) return 'kept hot';
  if (isInUse(instance)) return 'in use';
  if (instance.state === 'created') return 'waits for its first resume';
  return instance.state === 'archived' ? 'stays filed' : `stays ${instance.state}`;
}

/** The setting that causes the move, with its seconds in words a person reads. */
function becauseInWords(because: string): string {
  const readable = because.replace(/(\d+) s\b/g, (_, seconds: string) => thresholdInWords(Number(seconds)));
  return /^(idle|suspended) for /.test(readable) ? `once ${readable}` : readable;
}

/** How often a row is polled: soon when its clock ran out without a move, and now and then while it may be in use. */
function everyMs(watched: boolean) {
  return ({ next, state }: Clocked): number | false => {
    if (next !== null && next.at * 1000 <= Date.now()) return RAN_OUT_MS;
    return watched && state === 'active' ? WATCHED_MS : false;
  };
}

const whileWatched = everyMs(true);
const inPassing = everyMs(false);

/** The clock as the page of one sandbox shows it. `rendered` in epoch seconds. */
export function IdleClock({ instance: initial, rendered }: { instance: Instance; rendered: number }) {
  const now = useNow(rendered);
  const zone = useZone();
  const instance = useInstance(initial, rendered, whileWatched);
  if (instance.next === null) return <p className="text-ink-2">{whyStill(instance, now)}</p>;
  const left = instance.next.at - now;
  return (
    <p className="text-ink-2">
      It {MOVE_WORDS[instance.next.state]} by itself{left > 0 ? ' in ' : ' '}
      <time
        className="font-[580] text-ink tabular-nums"
        role="timer"
        dateTime={new Date(instance.next.at * 1000).toISOString()}
        title={exactMoment(instance.next.at, zone)}
      >
        {countdown(left)}
      </time>
      <span className="text-small">
        <span className="max-sm:hidden">, {becauseInWords(instance.next.because)}</span>
        {instance.hold_until !== null &&
          instance.hold_until > now &&
          `, held until ${exactMoment(instance.hold_until, zone)}`}
      </span>
    </p>
  );
}

/** How long nothing has used it, in a row; nothing for what was deleted. */
export function RowIdle({ instance: initial, rendered }: { instance: Instance; rendered: number }) {
  const now = useNow(rendered);
  const zone = useZone();
  const instance = useInstance(initial, rendered, inPassing);
  const { state, updated } = instance;
  if (state === 'deleted') return null;
  if (isInUse(instance)) return <span className="text-ink-3">in use</span>;
  return (
    <>
      <span className="md:sr-only">idle for </span>
      <time dateTime={new Date(updated * 1000).toISOString()} title={`Last used ${exactMoment(updated, zone)}`}>
        {lengthInWords(Math.max(0, now - updated))}
      </time>
    </>
  );
}

/** The clock in a row: the move and the time left on one line. */
export function RowClock({ instance: initial, rendered }: { instance: Instance; rendered: number }) {
  const now = useNow(rendered);
  const zone = useZone();
  const instance = useInstance(initial, rendered, inPassing);
  if (instance.next === null) {
    return (
      <span className="text-ink-3" title={whyStill(instance, now)}>
        {stillInShort(instance)}
      </span>
    );
  }
  return (
    <span title={becauseInWords(instance.next.because)}>
      <span className="text-ink-2">
        {MOVE_WORDS[instance.next.state]}
        {instance.next.at > now ? ' in' : ''}
      </span>{' '}
      <time dateTime={new Date(instance.next.at * 1000).toISOString()} title={exactMoment(instance.next.at, zone)}>
        {countdown(instance.next.at - now)}
      </time>
    </span>
  );
}

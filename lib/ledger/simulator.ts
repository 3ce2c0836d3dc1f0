/**
 * A suspension for idleness shows the last activity: one threshold before it. The gap from there to the next wake is
 * known, so every gap longer than the old threshold is exact. Gaps that a shorter threshold would newly cut are not in
 * the ledger, because activity of a running sandbox writes no line. They are estimated from an equally wide range of
 * gaps just above the old threshold.
 */

import type { LadderPolicy } from '../lifecycle/ladder.ts';
import { eachOf } from '../registry/each-of.ts';
import type { Registry } from '../registry/registry.ts';
import type { RecordedTransition } from '../registry/types.ts';

const HOUR_MS = 3_600_000;
/** Limits of lines and time, after which the rest is left out. */
const MAX_LINES = 1_000_000;
const MAX_MS = 5000;
const MAX_SANDBOXES = 300_000;

export interface WakeCosts {
  processHours: number;
  coldWakes: number;
  /** Wakes that found the file in the cold drawer. */
  thaws: number;
}

export interface SimulationResult {
  /** The examined period, in epoch milliseconds. */
  sinceMs: number;
  untilMs: number;
  lines: number;
  /** Time of the oldest line; null when there is none. */
  firstMs: number | null;
  /** Suspensions for idleness among them, from which everything else is computed. */
  idleEnds: number;
  /** Older lines of the requested days were left out. */
  cut: boolean;
  /** The actual past. */
  was: WakeCosts;
  /** The simulated past. */
  would: WakeCosts;
  /** How many of the simulated cold wakes are estimated. */
  estimatedWakes: number;
  /** The same for each of the other trials, in their order. */
  curve: TrialResult[];
}

interface TrialResult {
  would: WakeCosts;
  estimatedWakes: number;
}

/** The difference that a trial makes so far. */
interface Trial {
  policy: LadderPolicy;
  more: WakeCosts;
  estimated: number;
}

interface Track {
  /** When it next stopped being active, and when and from where it next woke; null when it did not. */
  endMs: number | null;
  wakeMs: number | null;
  wakeSource: RecordedTransition['source'];
}

/**
 * Reads the ledger once and answers for `trial` and for each policy of `curve`. `old` is the threshold of lines that do
 * not name one. `tenants` undefined: all.
 */
export async function simulate(
  registry: { ledger: Pick<Registry['ledger'], 'transitions'>; jobs: Pick<Registry['jobs'], 'select'> },
  options: {
    sinceMs: number;
    nowMs: number;
    old: LadderPolicy;
    trial: LadderPolicy;
    curve?: readonly LadderPolicy[];
    tenants?: readonly string[];
  },
  limits: { maxLines?: number; maxMs?: number } = {},
): Promise<SimulationResult> {
  const { sinceMs, nowMs, old, trial, curve = [], tenants } = options;
  const { maxLines = MAX_LINES, maxMs = MAX_MS } = limits;
  const replay = new TransitionReplay(nowMs, old, [trial, ...curve]);
  const started = performance.now();
  let cut = false;
  let firstMs: number | null = null;
  for await (const hop of eachOf(await registry.ledger.transitions(sinceMs, tenants))) {
    if (replay.lines >= maxLines || replay.sandboxes >= MAX_SANDBOXES || performance.now() - started > maxMs) {
      cut = true;
      break;
    }
    replay.take(hop);
    firstMs = Math.min(firstMs ?? nowMs, hop.timeMs);
  }
  const beginMs = cut ? (firstMs ?? nowMs) : sinceMs;
  const filter = { state: 'active', ...(tenants === undefined ? {} : { tenants }) } as const;
  for await (const { id } of eachOf(await registry.jobs.select({ filter }))) replay.stillActive(id, beginMs);
  const { was, trials } = replay.end(beginMs);
  const [first = { would: was, estimatedWakes: 0 }, ...others] = trials;
  const { lines, idleEnds } = replay;
  return { sinceMs: beginMs, untilMs: nowMs, lines, firstMs, idleEnds, cut, was, ...first, curve: others };
}

class TransitionReplay {
  readonly #nowMs: number;
  readonly #old: LadderPolicy;
  readonly #trials: Trial[];
  readonly #tracks = new Map<string, Track>();
  readonly #was: WakeCosts = { processHours: 0, coldWakes: 0, thaws: 0 };
  lines = 0;
  idleEnds = 0;

  constructor(nowMs: number, old: LadderPolicy, trials: readonly LadderPolicy[]) {
    this.#nowMs = nowMs;
    this.#old = old;
    this.#trials = trials.map((policy) => ({
      policy,
      more: { processHours: 0, coldWakes: 0, thaws: 0 },
      estimated: 0,
    }));
  }

  get sandboxes(): number {
    return this.#tracks.size;
  }

  /** Takes one transition; call from the newest to the oldest. */
  take(hop: RecordedTransition): void {
    this.lines += 1;
    const track = this.#tracks.get(hop.instance) ?? { endMs: null, wakeMs: null, wakeSource: null };
    this.#tracks.set(hop.instance, track);
    if (hop.to === 'active') {
      this.#ran(hop.timeMs, track.endMs ?? this.#nowMs);
      track.endMs = null;
      // Passing through active starts no process and has no source.
      if (hop.source === null) return;
      this.#was.coldWakes += 1;
      if (hop.source === 'cold') this.#was.thaws += 1;
      track.wakeMs = hop.timeMs;
      track.wakeSource = hop.source;
    } else if (hop.from === 'active') {
      track.endMs = hop.timeMs;
      if (hop.to === 'suspended' && hop.trigger === 'idle') this.#idled(hop, track);
      track.wakeMs = null;
      track.wakeSource = null;
    }
  }

  /** A sandbox that is active now: without a hop it was active all the time. */
  stillActive(id: string, beginMs: number): void {
    if (!this.#tracks.has(id)) this.#ran(beginMs, this.#nowMs);
  }

  end(beginMs: number): { was: WakeCosts; trials: TrialResult[] } {
    for (const { endMs } of this.#tracks.values()) if (endMs !== null) this.#ran(beginMs, endMs);
    const was = { ...this.#was };
    const trials = this.#trials.map(({ more, estimated }) => ({
      would: {
        processHours: Math.max(0, was.processHours + more.processHours),
        coldWakes: Math.max(0, was.coldWakes + more.coldWakes),
        thaws: Math.max(0, was.thaws + more.thaws),
      },
      estimatedWakes: estimated,
    }));
    return { was, trials };
  }

  #ran(fromMs: number, toMs: number): void {
    this.#was.processHours += Math.max(0, toMs - fromMs) / HOUR_MS;
  }

  /** A suspension for idleness, and the effect of other thresholds on the gap around it. */
  #idled(hop: RecordedTransition, track: Track): void {
    this.idleEnds += 1;
    const oldMs = (secondsIn(hop.reason) ?? this.#old.idleToSuspendSeconds) * 1000;
    const gapMs = (track.wakeMs ?? this.#nowMs) - (hop.timeMs - oldMs);
    for (const trial of this.#trials) weigh(trial, { oldMs, gapMs }, track);
  }
}

/** Adds to a trial its effect on a gap that the threshold `oldMs` cut. */
function weigh(trial: Trial, { oldMs, gapMs }: { oldMs: number; gapMs: number }, { wakeMs, wakeSource }: Track): void {
  const { policy, more } = trial;
  const trialMs = policy.idleToSuspendSeconds * 1000;
  const suspends = gapMs >= trialMs;
  more.processHours += ((suspends ? trialMs : gapMs) - oldMs) / HOUR_MS;
  if (wakeMs === null) return;
  if (!suspends) more.coldWakes -= 1;
  const asleepMs = gapMs - trialMs;
  const thaws = suspends && wakeSource !== 'archive' && asleepMs >= policy.idleToFreezeSeconds * 1000;
  more.thaws += Number(thaws) - Number(wakeSource === 'cold');
  const mirroredMs = oldMs - (gapMs - oldMs);
  if (trialMs < oldMs && mirroredMs > trialMs) {
    trial.estimated += 1;
    more.coldWakes += 1;
    more.processHours -= (mirroredMs - trialMs) / HOUR_MS;
  }
}

/** The threshold in a reason of the ladder (`idle for 900 s`), or null. */
function secondsIn(reason: string | null): number | null {
  const seconds = /^idle for (\d+) s$/.exec(reason ?? '')?.[1];
  return seconds === undefined ? null : Number(seconds);
}

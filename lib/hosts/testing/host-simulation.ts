/**
 * For tests: one host that renews its lease, one observer of its row and their database, in simulated time, with the
 * policies of production or broken ones. Connections fail or hang, processes stop, the machine of the host sleeps, and
 * every clock has its own speed and its own idea of the day.
 */
import type { HostReading, HostVerdict } from '../host-observer.ts';
import type { LeaseMoment } from '../lease-term.ts';

/** Milliseconds of true time. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * `cut`: what is sent fails at once. `hang`: it arrives when the outage ends, and nobody is told. `stall`: the same,
 * but what the host sends fails then.
 */
export interface Outage extends Span {
  readonly kind: 'cut' | 'hang' | 'stall';
  /** `all`: nobody reaches the database. */
  readonly whose: 'all' | 'host' | 'observer';
}

/** What happens to one side. */
interface Machine {
  /** Of its monotonic clock and its uptime; 1: true time. */
  readonly speed: number;
  /** Its process gets no processor then (SIGSTOP). */
  readonly stops: readonly Span[];
  /** The same, and its monotonic clock stands still. */
  readonly sleeps: readonly Span[];
  /** Milliseconds that its wall clock is wrong by, from a moment on. */
  readonly wallOff: number;
  readonly wallOffFrom: number;
}

export interface Schedule {
  readonly leaseMs: number;
  readonly untilMs: number;
  readonly host: Machine;
  readonly observer: Machine;
  readonly outages: readonly Outage[];
  /** When the host is gone for ever; null: never. */
  readonly crashMs: number | null;
  /** Milliseconds of each way to the database and back, in turn. */
  readonly latencies: readonly number[];
}

/** What `HostObserver` is to a simulation. */
export interface ObserverPolicy {
  connectionLost(): void;
  read(reading: HostReading & { wallMs: number; renewedMs: number }): ReadonlyMap<string, HostVerdict>;
}

/** What `LeaseTerm` is to it. */
export interface TermPolicy {
  renewed(asked: LeaseMoment, answered: LeaseMoment): void;
  leftMs(now: LeaseMoment): number;
}

/** Somebody has taken over from the host. */
export interface Takeover {
  readonly atMs: number;
  /** For how long the host would have acted still, by its own clocks; 0: not any more. */
  readonly leftMs: number;
}

const NAME = 'one';
const RENEWALS = 3;
const LOOKS = 8;
/** A renewal that failed is tried again after this part of a lease. */
const AGAIN_PART = 10;

const within = (spans: readonly Span[], at: number) => spans.find(({ from, to }) => at >= from && at < to);

/** When a process that may be stopped at `at` goes on. */
function resumed({ stops, sleeps }: Machine, at: number): number {
  for (let now = at; ; ) {
    const span = within(stops, now) ?? within(sleeps, now);
    if (span === undefined) return now;
    now = span.to;
  }
}

/** Milliseconds up to `at` in one of these spans, which may overlap. */
function spentIn(spans: readonly Span[], at: number): number {
  let [spent, counted] = [0, 0];
  for (const { from, to } of spans.toSorted((one, other) => one.from - other.from)) {
    const [begin, end] = [Math.max(from, counted), Math.min(to, at)];
    if (end <= begin) continue;
    spent += end - begin;
    counted = end;
  }
  return spent;
}

function clocks({ sleeps, speed, wallOff, wallOffFrom }: Machine, at: number): LeaseMoment & { wallMs: number } {
  const wallMs = at + (at >= wallOffFrom ? wallOff : 0);
  return { monotonicMs: (at - spentIn(sleeps, at)) * speed, uptimeMs: at * speed, wallMs };
}

/** Runs a schedule. Returns how the host was taken over from; null: it was not. */
export function simulate(
  schedule: Schedule,
  make: { observer: () => ObserverPolicy; term: () => TermPolicy },
): Takeover | null {
  const { leaseMs, untilMs, host, observer, outages, crashMs, latencies } = schedule;
  const [watch, term] = [make.observer(), make.term()];
  const queue: { at: number; order: number; act: () => void }[] = [];
  const row = { renewals: 0, renewedMs: 0 };
  let [order, drawn] = [0, 0];
  let takeover: Takeover | null = null;
  const later = (at: number, act: () => void) => {
    order += 1;
    queue.push({ at, order, act });
  };
  const latency = () => {
    drawn += 1;
    return latencies[drawn % latencies.length] ?? 1;
  };
  /** When something that is under way at `at` gets through, or its connection is cut. */
  const through = (whose: 'host' | 'observer', at: number): { at: number; isCut: boolean } => {
    for (let now = at; ; ) {
      const hits = outages.filter((one) => (one.whose === 'all' || one.whose === whose) && within([one], now));
      const [outage] = hits;
      if (outage === undefined) return { at: now, isCut: false };
      if (hits.some(({ kind }) => kind === 'cut')) return { at: now + 1, isCut: true };
      if (outage.kind === 'stall' && whose === 'host') return { at: outage.to, isCut: true };
      now = outage.to;
    }
  };
  /** Sends a question: `arrive` answers it where it arrives; `done` gets null where no answer came. */
  const ask = <T>(
    whose: 'host' | 'observer',
    at: number,
    arrive: () => T,
    done: (at: number, got: T | null) => void,
  ): void => {
    const there = through(whose, at + latency());
    if (there.isCut) return void later(there.at, () => done(there.at, null));
    later(there.at, () => {
      const got = arrive();
      const back = through(whose, there.at + latency());
      later(back.at, () => done(back.at, back.isCut ? null : got));
    });
  };

  const isCrashed = (at: number) => crashMs !== null && at >= crashMs;
  const renew = (from: number): void => {
    const at = resumed(host, from);
    if (at !== from) return void later(at, () => renew(at));
    if (isCrashed(at)) return;
    const [everyMs, againMs] = [leaseMs / RENEWALS / host.speed, leaseMs / AGAIN_PART / host.speed];
    const asked = clocks(host, at);
    let isOver = false;
    const next = (when: number) => {
      if (!isOver) later(when, () => renew(when));
      isOver = true;
    };
    const arrive = () => {
      if (takeover !== null) return false;
      row.renewals += 1;
      row.renewedMs = asked.wallMs;
      return true;
    };
    ask('host', at, arrive, (answered, isRenewed) => {
      const known = resumed(host, answered);
      later(known, () => {
        if (isCrashed(known)) return;
        if (isRenewed === true) term.renewed(asked, clocks(host, known));
        next(isRenewed === true ? Math.max(known, at + everyMs) : known + againMs);
      });
    });
    const late = at + everyMs;
    later(late, () => next(late + againMs));
  };

  /** As a registry does it: only while the row is the one that was judged. */
  const takeOver = (from: number, renewals: number): void => {
    const sent = from + latency();
    const { at, isCut } = through('observer', sent);
    if (isCut) return;
    later(at, () => {
      if (row.renewals !== renewals) return;
      takeover ??= { atMs: at, leftMs: isCrashed(at) ? 0 : term.leftMs(clocks(host, at)) };
    });
  };

  const look = (from: number): void => {
    const at = resumed(observer, from);
    if (at !== from) return void later(at, () => look(at));
    const { monotonicMs: askedMs } = clocks(observer, at);
    const arrive = () => ({
      hosts: [{ name: NAME, token: 'of its start', renewals: row.renewals, leaseMs }] as const,
      renewedMs: row.renewedMs,
    });
    ask('observer', at, arrive, (answered, got) => {
      const known = resumed(observer, answered);
      later(known, () => {
        const due = Math.max(known + 1, at + leaseMs / LOOKS / observer.speed);
        later(due, () => look(due));
        if (got === null) return watch.connectionLost();
        const { monotonicMs: answeredMs, wallMs } = clocks(observer, known);
        const verdict = watch.read({ askedMs, answeredMs, wallMs, ...got }).get(NAME);
        if (verdict === 'dead') takeOver(known, got.hosts[0].renewals);
      });
    });
  };

  for (const { from, kind, whose } of outages) {
    if (kind === 'cut' && whose !== 'host') later(resumed(observer, from), () => watch.connectionLost());
  }
  // The host begins with a renewal that has arrived.
  term.renewed(clocks(host, 0), clocks(host, 0));
  later(leaseMs / RENEWALS, () => renew(leaseMs / RENEWALS));
  later(1, () => look(1));
  while (queue.length > 0) {
    queue.sort((one, other) => one.at - other.at || one.order - other.order);
    const event = queue.shift();
    if (event === undefined || event.at > untilMs || takeover !== null) break;
    event.act();
  }
  return takeover;
}

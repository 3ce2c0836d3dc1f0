/**
 * For tests: what the rows of a registry said, look by look, of somebody who reaches it whatever happens to the hosts.
 * Says when a host surely was silent, when it may have seemed so, and whose a sandbox was. Pure. Times in milliseconds
 * of the looker's monotonic clock.
 */

export interface HostLook {
  readonly name: string;
  readonly term: number;
  /** Null: nobody holds the name. */
  readonly token: string | null;
  readonly renewals: number;
}

export interface SandboxLook {
  readonly id: string;
  readonly owner: string | null;
  readonly term: number | null;
  readonly token: string | null;
}

export interface Look {
  readonly askedMs: number;
  readonly answeredMs: number;
  readonly hosts: readonly HostLook[];
  readonly sandboxes: readonly SandboxLook[];
}

interface Period {
  readonly from: number;
  readonly to: number;
}

/** Looks one after the other that said the same. */
interface Stretch<T> {
  readonly said: T;
  /** It may have been so since then: the look before asked then, or could see nothing. */
  readonly perhapsFrom: number;
  /** It was so from then on. */
  readonly surelyFrom: number;
  /** It was so until then. */
  surelyTo: number;
  /** Null: it still is. */
  perhapsTo: number | null;
}

export class RowHistory {
  readonly #leaseMs: number;
  readonly #hosts = new Map<string, Stretch<HostLook>[]>();
  readonly #sandboxes = new Map<string, Stretch<SandboxLook>[]>();
  /** Which name a term was seen with, and which host and sandbox a token. */
  readonly #terms = new Map<number, string>();
  readonly #tokens = new Map<string, string>();
  readonly #findings = new Set<string>();
  #lastAskedMs = 0;
  #isBlind = true;

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs;
  }

  /** Sentences about two owners of one term or of one acquisition. */
  get findings(): string[] {
    return [...this.#findings];
  }

  saw(look: Look): void {
    for (const host of look.hosts) {
      const isSame = (before: HostLook) => before.token === host.token && before.renewals === host.renewals;
      this.#note(this.#hosts, host.name, host, isSame, look);
      this.#one(this.#terms, host.term, host.name, `the term ${host.term}`);
    }
    for (const sandbox of look.sandboxes) {
      const { id, owner, term, token } = sandbox;
      this.#note(this.#sandboxes, id, sandbox, (before) => before.owner === owner, look);
      if (owner === null) continue;
      if (term !== null) this.#one(this.#terms, term, owner, `the term ${term}`);
      if (token !== null) this.#one(this.#tokens, token, `${owner} of ${id}`, 'one acquisition');
    }
    this.#lastAskedMs = look.askedMs;
    this.#isBlind = false;
  }

  /** A look failed that was asked for then: nobody renewed by what could not be reached. */
  sawNothing(askedMs: number): void {
    for (const stretches of [...this.#hosts.values(), ...this.#sandboxes.values()]) {
      const last = stretches.at(-1);
      if (last !== undefined) last.perhapsTo ??= askedMs;
    }
    this.#lastAskedMs = askedMs;
    this.#isBlind = true;
  }

  /** When a host had not renewed for one lease or longer, for sure: it may not act. */
  silences(name: string): Period[] {
    return this.#stretchesOf(name).flatMap(({ surelyFrom, surelyTo }) =>
      surelyTo - surelyFrom > this.#leaseMs ? [{ from: surelyFrom + this.#leaseMs, to: surelyTo }] : [],
    );
  }

  /** Whether a host surely was silent from one moment to another. */
  isSilent(name: string, from: number, to: number): boolean {
    return this.silences(name).some((one) => one.from < from && to < one.to);
  }

  /** Whether somebody may have taken it for dead, or gone, at a moment between these. */
  maySeemDead(name: string, from: number, to: number): boolean {
    const stretches = this.#stretchesOf(name);
    if (stretches.length === 0) return true;
    return stretches.some(({ said, perhapsFrom, perhapsTo }) => {
      const since = said.token === null ? perhapsFrom : perhapsFrom + this.#leaseMs;
      const until = perhapsTo ?? Number.POSITIVE_INFINITY;
      return since <= until && since <= to && until >= from;
    });
  }

  /** Whose a sandbox surely was all that time; undefined: nobody knows, or it changed. */
  ownerDuring(id: string, from: number, to: number): string | null | undefined {
    const stretches = this.#sandboxes.get(id) ?? [];
    return stretches.find((one) => one.surelyFrom <= from && to <= one.surelyTo)?.said.owner;
  }

  /** What was over before then is asked for no more. */
  forgetBefore(ms: number): void {
    for (const all of [this.#hosts, this.#sandboxes] as Map<string, Stretch<unknown>[]>[]) {
      for (const [key, stretches] of all)
        all.set(
          key,
          stretches.filter(({ perhapsTo }) => (perhapsTo ?? ms) >= ms),
        );
    }
  }

  #stretchesOf(name: string): readonly Stretch<HostLook>[] {
    return this.#hosts.get(name) ?? [];
  }

  #note<T>(all: Map<string, Stretch<T>[]>, key: string, said: T, isSame: (before: T) => boolean, look: Look): void {
    const stretches = all.get(key) ?? [];
    all.set(key, stretches);
    const last = stretches.at(-1);
    if (last !== undefined && last.perhapsTo === null && isSame(last.said)) {
      last.surelyTo = look.askedMs;
      return;
    }
    if (last !== undefined) last.perhapsTo ??= look.answeredMs;
    const perhapsFrom = last === undefined && this.#isBlind ? look.askedMs : this.#lastAskedMs;
    const { answeredMs: surelyFrom, askedMs: surelyTo } = look;
    stretches.push({ said, perhapsFrom, surelyFrom, surelyTo, perhapsTo: null });
  }

  #one<K>(known: Map<K, string>, key: K, value: string, what: string): void {
    const before = known.get(key);
    if (before === undefined) known.set(key, value);
    else if (before !== value) this.#findings.add(`${what} has two owners: ${before} and ${value}`);
  }
}

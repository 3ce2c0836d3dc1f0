/**
 * For tests: the drill of hosts. Clients read and write a register in each sandbox through any of three servers while
 * these, what they reach and their clocks fail by a schedule; after each round every answer is held against what may
 * be answered, and everything has to be back.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { numbersOf } from '../../replication/testing/history.ts';
import { REGISTER_KINDS, type Register, RegisterClient } from './clients.ts';
import { type Asked, type DeathClaim, findingsOf, registerFindings } from './findings.ts';
import { RowHistory } from './row-history.ts';
import { RowsReader } from './rows-reader.ts';
import { type FleetRound, roundText } from './schedule.ts';
import { type FleetHost, type FleetOptions, FleetWorld } from './world.ts';

/** Sandboxes of each kind. */
const OF_A_KIND = 2;
/** Clients that ask at the same time. */
const CLIENTS = 6;
/** Leases that a client waits for an answer. */
const PATIENCE_LEASES = 4;
/** How long a register may take to be read after a round. */
const SETTLE_MS = 120_000;
const AGAIN_MS = 200;
/** How often the hosts are asked which of them are dead. */
const CLAIMS_MS = 250;

export interface FleetDrillOptions extends FleetOptions {
  seed: number;
  /** What goes wrong, round by round; ends when this ends, or when something is found. */
  rounds: Iterable<FleetRound>;
  /** Is told what happens, a line at a time. */
  tell?: (line: string) => void;
}

export interface FleetReport {
  rounds: number;
  /** Requests by what their clients know of them. */
  asked: Record<string, number>;
  /** Answers that were not what was asked for, by status and code. */
  refusals: Record<string, number>;
  /** Faults by kind. */
  faults: Record<string, number>;
  /** Times that a host was surely silent for longer than its lease. */
  silences: number;
  /**
   * Requests for what a dead host had, which no other answered; and answers of sandboxes that were nobody's while some
   * host was silent.
   */
  unreachable: number;
  elsewhere: number;
  /** Sandboxes of dead hosts that others went on with. */
  takenOver: number;
  /** Sentences; the drill ends with the round that has any. */
  findings: string[];
  /** What each host wrote last, where something was found. */
  output: Record<string, string>;
}

/** Runs it. Throws when the servers do not start. */
export async function drillFleet(options: FleetDrillOptions): Promise<FleetReport> {
  const world = await FleetWorld.open(options);
  const drill = new FleetDrill(world, options);
  try {
    await drill.run(options.rounds);
  } catch (error) {
    drill.report.findings.push(`the drill broke off: ${error instanceof Error ? error.message : error}`);
  } finally {
    await drill.stop();
    if (drill.report.findings.length > 0)
      for (const { name, output } of world.hosts) drill.report.output[name] = output;
    await world.close();
  }
  return drill.report;
}

class FleetDrill {
  readonly report: FleetReport = {
    ...{
      rounds: 0,
      asked: {},
      refusals: {},
      faults: {},
      silences: 0,
      unreachable: 0,
      elsewhere: 0,
      takenOver: 0,
      findings: [],
      output: {},
    },
  };
  readonly #world: FleetWorld;
  readonly #options: FleetDrillOptions;
  readonly #rows: RowHistory;
  readonly #reader: RowsReader;
  readonly #stopped = new AbortController();
  readonly #asking: Promise<void>[];
  /** Of the round. */
  #asked: Asked[] = [];
  #claims: DeathClaim[] = [];
  /** What each register held at the end of the round before, and writes to it that may still be done. */
  readonly #held = new Map<string, string>();
  #late: Asked[] = [];

  constructor(world: FleetWorld, options: FleetDrillOptions) {
    this.#world = world;
    this.#options = options;
    this.#rows = new RowHistory(options.leaseMs);
    this.#reader = new RowsReader(world.registryUrl, this.#rows);
    this.#reader.start();
    this.#asking = world.hosts.map((host) => this.#askForDeaths(host));
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all([this.#reader.stop(), ...this.#asking]);
  }

  async run(rounds: Iterable<FleetRound>): Promise<void> {
    const { report } = this;
    const { tell = () => undefined } = this.#options;
    const registers = await this.#registers();
    for (const round of rounds) {
      tell(`round ${report.rounds + 1}: ${roundText(round)}`);
      await this.#round(round, registers);
      report.rounds += 1;
      if (report.findings.length > 0) break;
    }
    if (report.findings.length > 0) return;
    const lines = await this.#world.hosts[0]?.call?.<unknown[]>('GET', '/api/events?type=instance.taken_over');
    if (lines?.status !== 200) report.findings.push(`the ledger is not read: ${lines?.status} ${lines?.text}`);
    report.takenOver = lines?.json.length ?? 0;
    const ledger = await this.#world.hosts[0]?.call?.<{ ok: boolean }>('GET', '/api/events/verify');
    if (ledger?.json.ok !== true) report.findings.push(`the ledger does not verify: ${ledger?.text.slice(0, 500)}`);
  }

  /** Sandboxes of each kind, on the hosts in turn, each with a first value. */
  async #registers(): Promise<Register[]> {
    const { hosts } = this.#world;
    const all = REGISTER_KINDS.flatMap((kind) =>
      Array.from({ length: OF_A_KIND }, (_, at): Register => ({ id: `${kind}-${at}`, kind })),
    );
    for (const [at, { id, kind }] of all.entries()) {
      const host = hosts[at % hosts.length];
      // A busy machine may not renew a lease in time; what says so may have been done.
      for (const begun = performance.now(); ; await pause(AGAIN_MS)) {
        const made = await host?.call?.('POST', '/api/instances', {
          ...{ id, tenant: 'drill' },
          ...(kind === 'synced' ? { replicate: 'sync' } : {}),
        });
        const isMade = made?.status === 201 || made?.status === 409;
        const path = `/api/instances/${id}/volumes/workspace/register`;
        const wrote = isMade ? await host?.call?.('PUT', path, 'first') : made;
        if (wrote?.status === 201 || wrote?.status === 204) break;
        if (wrote?.status !== 503 || performance.now() - begun > SETTLE_MS)
          throw new Error(`${id} was not made: ${wrote?.status} ${wrote?.text} ${host?.output}`);
      }
      this.#held.set(id, 'first');
    }
    return all;
  }

  async #round(round: FleetRound, registers: readonly Register[]): Promise<void> {
    const { report } = this;
    const { seed, leaseMs, tell = () => undefined } = this.#options;
    const begunMs = performance.now();
    [this.#asked, this.#claims] = [[], []];
    let isOver = false;
    const clients = Array.from({ length: CLIENTS }, (_, at) => this.#client(`${report.rounds}.${at}`, at + 1));
    const running = clients.map((client) =>
      client.run(
        registers,
        () => !isOver,
        (asked) => this.#asked.push(asked),
      ),
    );
    const faults = round.faults.map(async (fault) => {
      await pause(fault.afterMs);
      report.faults[fault.kind] = (report.faults[fault.kind] ?? 0) + 1;
      await this.#world.cause(fault);
    });
    const ended = await Promise.allSettled(faults);
    report.findings.push(
      ...ended.flatMap((one) => (one.status === 'rejected' ? [`a fault failed: ${one.reason}`] : [])),
    );
    await pause(Math.max(leaseMs, begunMs + round.forMs - performance.now()));
    isOver = true;
    await Promise.all(running);
    report.findings.push(...(await this.#world.heal()));
    await Promise.all(registers.map((register) => this.#settled(register, this.#client(`${seed}.end`, 0))));
    report.findings.push(
      ...findingsOf({ asked: this.#asked, claims: this.#claims, rows: this.#rows, leaseMs }),
      ...registers.flatMap(({ id }) => this.#registerFindings(id)),
    );
    this.#count(begunMs);
    this.#rows.forgetBefore(begunMs);
    tell(`  ${this.#asked.length} requests, ${report.findings.length} findings`);
  }

  #client(name: string, number: number): RegisterClient {
    const { seed, leaseMs } = this.#options;
    const draw = numbersOf(seed * 1_000_003 + this.report.rounds * 1009 + number);
    return new RegisterClient(this.#world.hosts, name, { draw, patienceMs: PATIENCE_LEASES * leaseMs });
  }

  /** Reads a register through every host, until each of them has answered. */
  async #settled(register: Register, client: RegisterClient): Promise<void> {
    for (const host of this.#world.hosts) {
      for (const begun = performance.now(); ; await pause(AGAIN_MS)) {
        const asked = await client.read(register, host);
        this.#asked.push(asked);
        // What is wrong is found by its answer.
        if (asked.outcome === 'done' || asked.outcome === 'wrong') break;
        if (performance.now() - begun < SETTLE_MS) continue;
        this.report.findings.push(
          `${register.id} is not answered by ${host.name} when nothing is wrong any more: ${asked.answer}`,
        );
        break;
      }
    }
  }

  #registerFindings(id: string): string[] {
    const own = this.#asked.filter(({ register }) => register === id);
    const late = this.#late.filter(({ register }) => register === id);
    const findings = registerFindings(own, { initial: this.#held.get(id) ?? '', late });
    const last = own.findLast(({ kind, outcome }) => kind === 'read' && outcome === 'done');
    if (last !== undefined) this.#held.set(id, last.value);
    const seen = new Set(
      own.flatMap(({ kind, outcome, value }) => (kind === 'read' && outcome === 'done' ? [value] : [])),
    );
    const isLate = ({ kind, outcome, value }: Asked) => kind === 'write' && outcome === 'unknown' && !seen.has(value);
    this.#late = [...this.#late.filter((one) => one.register !== id), ...[...late, ...own].filter(isLate)];
    return findings;
  }

  #count(begunMs: number): void {
    const { report } = this;
    const silences = this.#world.hosts.flatMap(({ name }) =>
      this.#rows.silences(name).filter(({ to }) => to >= begunMs),
    );
    report.silences += silences.length;
    for (const { register, fromMs, toMs, outcome, answer } of this.#asked) {
      report.asked[outcome] = (report.asked[outcome] ?? 0) + 1;
      if (outcome !== 'done') report.refusals[answer] = (report.refusals[answer] ?? 0) + 1;
      if (answer.includes('unreachable')) report.unreachable += 1;
      const isBeside = silences.some(({ from, to }) => from < fromMs && toMs < to);
      if (isBeside && outcome === 'done' && this.#rows.ownerDuring(register, fromMs, fromMs) === null)
        report.elsewhere += 1;
    }
  }

  /** Asks a host again and again which of them are dead. Never rejects. */
  async #askForDeaths(host: FleetHost): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      const fromMs = performance.now();
      const options = { signal: AbortSignal.timeout(this.#options.leaseMs) };
      const got = await host
        .call?.<{ name: string; dead: boolean }[]>('GET', '/api/hosts', undefined, options)
        .catch(() => null);
      const toMs = performance.now();
      if (got?.status === 200)
        for (const { name: of, dead } of got.json) if (dead) this.#claims.push({ by: host.name, of, fromMs, toMs });
      await pause(CLAIMS_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}

/**
 * For tests: lives a random life day by day: waves of commands beside each other, what goes wrong with them, and a
 * comparison of everything at each day's end.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { lookWhole } from '../whole.ts';
import { Carrier, isHere, type Stock } from './carry.ts';
import { type Day, dayOf, type Fault, type Wave } from './commands.ts';
import { type Box, keptOf, lifeOf, takeIn } from './model.ts';
import { diskOf, World } from './world.ts';

export interface LifeOptions {
  seed: number;
  /** Milliseconds after which no day begins. */
  forMs: number;
  /** Days to live instead of those that the seed leads to. */
  days?: readonly Day[];
  /** Kinds of faults that are left out. */
  without?: readonly string[];
  /** Is told everything, an object a time. */
  log?: (line: object) => void;
  /** Called with the world when something was found, before it ends. */
  found?: (world: World) => Promise<void>;
}

export interface Lived {
  days: number;
  commands: number;
  /** Faults by kind, those that could be caused. */
  faults: Record<string, number>;
  comparisons: number;
  /** Sentences; the life ends with the day that has any. */
  findings: string[];
}

/** How long what is swept, settled and swept again in the background may take. */
const SETTLE_MS = 120_000;
/** Faults that last are healed after this many waves. */
const HEAL_AFTER = 2;

/** Lives until the time is over or something is found. */
export async function live(options: LifeOptions): Promise<Lived> {
  const { seed, forMs, days, without = [], log = () => {}, found } = options;
  const world = await World.open(diskOf(seed));
  const life = new OneLife(world, without, log);
  const until = performance.now() + forMs;
  const { lived } = life;
  try {
    await world.start();
    for (let number = 0; performance.now() < until && (days === undefined || number < days.length); number += 1) {
      const day = days?.[number] ?? dayOf(seed, number);
      log({ number, seed, day });
      await life.day(day);
      lived.days += 1;
      if (lived.findings.length > 0) break;
    }
  } catch (error) {
    lived.findings.push(`the life broke off: ${error instanceof Error ? error.message : error}`);
  }
  try {
    if (lived.findings.length > 0) {
      log({ findings: lived.findings, said: world.output });
      await found?.(world);
    }
  } finally {
    await world.close();
  }
  return lived;
}

class OneLife {
  readonly lived: Lived = { days: 0, commands: 0, faults: {}, comparisons: 0, findings: [] };
  readonly #world: World;
  readonly #stock: Stock = { boxes: [], copies: [], bundles: [], unsure: [], restored: new Set(), next: 0 };
  readonly #without: readonly string[];
  readonly #log: (line: object) => void;

  constructor(world: World, without: readonly string[], log: (line: object) => void) {
    this.#world = world;
    this.#without = without;
    this.#log = log;
  }

  async day({ waves, end }: Day): Promise<void> {
    for (const [number, wave] of waves.entries()) {
      if (number % HEAL_AFTER === 0) this.#world.heal();
      await this.#wave(wave);
      if (this.lived.findings.length > 0) return;
    }
    this.#world.heal();
    if (end !== null) await this.#cause({ kind: end });
    await this.#compare();
  }

  async #wave({ commands, fault }: Wave): Promise<void> {
    const { lived } = this;
    const carrier = new Carrier(this.#world, this.#stock);
    const causing = fault === null ? null : pause(fault.afterMs).then(() => this.#cause(fault.fault));
    const carried = await Promise.all(
      commands.map(async (command) => {
        const started = performance.now();
        const one = await carrier.carry(command);
        this.#log({ command, said: one.summary, tookMs: Math.round(performance.now() - started) });
        return one;
      }),
    );
    await causing;
    lived.commands += commands.length;
    lived.findings.push(...carried.flatMap(({ findings }) => findings));
    lived.findings.push(...takeIn(carried.flatMap(({ effects }) => effects)));
    if (this.#world.died) lived.findings.push('the server ended by itself');
    if (commands.some(({ kind }) => kind === 'job')) await this.#jobsDone();
  }

  /** Lets something go wrong, and the server run again. */
  async #cause(fault: Fault): Promise<void> {
    if (this.#without.includes(fault.kind)) return;
    const world = this.#world;
    let caused: string | number | null = fault.kind;
    switch (fault.kind) {
      case 'kill-worker':
        caused = world.signalWorker(fault.which, 'SIGKILL');
        break;
      case 'pause-worker': {
        caused = world.signalWorker(fault.which, 'SIGSTOP');
        if (caused === null) break;
        await pause(fault.ms);
        try {
          process.kill(caused, 'SIGCONT');
        } catch {
          // It was ended meanwhile.
        }
        break;
      }
      case 'kill-server':
      case 'stop-server': {
        const how = await world.end(fault.kind === 'kill-server' ? 'SIGKILL' : 'SIGTERM');
        if (fault.kind === 'stop-server' && how !== '0') this.lived.findings.push(`a stop ended with ${how}`);
        world.heal();
        await world.start();
        break;
      }
      case 'kill-starts':
        await world.end('SIGKILL');
        world.heal();
        for (let time = 0; time < fault.times; time += 1) await world.killStart(fault.afterMs);
        await world.start();
        break;
      case 'power-cut':
        if (await world.cutPower()) {
          world.heal();
          await world.start();
        } else caused = null;
        break;
      case 'fill':
        world.fill();
        break;
      case 'jump':
        world.jump(fault.seconds);
        break;
      case 'read-only':
        caused = world.makeReadOnly(fault.drawer);
        break;
    }
    if (caused === null) return;
    this.#log({ fault, caused });
    this.lived.faults[fault.kind] = (this.lived.faults[fault.kind] ?? 0) + 1;
  }

  /** Waits until no job runs: what they move is not asked for by name. */
  async #jobsDone(): Promise<void> {
    const until = performance.now() + SETTLE_MS;
    let running = '';
    while (performance.now() < until) {
      const got = await this.#world.call('GET', '/api/jobs?state=running').catch(() => null);
      running = got?.text ?? '';
      if (running === '[]') return;
      await pause(50);
    }
    // A full disk keeps a job from being written down as done.
    if (!this.#world.troubled) this.lived.findings.push(`a job does not end: ${running.slice(0, 500)}`);
  }

  /** Learns what became of those whose making was never answered: all of them or none. */
  async #learn(): Promise<void> {
    const stock = this.#stock;
    const { call } = this.#world;
    for (const box of stock.boxes.filter(({ lives }) => lives.has('none'))) {
      const { status } = await call('GET', `/api/instances/${box.id}`);
      const rest = [...box.lives].filter((life) => life !== 'none');
      box.lives = new Set(status === 404 ? ['none'] : rest);
    }
    stock.boxes = stock.boxes.filter(({ lives }) => !lives.has('none'));
    if (stock.unsure.length === 0) return;
    const listed = await call<{ id: string; name: string | null }[]>('GET', '/api/instances?limit=500');
    for (const { name, count, files } of stock.unsure) {
      const made = listed.json.filter((one) => one.name?.replace(/-\d+$/, '') === name);
      if (made.length !== 0 && made.length !== count)
        this.lived.findings.push(`${name}: ${made.length} of ${count} were made`);
      for (const { id } of made)
        stock.boxes.push({ id, lives: new Set(['created']), ephemeral: false, files: new Map(files) });
    }
    stock.unsure = [];
  }

  /** Compares everything once nothing moves. What is found is what should be from then on. */
  async #compare(): Promise<void> {
    const { lived } = this;
    const world = this.#world;
    await this.#jobsDone();
    await this.#learn();
    const boxes = this.#stock.boxes;
    const book = new Map(boxes.map((box) => [box.id, keptOf(box)]));
    const until = performance.now() + SETTLE_MS;
    // A sandbox whose process was killed says so until its next wake.
    const look = async () => {
      const looked = await lookWhole(world, book, ['error']);
      return { ...looked, findings: looked.findings.filter((finding) => !this.#isAside(finding)) };
    };
    let found = await look();
    while (found.findings.length > 0 && performance.now() < until) {
      await pause(500);
      found = await look();
    }
    const { findings, comparisons, seen } = found;
    lived.comparisons += comparisons;
    lived.findings.push(...findings);
    this.#log({ compared: comparisons, sandboxes: boxes.filter(isHere).length });
    for (const box of boxes) this.#narrow(box, seen.get(box.id));
    await this.#ready();
  }

  /** Whether it is what a sandbox had that a snapshot was put in the place of. */
  #isAside(finding: string): boolean {
    const id = /^orphans\/\d+-(.+?)-\d+-.*: lies there/.exec(finding)?.[1];
    return id !== undefined && this.#stock.restored.has(id);
  }

  #narrow(box: Box, seen: { state: Parameters<typeof lifeOf>[0]; files: Map<string, string> } | undefined): void {
    if (seen === undefined) return;
    box.lives = new Set([lifeOf(seen.state)]);
    box.files = new Map([...seen.files].map(([name, digest]) => [name, new Set([digest])]));
  }

  async #ready(): Promise<void> {
    const { status, text } = await this.#world.call('GET', '/readyz');
    if (status !== 200) this.lived.findings.push(`nothing is wrong and /readyz is ${status}: ${text}`);
  }
}

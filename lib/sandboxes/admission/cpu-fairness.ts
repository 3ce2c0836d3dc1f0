/**
 * Processor time fairly by tenant: the processes of a tenant that wants more than half of the processors give way to
 * all others, in a control group of a low weight, or by their priority where there are no groups. A process's
 * demand is the time that it runs plus the time that it waits for a processor, so it does not depend on other load.
 * Owns who gives way; knows nothing of calls.
 *
 * Any user may lower the priority of a process, but only a privileged server may raise it again. Without groups a
 * process that gave way may do so until it ends, that is until its sandbox is suspended.
 */
import { availableParallelism } from 'node:os';
import { cpuTimeOf, setNiceness } from '../../workers/cpu-use.ts';
import { LOWEST_PRIORITY, runNiceness, workerNiceness } from '../../workers/process.ts';
import type { ProcessMember } from '../../workers/protocol/instance.ts';
import type { Engine } from '../engine.ts';
import type { SandboxRuntime } from '../runtimes.ts';

const ROUND_MS = 1000;
/** Share of all processors above which a tenant gives way, and below which it no longer does. */
const TOO_MUCH = 0.5;
const LITTLE = 0.25;
/** Rounds in a row of too much: a short burst costs no priority. */
const ROUNDS = 2;
/** Processors that a process wants to be worth a change. */
const SOME = 0.02;

interface Usage {
  /** Null until it is looked up, which the first round that finds it at work does. */
  tenant: string | null;
  /** Ran and waited for a processor, since its start. */
  seconds: number;
  lastUse: number;
  givesWay: boolean;
}

export class CpuFairness {
  readonly #engine: Pick<Engine, 'runtimes' | 'registry' | 'cpuGroups'>;
  readonly #usage = new WeakMap<ProcessMember, Usage>();
  /** Rounds in a row in which a tenant wanted too much. */
  readonly #greedy = new Map<string, number>();
  #measuredAt = performance.now();
  #timer: NodeJS.Timeout | null = null;
  #stopped = false;

  constructor(engine: Pick<Engine, 'runtimes' | 'registry' | 'cpuGroups'>) {
    this.#engine = engine;
  }

  start(): void {
    if (this.#stopped) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.round()
        // A registry that cannot be read is reported elsewhere; priorities wait.
        .catch(() => undefined)
        .finally(() => this.start());
    }, ROUND_MS).unref();
  }

  /** Measures what was wanted since the last round, and sets priorities. */
  async round(): Promise<void> {
    const now = performance.now();
    const elapsedSeconds = Math.max(0.001, (now - this.#measuredAt) / 1000);
    this.#measuredAt = now;
    const wanted = this.#engine.runtimes
      .values()
      .flatMap((runtime) =>
        (runtime.process?.members ?? []).map((process) => this.#measure(runtime, process, elapsedSeconds)),
      )
      .filter((measured) => measured !== null);
    const byTenant = new Map<string, number>();
    for (const { id, usage, processors } of wanted) {
      if (processors < SOME && !usage.givesWay) continue;
      usage.tenant ??= await this.#engine.registry.instances.tenantOf(id);
      if (usage.tenant !== null) byTenant.set(usage.tenant, (byTenant.get(usage.tenant) ?? 0) + processors);
    }
    for (const tenant of [...this.#greedy.keys()]) if (!byTenant.has(tenant)) this.#greedy.delete(tenant);
    for (const [tenant, processors] of byTenant) {
      const share = processors / availableParallelism();
      this.#greedy.set(tenant, share > TOO_MUCH ? (this.#greedy.get(tenant) ?? 0) + 1 : 0);
      for (const { process, usage, processors: own } of wanted) {
        if (usage.tenant !== tenant) continue;
        if ((this.#greedy.get(tenant) ?? 0) >= ROUNDS && own >= SOME) await this.#lower(tenant, process, usage);
        else if (share < LITTLE) await this.#raise(tenant, process, usage);
      }
    }
  }

  /** How many processors a process wanted; null for one that cannot have wanted any. */
  #measure({ id, lastUse }: SandboxRuntime, process: ProcessMember, elapsedSeconds: number) {
    const known = this.#usage.get(process);
    if (known !== undefined && known.lastUse === lastUse && !process.busy && !known.givesWay) return null;
    const time = cpuTimeOf(process.pid);
    if (time === null) return null;
    const seconds = time.ran + time.waited;
    const usage = known ?? { tenant: null, seconds, lastUse, givesWay: false };
    // Its main thread wants one at most; what it waited is told only when it gets one.
    const processors = Math.min(1, (seconds - usage.seconds) / elapsedSeconds);
    this.#usage.set(process, Object.assign(usage, { seconds, lastUse }));
    return { id, process, usage, processors };
  }

  async #lower(tenant: string, process: ProcessMember, usage: Usage): Promise<void> {
    if (usage.givesWay) return;
    const { cpuGroups } = this.#engine;
    const { pid } = process;
    if (cpuGroups === null) {
      usage.givesWay = setNiceness(pid, LOWEST_PRIORITY);
      return;
    }
    usage.givesWay = await cpuGroups.enter(tenant, pid);
    if (usage.givesWay) void process.ended.then(() => cpuGroups.left(tenant, pid));
  }

  async #raise(tenant: string, { pid, isBackground }: ProcessMember, usage: Usage): Promise<void> {
    if (!usage.givesWay) return;
    const { cpuGroups } = this.#engine;
    const niceness = isBackground ? runNiceness() : workerNiceness();
    const isRaised = cpuGroups === null ? setNiceness(pid, niceness) : await cpuGroups.leave(tenant, pid);
    usage.givesWay = !isRaised;
  }

  stop(): void {
    this.#stopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }
}

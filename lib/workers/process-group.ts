/**
 * The processes of one sandbox: one that it always has, and others beside it while calls of several kinds overlap. All
 * have the same file open, each with a handle of its own, and any of them runs any call; components have one to
 * themselves. Owns which process serves a call, and that the last one puts the file to rest. Knows nothing of rows,
 * drawers or HTTP.
 */
import type { WinterdockError } from '../base/errors.ts';
import { lookAtNow } from '../base/strangers-file.ts';
import type { ReadAnswer, ReadRequest } from '../vfs/types.ts';
import { closeBeside, type GroupMember, isIdle, takeFor } from './group-member.ts';
import { IdleWaiters } from './idle-waiters.ts';
import { processGoneError } from './process-gone-error.ts';
import { requireCapability } from './protocol/capability-check.ts';
import type {
  CallAhead,
  Death,
  DeathCause,
  InstanceProcess,
  OpenSpec,
  PauseReport,
  ProcessWatcher,
  TurnKind,
  WriteOperation,
  WriteOutcome,
} from './protocol/instance.ts';
import { type PolicyName, type PolicyProfile, profileOf } from './protocol/policies.ts';
import type { SupervisedInstance } from './supervisor.ts';
import { type CallTurn, isBackground, SandboxTurns, TURN_PLACES, turnOfEval, turnOfExec } from './turns.ts';

/** How long a process beside the first one is kept for the next call, in milliseconds. */
const IDLE_MS = 10_000;
/** How often a run for whose process there is no room looks again, in milliseconds. */
const NO_ROOM_MS = 250;
/** Processes for calls: one of each kind. */
const MOST_FOR_CALLS = 4;

interface CallOptions {
  signal?: AbortSignal;
  onWaiting?: (ahead: () => CallAhead | null) => void;
}

/** Starts a process that joins the others; null when there is no room for one. */
type OpenMember = (options: { isBackground: boolean }) => SupervisedInstance | null;

export class ProcessGroup implements InstanceProcess {
  readonly id: string;
  readonly opened: Promise<void>;
  readonly ended: Promise<Death>;
  readonly #spec: OpenSpec;
  readonly #profile: PolicyProfile & { name: PolicyName };
  readonly #openMember: OpenMember;
  readonly #turns = new SandboxTurns();
  readonly #idle = new IdleWaiters(() => this.busy);
  readonly #watchers: ProcessWatcher[] = [];
  readonly #end = Promise.withResolvers<Death>();
  /** The first one has the role of the only one; never empty before the end. */
  #members: GroupMember[] = [];
  /** The one that has the memory of components. Other calls take it only where there is no room for another one. */
  #withComponents: GroupMember | null = null;
  #identity: string | null = null;
  #firstPid = 0;
  #death: Death | null = null;
  #hasEnded = false;
  /** No more calls are taken. */
  #closing = false;
  /** Calls that have not begun never will. */
  #ending = false;
  /** Of processes that have ended. */
  #cpuSeconds = 0;
  /** The inode of the file when the first process had opened it; null for `:memory:`. */
  #inode: bigint | null = null;

  constructor(first: SupervisedInstance, spec: OpenSpec, openMember: OpenMember) {
    this.id = spec.id;
    this.#spec = spec;
    this.#profile = profileOf(spec.policy);
    this.#openMember = openMember;
    this.ended = this.#end.promise;
    this.#add(first);
    this.opened = first.opened.then(() => {
      this.#inode = this.#inodeNow();
    });
    this.opened.catch(() => {});
  }

  get pid(): number {
    return this.#members[0]?.instance.pid ?? this.#firstPid;
  }

  get members(): readonly SupervisedInstance[] {
    return this.#members.map(({ instance }) => instance);
  }

  get identity(): string | null {
    return this.#identity;
  }

  get busy(): boolean {
    return !this.#turns.areFree || this.#members.some(({ instance }) => instance.busy);
  }

  get thermal(): 'hot' | 'warm' {
    return this.#members[0]?.instance.thermal ?? 'hot';
  }

  readonly exec: InstanceProcess['exec'] = async (request, options = {}) => {
    requireCapability(this.#profile, 'shell', { id: this.id, policy: this.#spec.policy });
    const turn = { kind: turnOfExec(request), code: request.command };
    return this.#inTurn(turn, options, (instance) => instance.exec(request, options));
  };

  readonly eval: InstanceProcess['eval'] = async (request, options = {}) => {
    requireCapability(this.#profile, request.language, { id: this.id, policy: this.#spec.policy });
    const turn = { kind: turnOfEval(request), code: request.code };
    return this.#inTurn(turn, options, (instance) => instance.eval(request, options));
  };

  /** All in one process, which has their memory. */
  readonly callComponents: InstanceProcess['callComponents'] = (request, options = {}) => {
    const code = request.steps.map(({ component }) => component.path).join(', ');
    return this.#inTurn({ kind: 'components', code }, options, (instance) => instance.callComponents(request, options));
  };

  async write(operation: WriteOperation): Promise<WriteOutcome> {
    try {
      return await this.#unoccupied().write(operation);
    } finally {
      this.#callEnded();
    }
  }

  async read(request: ReadRequest): Promise<ReadAnswer> {
    try {
      return await this.#first().read(request);
    } finally {
      this.#callEnded();
    }
  }

  async peek(request: ReadRequest): Promise<ReadAnswer | null> {
    if (this.#members.length === 0 || this.#isGone) return null;
    try {
      return await this.#unoccupied().peek(request);
    } finally {
      this.#callEnded();
    }
  }

  async close({ drainMs, force, keepLog }: Parameters<InstanceProcess['close']>[0]): Promise<boolean> {
    if (this.#isGone) throw this.#goneError();
    this.#closing = true;
    const started = performance.now();
    try {
      if (!(await this.#idle.wait(drainMs))) {
        if (!force) return false;
        this.#refuseWaiting();
      }
      this.#ending = true;
      const [first, ...others] = this.#members;
      await Promise.all(others.map(({ instance }) => closeBeside(instance, force)));
      if (first === undefined || this.#hasEnded) throw this.#goneError();
      const leftMs = Math.max(0, drainMs - (performance.now() - started));
      const isClosed = await first.instance.close({ drainMs: leftMs, force, rests: true, keepLog });
      if (isClosed) this.#identity = first.instance.identity;
      return isClosed;
    } finally {
      this.#closing = this.#hasEnded;
      this.#ending = this.#hasEnded;
    }
  }

  async pause(): Promise<PauseReport | null> {
    const [first, ...others] = this.#members;
    if (first === undefined || this.busy) return null;
    if (others.length === 0) return first.instance.pause();
    await Promise.all(others.map(({ instance }) => instance.kill('closed')));
    return this.#members[0] === first && !this.busy ? first.instance.pause() : null;
  }

  thaw(): Promise<number | null> {
    return this.#members[0]?.instance.thaw() ?? Promise.resolve(null);
  }

  cpuSeconds(): number {
    return this.#members.reduce((sum, { instance }) => sum + instance.cpuSeconds(), this.#cpuSeconds);
  }

  /** One check of each process that has nothing to do, to be called every few seconds. */
  check(): void {
    for (const { instance } of this.#members) instance.check();
  }

  watch(watcher: ProcessWatcher): void {
    this.#watchers.push(watcher);
  }

  /** Ends the processes that stand idle beside the first one, whose memory another sandbox needs. */
  endIdle(): void {
    for (const { instance, calls } of this.#members.slice(1))
      if (!instance.busy && calls === 0) void instance.kill('closed');
  }

  async end(): Promise<Death> {
    this.#closing = true;
    this.#ending = true;
    this.#refuseWaiting();
    const [first, ...others] = this.#members;
    await Promise.all(others.map(({ instance }) => instance.kill('killed')));
    await first?.instance.end();
    return this.ended;
  }

  kill(cause: DeathCause, detail?: string): Promise<Death> {
    this.#closing = true;
    this.#ending = true;
    // The first one last: those that are left when it ends would go on.
    for (const { instance } of this.#members.toReversed()) void instance.kill(cause, detail);
    return this.ended;
  }

  get #isGone(): boolean {
    return this.#hasEnded || this.#closing;
  }

  #goneError(): WinterdockError {
    return processGoneError(this.id, this.#death, false);
  }

  /** The process that is always there. Throws `conflict` when the sandbox has none any more. */
  #first(): SupervisedInstance {
    const [first] = this.#members;
    if (first === undefined || this.#isGone) throw this.#goneError();
    return first.instance;
  }

  /** The first one, or another when that runs a call, which may take its thread. */
  #unoccupied(): SupervisedInstance {
    const first = this.#first();
    if (!first.isCalling) return first;
    const other = this.#members.find(({ instance, isOpen }) => isOpen && !instance.isBackground && !instance.isCalling);
    return other?.instance ?? first;
  }

  async #inTurn<T>(
    { kind, code }: Pick<CallTurn, 'kind' | 'code'>,
    { signal, onWaiting }: CallOptions,
    work: (instance: SupervisedInstance) => Promise<T>,
  ): Promise<T> {
    if (this.#isGone) throw this.#goneError();
    const turn: CallTurn = { kind, code, begunMs: null, isHeldUp: false };
    const ahead = () => this.#turns.aheadOf(turn);
    const begun = this.#turns.enter(turn, this.id, signal);
    if (begun !== null) {
      onWaiting?.(ahead);
      await begun;
    }
    try {
      const member = this.#take(kind) ?? (await this.#another(kind, signal));
      if (kind === 'components') this.#giveComponents(member);
      turn.isHeldUp = member.instance.isCalling;
      if (turn.isHeldUp) onWaiting?.(ahead);
      try {
        return await work(member.instance);
      } catch (error) {
        // It ended before it had the file open, so nothing has begun.
        const [first] = this.#members;
        if (member.isOpen || this.#ending || first === undefined || member === first) throw error;
        if (kind === 'components') this.#giveComponents(first);
        return await work(first.instance);
      } finally {
        member.calls -= 1;
      }
    } finally {
      this.#turns.leave(turn);
      this.#callEnded();
    }
  }

  /** A process has the memory of components from now on. It becomes the first one when it has the file open. */
  #giveComponents(member: GroupMember): void {
    this.#withComponents = member;
    if (member.isOpen) this.#members = [member, ...this.#members.filter((other) => other !== member)];
  }

  /**
   * Takes an idle process for a call of this kind: the one that ran this kind last, else the first; null for none.
   * Components have one of their own.
   */
  #take(kind: TurnKind): GroupMember | null {
    if (this.#ending) throw this.#goneError();
    if (kind === 'components' && this.#withComponents !== null) return takeFor(this.#withComponents, kind);
    const isBeside = isBackground(kind);
    const free = this.#members.filter(
      (member) => member !== this.#withComponents && isIdle(member) && member.instance.isBackground === isBeside,
    );
    const member = free.find(({ kind: last }) => last === kind) ?? free[0];
    return member === undefined ? null : takeFor(member, kind);
  }

  /** One more process; where there is no room for it, the one whose turn comes first. */
  async #another(kind: TurnKind, signal?: AbortSignal): Promise<GroupMember> {
    const isBeside = isBackground(kind);
    await this.opened;
    const free = this.#take(kind);
    if (free !== null) return free;
    const same = this.#members.filter(({ instance }) => instance.isBackground === isBeside);
    const most = isBeside ? TURN_PLACES.run + TURN_PLACES.job : MOST_FOR_CALLS;
    const mayJoin = this.#inode !== null && this.#inodeNow() === this.#inode && same.length < most;
    const instance = mayJoin ? this.#openMember({ isBackground: isBeside }) : null;
    if (instance !== null) return takeFor(this.#add(instance), kind);
    const isHeldUp = this.#inode !== null && this.#members.some((member) => member.calls > 0);
    if (isBeside && isHeldUp && signal?.aborted !== true) {
      // A run that took the next turn of the first process would hold up calls, and perhaps the one that waits for it.
      await new Promise((resolve) => setTimeout(resolve, NO_ROOM_MS).unref());
      return this.#another(kind, signal);
    }
    const [first] = [...same, ...this.#members];
    if (first === undefined) throw this.#goneError();
    return takeFor(first, kind);
  }

  /** The inode of the file; null when it has none, or is not there. */
  #inodeNow(): bigint | null {
    if (this.#spec.file === ':memory:') return null;
    return lookAtNow(this.#spec.file)?.ino ?? null;
  }

  #add(instance: SupervisedInstance): GroupMember {
    const member: GroupMember = { instance, kind: null, isOpen: false, calls: 0, idleTimer: null };
    this.#members.push(member);
    this.#firstPid ||= instance.pid;
    instance.isReplaceable = () => this.#goesOnWithout(member);
    instance.opened.then(
      () => {
        member.isOpen = true;
        if (member === this.#withComponents) this.#giveComponents(member);
      },
      () => {},
    );
    instance.watch({
      onSilent: (silence) => {
        if (this.#members[0] !== member) void instance.kill('silent');
        else for (const watcher of this.#watchers) watcher.onSilent(silence);
      },
      onThawed: (tookMs) => {
        if (this.#members[0] === member) for (const watcher of this.#watchers) watcher.onThawed(tookMs);
      },
    });
    void instance.ended.then((death) => this.#memberEnded(member, death));
    return member;
  }

  #callEnded(): void {
    for (const member of this.#members.slice(1)) {
      if (member.instance.busy || member.calls > 0) continue;
      if (member.idleTimer !== null) clearTimeout(member.idleTimer);
      member.idleTimer = setTimeout(() => {
        if (!member.instance.busy && member.calls === 0 && this.#members[0] !== member)
          void member.instance.kill('closed');
      }, IDLE_MS).unref();
    }
    if (!this.busy) this.#idle.release();
  }

  /** The others go on when one of them runs a call; else the sandbox has no process any more. */
  #goesOnWithout(member: GroupMember): boolean {
    if (this.#closing || this.#death !== null) return false;
    const [first, ...others] = this.#members;
    return member !== first || others.some(({ instance }) => instance.isCalling);
  }

  #memberEnded(member: GroupMember, death: Death): void {
    const wasFirst = this.#members[0] === member;
    const goesOn = this.#goesOnWithout(member);
    if (member.idleTimer !== null) clearTimeout(member.idleTimer);
    this.#members = this.#members.filter((other) => other !== member);
    this.#cpuSeconds += member.instance.cpuSeconds();
    if (wasFirst) this.#firstPid = member.instance.pid;
    if (this.#withComponents === member) this.#withComponents = null;
    if (goesOn) {
      if (death.cause !== 'closed') for (const watcher of this.#watchers) watcher.onMemberEnded?.(death);
      return;
    }
    if (wasFirst) this.#death ??= death;
    if (this.#members.length === 0) this.#settle(this.#death ?? death);
    else if (wasFirst) for (const { instance } of this.#members) void instance.kill(death.cause);
  }

  #settle(death: Death): void {
    this.#death = death;
    this.#hasEnded = true;
    this.#refuseWaiting();
    this.#end.resolve(death);
    this.#idle.release();
  }

  #refuseWaiting(): void {
    this.#turns.clear(() => this.#goneError());
  }
}

/**
 * Terminals that stay: scrollback, directory and the line that runs belong to the server, so that a reload and another
 * browser find them. In memory, bounded. One that a browser shows holds its sandbox awake; one that none shows goes
 * with the filing of its sandbox. Knows nothing of HTTP or keys.
 */

import type { Clock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { isWinterdockError, messageOf, publicMessage, WinterdockError } from '../base/errors.ts';
import { type InstanceId, newId } from '../base/ids.ts';
import type { Logger } from '../base/log.ts';
import { waitForCall } from '../base/waiters.ts';
import type { State } from '../lifecycle/state-map.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import type { RunCallOutcome, RunStatus } from '../runs/run-types.ts';
import type { Runs } from '../runs/runs.ts';
import { requireInstance } from '../sandboxes/engine.ts';
import type { AuditContext, Sandboxes } from '../sandboxes/sandboxes.ts';
import type { CallAhead, OutputChunk } from '../workers/protocol/instance.ts';
import { missingDirectory } from '../workers/protocol/missing-directory.ts';
import { type OpenTerminal, shownEnd, statusOf } from './open-terminal.ts';
import type { TerminalActor, TerminalReader, TerminalStatus, TypedLine } from './terminal-types.ts';
import { Transcript } from './transcript.ts';

/** For so long after the last browser left, a terminal counts as shown. */
const SHOWN_MS = 60_000;
/** One that nobody typed into, and that printed nothing, holds its sandbox no longer. */
const USED_MS = 30 * 60_000;
const LOOK_MS = 5000;
/** A wait that is shorter is not told of. */
const WAIT_MS = 300;
/** Where a terminal begins. */
const HOME = '/workspace';
const MAX_READERS = 32;
/** Gone terminals that are told of: of one sandbox, and of all. */
const MAX_GONE = 8;
const MAX_GONE_IN_ALL = 2000;
/** What `clear` prints at its end. */
const ERASE_SCROLLBACK = '\x1b[3J';
const UNUSED = `Unused for ${USED_MS / 60_000} minutes: it no longer keeps the sandbox awake. The next line does again.`;

export class Terminals {
  readonly #config: Pick<Config, 'terminalBytes' | 'terminalsPerSandbox' | 'terminalsPerTenant'>;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #registry: Registry;
  readonly #runs: Runs;
  readonly #sandboxes: Sandboxes;
  readonly #open = new Map<string, Map<string, OpenTerminal>>();
  /** By sandbox, the sandbox whose terminal went last at the end. */
  readonly #gone = new Map<InstanceId, TerminalStatus[]>();
  #timer: NodeJS.Timeout | null = null;
  #stopListening: () => void = () => {};

  constructor(parts: {
    config: Config;
    clock: Clock;
    log: Logger;
    registry: Registry;
    runs: Runs;
    sandboxes: Sandboxes;
  }) {
    this.#config = parts.config;
    this.#clock = parts.clock;
    this.#log = parts.log;
    this.#registry = parts.registry;
    this.#runs = parts.runs;
    this.#sandboxes = parts.sandboxes;
  }

  start(): void {
    this.#stopListening = this.#registry.commitEvents.onLedgerAppend(({ lines }) => {
      for (const { instance, type, to } of lines)
        if (type === 'transition' && instance !== null && to !== null) this.#moved(instance, to);
    });
    this.#timer = setInterval(() => {
      this.look().catch((error) => this.#log.error({ error: messageOf(error) }, 'terminals'));
    }, LOOK_MS).unref();
  }

  /** Ends every reader. */
  stop(): void {
    this.#stopListening();
    if (this.#timer !== null) clearInterval(this.#timer);
    for (const terminal of this.#all()) this.#wake(terminal, 'The server stops.');
  }

  /** Those that are open, and the last ones that went, oldest first. */
  async list(id: InstanceId): Promise<TerminalStatus[]> {
    await requireInstance({ registry: this.#registry }, id);
    const open = [...(this.#open.get(id)?.values() ?? [])].map(statusOf);
    return [...(this.#gone.get(id) ?? []), ...open].sort((one, other) => one.number - other.number);
  }

  /** Opens one. Wakes nothing. Throws `archived`, a fault, `capability`, `quota_exceeded`. */
  async create(id: InstanceId, audit: AuditContext): Promise<TerminalStatus> {
    const { tenant } = await this.#sandboxes.requireCallable(id, 'shell', audit);
    const ofSandbox = this.#open.get(id) ?? new Map<string, OpenTerminal>();
    const { terminalsPerSandbox, terminalsPerTenant, terminalBytes } = this.#config;
    const used = this.#all().filter((terminal) => terminal.tenant === tenant).length;
    if (ofSandbox.size >= terminalsPerSandbox) throw tooMany(`The sandbox "${id}"`, terminalsPerSandbox, 'SANDBOX');
    if (used >= terminalsPerTenant) throw tooMany(`The tenant "${tenant}"`, terminalsPerTenant, 'TENANT');
    const now = this.#clock.now();
    const numbers = new Set([...ofSandbox.values()].map(({ number }) => number));
    let number = 1;
    while (numbers.has(number)) number += 1;
    const terminal: OpenTerminal = {
      id: newId('term'),
      instance: id,
      tenant,
      number,
      created: now,
      cwd: HOME,
      kept: '',
      run: null,
      line: null,
      transcript: new Transcript(terminalBytes),
      readers: 0,
      shownAt: now,
      usedAt: now,
      isAttached: false,
      waiters: new Set(),
      gone: null,
    };
    this.#open.set(id, ofSandbox.set(terminal.id, terminal));
    try {
      await this.#record(terminal, audit, 'terminal.opened');
    } catch (error) {
      this.#remove(terminal, CLOSED);
      throw error;
    }
    return statusOf(terminal);
  }

  /** Runs a line in its directory. Throws `conflict` while one runs, and what beginning a run throws. */
  async type(
    id: InstanceId,
    name: string,
    line: TypedLine & Pick<TerminalActor, 'actor_name'>,
    audit: AuditContext,
  ): Promise<RunStatus> {
    const terminal = await this.#require(id, name);
    if (terminal.line !== null) {
      throw new WinterdockError('conflict', 'A line runs in this terminal.', { hint: 'Wait for its end, or stop it.' });
    }
    const { language, text, actor_name } = line;
    const { cwd, kept } = terminal;
    terminal.line = { text, language, cwd, actor: audit.actor, actor_name };
    this.#push(terminal, 'line', terminal.line, Buffer.byteLength(text));
    let hasEnded = false;
    try {
      const run = await this.#runs.begin(id, { language, code: text, cwd, terminal: terminal.id, kept }, audit, {
        onWoke: ({ woke, wokeMs, from }) => this.#push(terminal, 'woke', { woke, from, took_ms: wokeMs }, 0),
        onWaiting: (ahead) => this.#tellWait(terminal, ahead),
        onOutput: (chunk) => this.#output(terminal, chunk),
        onEnded: (ended, outcome) => {
          hasEnded = true;
          this.#ended(terminal, ended, outcome);
        },
      });
      if (!hasEnded) terminal.run = run.id;
      return run;
    } catch (error) {
      const hint = isWinterdockError(error) ? (error.hint ?? null) : null;
      terminal.line = null;
      this.#push(terminal, 'refused', { detail: publicMessage(error), hint }, 0);
      throw error;
    }
  }

  /** Stops the line that runs; without one nothing changes. */
  async interrupt(id: InstanceId, name: string, audit: AuditContext): Promise<TerminalStatus> {
    const terminal = await this.#require(id, name);
    if (terminal.run !== null) await this.#runs.stop(id, terminal.run, audit, 'INT');
    return statusOf(terminal);
  }

  /** Removes the scrollback, for everybody. A line that runs stays. */
  async clear(
    id: InstanceId,
    name: string,
    by: Pick<TerminalActor, 'actor_name'>,
    audit: AuditContext,
  ): Promise<TerminalStatus> {
    await this.#record(await this.#require(id, name), audit, 'terminal.cleared');
    // It may have gone meanwhile.
    const terminal = await this.#require(id, name);
    this.#wipe(terminal, { actor: audit.actor, actor_name: by.actor_name });
    return statusOf(terminal);
  }

  #wipe(terminal: OpenTerminal, { actor, actor_name }: TerminalActor): void {
    terminal.transcript.clear();
    this.#push(terminal, 'clear', { actor, actor_name }, 0);
    if (terminal.line !== null) this.#push(terminal, 'line', terminal.line, Buffer.byteLength(terminal.line.text));
  }

  /** Closes one, with its scrollback; the line that runs is stopped. */
  async close(id: InstanceId, name: string, audit: AuditContext): Promise<void> {
    const terminal = await this.#require(id, name);
    await this.#record(terminal, audit, 'terminal.closed');
    this.#remove(terminal, CLOSED);
    if (terminal.run !== null) await this.#runs.stop(id, terminal.run, audit, 'HUP');
  }

  /** Shows one: as long as it is not left, it counts as shown. Throws `gone`, `not_found`, `rate_limited`. */
  async read(id: InstanceId, name: string): Promise<TerminalReader> {
    const terminal = await this.#require(id, name);
    if (terminal.readers >= MAX_READERS) {
      throw new WinterdockError('rate_limited', `${MAX_READERS} browsers show this terminal already.`, {
        retryAfterSeconds: 5,
      });
    }
    return {
      status: () => statusOf(terminal),
      goneBecause: () => terminal.gone,
      after: (seq, most) => terminal.transcript.after(seq, most),
      last: () => terminal.transcript.last,
      changed: (signal) => waitForCall(terminal.waiters, signal),
      show: () => this.#show(terminal),
    };
  }

  /** Holds the sandboxes of the terminals that are shown and used, and lets go of the others. */
  async look(): Promise<void> {
    for (const terminal of this.#all()) await this.#lookAt(terminal);
  }

  async #lookAt(terminal: OpenTerminal): Promise<void> {
    const now = this.#clock.now();
    // Shown or used at a time ahead: the clock was set back.
    terminal.shownAt = Math.min(terminal.shownAt, now);
    terminal.usedAt = Math.min(terminal.usedAt, now);
    const row = await this.#registry.instances.get(terminal.instance);
    if (terminal.gone !== null) return;
    const isShown = this.#isShown(terminal);
    const isActive = row?.state === 'active';
    if (!isActive && !isShown) this.#remove(terminal, `Its sandbox was ${row?.state ?? 'deleted'}.`);
    else if (isActive && isShown && now - terminal.usedAt < USED_MS) {
      await this.#sandboxes.attach(terminal.instance, terminal.id);
      terminal.isAttached = true;
    } else {
      if (terminal.isAttached && isActive && isShown) this.#note(terminal, UNUSED);
      this.#letGo(terminal);
    }
  }

  #show(terminal: OpenTerminal): () => void {
    terminal.readers += 1;
    terminal.shownAt = this.#clock.now();
    this.#lookSoon(terminal);
    let isLeft = false;
    return () => {
      if (isLeft) return;
      isLeft = true;
      terminal.readers -= 1;
      terminal.shownAt = this.#clock.now();
    };
  }

  #lookSoon(terminal: OpenTerminal): void {
    // The next round tries again.
    this.#lookAt(terminal).catch((error) => this.#log.debug({ error: messageOf(error) }, 'a terminal'));
  }

  #isShown({ readers, shownAt }: OpenTerminal): boolean {
    return readers > 0 || this.#clock.now() - shownAt < SHOWN_MS;
  }

  #letGo(terminal: OpenTerminal): void {
    if (!terminal.isAttached) return;
    terminal.isAttached = false;
    this.#sandboxes.detach(terminal.instance, terminal.id);
  }

  #moved(instance: string, to: State): void {
    for (const terminal of [...(this.#open.get(instance)?.values() ?? [])]) {
      if (to === 'active') this.#lookSoon(terminal);
      else if (to === 'deleted' || !this.#isShown(terminal)) this.#remove(terminal, `Its sandbox was ${to}.`);
      else {
        this.#letGo(terminal);
        this.#note(terminal, `The sandbox is ${to}.`);
      }
    }
  }

  #remove(terminal: OpenTerminal, because: string): void {
    if (terminal.gone !== null) return;
    const { instance, id } = terminal;
    this.#letGo(terminal);
    const ofSandbox = this.#open.get(instance);
    ofSandbox?.delete(id);
    if (ofSandbox?.size === 0) this.#open.delete(instance);
    if (because !== CLOSED) {
      const told = this.#gone.get(instance) ?? [];
      this.#gone.delete(instance);
      this.#gone.set(
        instance,
        [...told, { ...statusOf(terminal), gone: because, endedMs: this.#clock.now() }].slice(-MAX_GONE),
      );
      const [oldest] = this.#gone.keys();
      if (this.#gone.size > MAX_GONE_IN_ALL && oldest !== undefined) this.#gone.delete(oldest);
    }
    this.#wake(terminal, because);
  }

  #wake(terminal: OpenTerminal, because: string): void {
    terminal.gone = because;
    for (const resolve of [...terminal.waiters]) resolve();
  }

  /** Adds what somebody or a line did there: it is used. */
  #push(terminal: OpenTerminal, event: string, data: unknown, bytes: number): void {
    terminal.usedAt = this.#clock.now();
    this.#add(terminal, event, data, bytes);
  }

  /** Adds what the server says. That is no use of it. */
  #note(terminal: OpenTerminal, text: string): void {
    this.#add(terminal, 'note', { text }, 0);
  }

  #add(terminal: OpenTerminal, event: string, data: unknown, bytes: number): void {
    terminal.transcript.push(event, data, bytes);
    for (const resolve of [...terminal.waiters]) resolve();
  }

  /** Says what a line waits for, once it has waited a moment. */
  #tellWait(terminal: OpenTerminal, ahead: () => CallAhead | null): void {
    setTimeout(() => {
      const call = ahead();
      if (call === null) return;
      const { kind, code, forMs, others } = call;
      this.#push(terminal, 'waits', { kind, code, for_ms: forMs, others }, code.length);
    }, WAIT_MS).unref();
  }

  #output(terminal: OpenTerminal, { stream, text, skipped = 0 }: OutputChunk): void {
    const cleared = text.lastIndexOf(ERASE_SCROLLBACK);
    if (cleared !== -1 && terminal.line !== null) this.#wipe(terminal, terminal.line);
    const rest = cleared === -1 ? text : text.slice(cleared + ERASE_SCROLLBACK.length);
    if (rest === '' && skipped === 0) return;
    // The end of what is more than the scrollback at once.
    const kept = rest.slice(-this.#config.terminalBytes);
    if (skipped > 0 || kept.length < rest.length) {
      this.#push(terminal, 'gap', { dropped: skipped + rest.length - kept.length }, 0);
    }
    this.#push(terminal, stream, { output: kept }, kept.length);
  }

  #ended(terminal: OpenTerminal, run: RunStatus, outcome: RunCallOutcome | null): void {
    terminal.run = null;
    terminal.line = null;
    if (outcome !== null && 'cwd' in outcome) {
      terminal.cwd = outcome.cwd;
      terminal.kept = outcome.kept ?? terminal.kept;
    }
    // Its folder was removed or renamed: the next line runs where a new terminal begins.
    else if (run.reason?.startsWith(missingDirectory(terminal.cwd))) terminal.cwd = HOME;
    const { data, length } = shownEnd(terminal, run, outcome);
    this.#push(terminal, 'exit', data, length);
  }

  /** A line of the ledger. What somebody types is in no line: runs keep their beginning. */
  #record({ instance, tenant, number }: OpenTerminal, audit: AuditContext, type: string): Promise<void> {
    const line = { ...audit, reason: `Terminal ${number}` };
    return this.#registry.ledger.append([ledgerEntry({ clock: this.#clock }, { id: instance, tenant }, line, type)]);
  }

  #all(): OpenTerminal[] {
    return [...this.#open.values()].flatMap((ofSandbox) => [...ofSandbox.values()]);
  }

  /** Throws `not_found`, also for that of another sandbox, and `gone` for one that went, with the reason. */
  async #require(id: InstanceId, name: string): Promise<OpenTerminal> {
    await requireInstance({ registry: this.#registry }, id);
    const terminal = this.#open.get(id)?.get(name);
    if (terminal !== undefined) return terminal;
    const gone = this.#gone.get(id)?.find((one) => one.id === name);
    if (gone !== undefined) {
      throw new WinterdockError('gone', `The terminal is gone, with its scrollback. ${gone.gone}`, {
        hint: 'Open another one.',
      });
    }
    throw new WinterdockError('not_found', `The sandbox "${id}" has no terminal "${name}".`, {
      hint: 'A restart of the server ends terminals.',
    });
  }
}

const CLOSED = 'It was closed.';

function tooMany(who: string, limit: number, setting: 'SANDBOX' | 'TENANT'): WinterdockError {
  return new WinterdockError('quota_exceeded', `${who} may have ${limit} terminals, and has that many.`, {
    hint: `Close one, or raise WB_TERMINALS_PER_${setting}.`,
    extra: { quota: `terminals_per_${setting.toLowerCase()}`, limit, used: limit },
  });
}

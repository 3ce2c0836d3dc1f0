/**
 * For tests: clients of the drill of hosts. Each reads and writes registers, files in sandboxes, through whichever host
 * it draws, and puts sandboxes to rest as their kind says. Knows what answers the product may give, and nothing of what
 * goes wrong.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Call, Got } from '../call.ts';
import type { Asked, AskedOutcome } from './findings.ts';

/**
 * What clients do with a sandbox, and what it has promised while its host is dead. `awake`: it is left so. `on-disk`:
 * it is suspended now and then; both are unreachable then. `in-store`: it is frozen now and then, and wakes on any host
 * once it is whole in the store. `synced`: its answers wait for its replica, of which it goes on on any host that is
 * asked for a command or a write; nothing of it is lost then.
 */
export const REGISTER_KINDS = ['awake', 'on-disk', 'in-store', 'synced'] as const;
type RegisterKind = (typeof REGISTER_KINDS)[number];

export interface Register {
  readonly id: string;
  readonly kind: RegisterKind;
}

/** A host that clients ask; the call is of the server that it has now, and null while it has none. */
export interface AskedHost {
  readonly name: string;
  readonly call: Call | null;
}

interface Answered {
  outcome: AskedOutcome;
  answer: string;
  value: string;
}

const FILE = 'register';
/** Nothing was done, whenever it is answered. */
const REFUSED = ['unreachable', 'conflict'];
/** The same, unless the answer says that it had begun. */
const AWAY = ['registry_unavailable', 'storage_unavailable', 'capacity', 'not_replicated'];
/** A sandbox that is at rest already, or awake again. */
const OF_RESTS = ['invalid_transition'];
/** Of what is drawn; the others put the sandbox to rest. */
const SHARES: Readonly<Record<RegisterKind, { reads: number; writes: number }>> = {
  awake: { reads: 0.5, writes: 0.5 },
  'on-disk': { reads: 0.45, writes: 0.4 },
  'in-store': { reads: 0.5, writes: 0.2 },
  synced: { reads: 0.5, writes: 0.5 },
};
/** The share of reads and writes that are commands. */
const BY_COMMAND = 0.4;
/** Milliseconds between two requests of a client, at most. */
const PAUSE_MS = 80;

/** Asks the hosts. One for each client; `draw` is its own. */
export class RegisterClient {
  readonly #hosts: readonly AskedHost[];
  readonly #draw: () => number;
  readonly #patienceMs: number;
  readonly #name: string;
  #written = 0;

  /** `patienceMs`: how long it waits for an answer. `name`: no two clients write the same. */
  constructor(
    hosts: readonly AskedHost[],
    name: string,
    { draw, patienceMs }: { draw: () => number; patienceMs: number },
  ) {
    this.#hosts = hosts;
    this.#name = name;
    this.#draw = draw;
    this.#patienceMs = patienceMs;
  }

  /** Asks again and again while `goesOn` says so; `tell` gets each request. */
  async run(registers: readonly Register[], goesOn: () => boolean, tell: (asked: Asked) => void): Promise<void> {
    while (goesOn()) {
      const { id, kind } = this.#one(registers);
      const drawn = this.#draw();
      const { reads, writes } = SHARES[kind];
      if (drawn < reads) tell(await this.read({ id, kind }));
      else if (drawn < reads + writes) tell(await this.write(id));
      else for (const asked of await this.rest({ id, kind })) tell(asked);
      await pause(this.#draw() * PAUSE_MS);
    }
  }

  /**
   * Reads a register through one host; default: any. As a file, which wakes nothing, or by a command, but for those
   * that are to rest in the store.
   */
  read({ id, kind }: Register, host = this.#one(this.#hosts)): Promise<Asked> {
    const byCommand = this.#draw() < BY_COMMAND && kind !== 'in-store';
    const path = `/api/instances/${id}`;
    return this.#ask({ register: id, kind: 'read', value: '' }, host, (call, signal) =>
      byCommand
        ? call('POST', `${path}/exec`, { command: `cat ${FILE}` }, { signal })
        : call('GET', `${path}/volumes/workspace/${FILE}`, undefined, { signal }),
    );
  }

  write(id: string, host = this.#one(this.#hosts)): Promise<Asked> {
    this.#written += 1;
    const value = `${this.#name}.${this.#written}`;
    const byCommand = this.#draw() < BY_COMMAND;
    const path = `/api/instances/${id}`;
    return this.#ask({ register: id, kind: 'write', value }, host, (call, signal) =>
      byCommand
        ? call('POST', `${path}/exec`, { command: `printf %s ${value} > ${FILE}` }, { signal })
        : call('PUT', `${path}/volumes/workspace/${FILE}`, value, { signal }),
    );
  }

  /** Puts a sandbox to rest, as its kind says. */
  async rest({ id, kind }: Register): Promise<Asked[]> {
    const host = this.#one(this.#hosts);
    const all: Asked[] = [];
    for (const verb of kind === 'in-store' ? ['suspend', 'freeze'] : ['suspend']) {
      const asking = { register: id, kind: 'rest', value: verb } as const;
      all.push(
        await this.#ask(asking, host, (call, signal) => call('POST', `/api/instances/${id}/${verb}`, {}, { signal })),
      );
    }
    return all;
  }

  #one<T>(list: readonly T[]): T {
    const one = list[Math.floor(this.#draw() * list.length)];
    if (one === undefined) throw new Error('There is nothing to draw.');
    return one;
  }

  async #ask(
    asking: Pick<Asked, 'register' | 'kind' | 'value'>,
    { name: host, call }: AskedHost,
    send: (call: Call, signal: AbortSignal) => Promise<Got>,
  ): Promise<Asked> {
    const fromMs = performance.now();
    const answered =
      call === null
        ? { outcome: 'refused' as const, answer: 'no server' }
        : await send(call, AbortSignal.timeout(this.#patienceMs)).then((got) => outcomeOf(asking, got), brokenOff);
    return { ...asking, host, fromMs, toMs: performance.now(), ...answered };
  }
}

/** What an answer means to a client, and whether the product may give it. */
function outcomeOf({ kind, value }: Pick<Asked, 'kind' | 'value'>, { status, json, text }: Got): Answered {
  const code = String((json as { code?: unknown }).code ?? '');
  const { started, committed } = json as { started?: unknown; committed?: unknown };
  // It began, or is kept on its host though not in its replica.
  const isStarted = started === true || committed === 'local';
  const failed = (outcome: AskedOutcome) => ({
    outcome,
    value,
    answer: `${status} ${code}${isStarted ? ' started' : ''}`,
  });
  if (status === 503 && AWAY.includes(code)) return failed(isStarted ? 'unknown' : 'refused');
  if (status === 409 && (REFUSED.includes(code) || (kind === 'rest' && OF_RESTS.includes(code))))
    return failed('refused');
  if (status >= 300) return { ...failed('wrong'), answer: `${status} ${text.slice(0, 300)}` };
  const ran = json as { exit_code?: unknown; stdout?: unknown };
  if (typeof ran.exit_code === 'number' && ran.exit_code !== 0)
    return { ...failed('wrong'), answer: `${status} ${text.slice(0, 300)}` };
  const read = typeof ran.exit_code === 'number' ? String(ran.stdout) : text;
  return { outcome: 'done', value: kind === 'read' ? read : value, answer: String(status) };
}

function brokenOff(error: unknown): Pick<Answered, 'outcome' | 'answer'> {
  const { name, code } = error as NodeJS.ErrnoException;
  const answer = String(code ?? name);
  return { outcome: code === 'ECONNREFUSED' ? 'refused' : 'unknown', answer };
}

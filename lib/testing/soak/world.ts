/**
 * For tests: the surroundings of a random life: a small disk, a real server on it, and the faults of both. Knows
 * nothing of the expected state.
 */
import type { ChildProcess } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Call } from '../call.ts';
import { copyImage, LOOP_OPTIONS, makeImage, whyNoLoopDisk } from '../loop-disk.ts';
import { holdNamespace, type Namespace } from '../namespace.ts';
import { type ServerProcess, spawnServer } from '../process.ts';
import { signalTree, treeOf } from '../process-tree.ts';

const DISK_BYTES = 160 * 1024 * 1024;
const BLOCK = Buffer.alloc(1024 * 1024, 1);
/** Drawers that lie on filesystems of their own, so that each can be made read-only by itself. */
const DRAWERS = ['cold', 'archive', 'snapshots'] as const;
const CLOCK = new URL('./shifted-clock.ts', import.meta.url);
/** A server that does not end by then hangs. */
const MAX_END_MS = 120_000;
/** How much of the server's last output is kept for finding a cause. */
const OUTPUT_CHARS = 20_000;

/**
 * What the data folder lies on. `one`: a small disk in memory. `apart`: the same, and some drawers on disks of their
 * own. `device`: ext4 on a loop device, whose power can be cut.
 */
export type Disk = 'one' | 'apart' | 'device';

/** The disk that a seed stands for on this machine. */
export function diskOf(seed: number): Disk {
  if (seed % 2 === 0) return 'one';
  return seed % 4 === 3 && whyNoLoopDisk() === null ? 'device' : 'apart';
}

const imageOf = (folder: string) => `${folder}.image`;
const mounting = (folder: string) => `mount -o ${LOOP_OPTIONS} ${imageOf(folder)} ${folder}`;

export class World {
  readonly #folder: string;
  readonly #space: Namespace;
  readonly #clock: string;
  readonly #disk: Disk;
  #server: ServerProcess | null = null;
  #shiftMs = 0;
  #readOnly: string | null = null;
  /** Until this time a refusal may be caused by a fault. */
  #troubledUntil = 0;
  #earlierOutput = '';

  private constructor(folder: string, space: Namespace, clock: string, disk: Disk) {
    this.#folder = folder;
    this.#space = space;
    this.#clock = clock;
    this.#disk = disk;
  }

  static async open(disk: Disk): Promise<World> {
    const base = mkdtempSync(join(tmpdir(), 'winterdock-life-'));
    const folder = join(base, 'data');
    mkdirSync(folder);
    const clock = join(base, 'clock');
    writeFileSync(clock, '0');
    const own = DRAWERS.map(
      (name) => `mkdir ${folder}/${name}; mount -t tmpfs -o size=${DISK_BYTES} none ${folder}/${name}`,
    );
    const memory = `mount -t tmpfs -o size=${DISK_BYTES} none ${folder}`;
    if (disk === 'device') makeImage(imageOf(folder));
    const script = disk === 'device' ? mounting(folder) : [memory, ...(disk === 'apart' ? own : [])].join('\n');
    const space = await holdNamespace(script, { administrator: disk === 'device' });
    return new World(folder, space, clock, disk);
  }

  /** The data folder as it is seen from outside. */
  get folder(): string {
    return this.#space.outside(this.#folder);
  }

  /** Asks the server that runs at this moment; rejects when there is none. */
  readonly call: Call = (method, path, body, options) => {
    if (this.#server === null) return Promise.reject(new Error('There is no server.'));
    return this.#server.call(method, path, body, options);
  };

  /** Whether a refusal may come from a fault that was caused. */
  get troubled(): boolean {
    return performance.now() < this.#troubledUntil;
  }

  /** The servers' last output. */
  get output(): string {
    return (this.#earlierOutput + (this.#server?.output() ?? '')).slice(-OUTPUT_CHARS);
  }

  /** Whether a server ended by itself. */
  get died(): boolean {
    const child = this.#server?.child;
    return child !== undefined && (child.exitCode !== null || child.signalCode !== null);
  }

  #trouble(ms: number): void {
    this.#troubledUntil = Math.max(this.#troubledUntil, performance.now() + ms);
  }

  async start(): Promise<void> {
    this.#server = await this.#spawn();
  }

  /** Kills a server that starts, some milliseconds after it began to. */
  async killStart(afterMs: number): Promise<void> {
    let late: NodeJS.Timeout | undefined;
    const kill = (child: ChildProcess) => {
      late = setTimeout(() => child.kill('SIGKILL'), afterMs);
    };
    const server = await this.#spawn(kill).catch(() => null);
    clearTimeout(late);
    await server?.end('SIGKILL');
  }

  /**
   * Cuts the power: all processes stand still, and what is on the device at that moment is all that is left. Tells
   * whether there is a device. The server has to be started again.
   */
  async cutPower(): Promise<boolean> {
    const pid = this.#server?.child.pid;
    if (this.#disk !== 'device' || pid === undefined) return false;
    const image = imageOf(this.#folder);
    signalTree(pid, 'SIGSTOP');
    copyImage(image, `${image}.left`);
    const processes = treeOf(pid);
    for (const one of processes) process.kill(one, 'SIGKILL');
    await this.end('SIGKILL');
    this.#space.run(`for n in 1 2 3 4 5 6 7 8 9; do umount ${this.#folder} && break; sleep 0.2; done`);
    renameSync(`${image}.left`, image);
    this.#space.run(mounting(this.#folder));
    return true;
  }

  #spawn(began?: (child: ChildProcess) => void): Promise<ServerProcess> {
    return spawnServer({
      ...(began === undefined ? {} : { began }),
      folder: this.#folder,
      within: this.#space.within,
      settings: {
        NODE_OPTIONS: `--import=${pathToFileURL(CLOCK.pathname)}`,
        WINTERDOCK_TEST_CLOCK: this.#clock,
        WB_LOG: 'warn',
        WB_TICK_MS: '200',
        WB_POOL: '1',
        WB_MAX_ACTIVE: '8',
        WB_DRAIN_MS: '1000',
        WB_RATE_KEY: '0',
        WB_RATE_ADDRESS: '0',
      },
    });
  }

  /** Ends the server and returns how: the exit code, the signal, or `hangs`. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<string> {
    const server = this.#server;
    if (server === null) return 'none';
    this.#trouble(MAX_END_MS);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<string>((resolve) => {
      timer = setTimeout(() => resolve('hangs'), MAX_END_MS);
    });
    const how = await Promise.race([server.end(signal).then(String), late]);
    clearTimeout(timer);
    if (how === 'hangs') await server.end('SIGKILL');
    this.#earlierOutput = this.output;
    this.#server = null;
    this.#troubledUntil = performance.now() + 1000;
    return how;
  }

  #workers(): number[] {
    const pid = this.#server?.child.pid;
    return pid === undefined ? [] : treeOf(pid).slice(1);
  }

  /** Sends a signal to one of the server's processes. */
  signalWorker(which: number, signal: NodeJS.Signals): number | null {
    const workers = this.#workers();
    const pid = workers[which % Math.max(workers.length, 1)];
    if (pid === undefined) return null;
    this.#trouble(3000);
    try {
      process.kill(pid, signal);
    } catch {
      // It ended while it was chosen.
    }
    return pid;
  }

  /** Fills the disk. */
  fill(): void {
    this.#trouble(600_000);
    const ballast = openSync(join(this.folder, 'ballast'), 'w');
    try {
      for (;;) writeSync(ballast, BLOCK);
    } catch {
      // Full, as it should be.
    } finally {
      closeSync(ballast);
    }
  }

  /** Makes room, and every drawer writable. */
  heal(): void {
    rmSync(join(this.folder, 'ballast'), { force: true });
    if (this.#readOnly !== null) this.#space.run(`mount -o remount,rw ${this.#readOnly}`);
    this.#readOnly = null;
    // What was refused a moment ago may still be on its way.
    if (this.troubled) this.#troubledUntil = performance.now() + 3000;
  }

  /** Makes one drawer read-only, where drawers lie apart. Tells which. */
  makeReadOnly(which: number): string | null {
    const drawer = DRAWERS[which % DRAWERS.length];
    if (this.#disk !== 'apart' || drawer === undefined || this.#readOnly !== null) return null;
    const path = join(this.#folder, drawer);
    try {
      this.#space.run(`mount -o remount,ro ${path}`);
    } catch {
      // Something is being written there at this moment.
      return null;
    }
    this.#trouble(600_000);
    this.#readOnly = path;
    return drawer;
  }

  /** Moves the clock of the server and of all that it starts. */
  jump(seconds: number): void {
    this.#shiftMs += seconds * 1000;
    writeFileSync(this.#clock, String(this.#shiftMs));
  }

  async close(): Promise<void> {
    await this.end('SIGKILL');
    await this.#space.end();
    rmSync(join(this.#folder, '..'), { recursive: true, force: true });
  }
}

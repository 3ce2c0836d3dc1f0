/**
 * The log (`-wal`) of a live file whose commits the server ships elsewhere. What is in it is written over only after
 * the server has confirmed it, so this checkpoints by itself, and only what is confirmed: SQLite writes over a log once
 * all of it is in the file. Several processes may have the file open, each with one of these. Knows nothing of where
 * commits are shipped to.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import type { DatabaseSync } from 'node:sqlite';

/** Beside the file: what the server has confirmed, in one write, 16 digits of salts and 8 of frames. */
export const SHIPPED_SUFFIX = '-shipped';
const MARK_BYTES = 24;
const IS_MARK = /^[0-9a-f]{24}$/;
const FRAMES_DIGITS = 8;

const MIB = 1024 * 1024;
/** A longer log is checkpointed when it can be. As long as SQLite's own checkpoint lets it become, 1 000 pages. */
const KEPT_BYTES = 4 * MIB;
const WAIT_STEP_MS = 10;
const LIMITS = {
  /** At a longer log, and each time it has grown by as much, commits wait: 256 MiB are kept in practice. */
  waitedForBytes: 64 * MIB,
  /** In all, until the log is short again: a server that cannot confirm holds nobody up for longer. */
  mostWaitMs: 10_000,
};

/** Of the log's head: where its two salts are (https://sqlite.org/fileformat2.html#the_write_ahead_log). */
const SALTS_AT = 16;
const SALTS_BYTES = 8;

/** How much of a log the server has. */
export interface Confirmed {
  /** Of the log's head, 16 hex digits. */
  salts: string;
  /** Frames from the beginning of the log. */
  frames: number;
}

/** What the server writes into the file beside a log. */
export function confirmationOf({ salts, frames }: Confirmed): string {
  return salts + frames.toString(16).padStart(FRAMES_DIGITS, '0');
}

interface Checkpoint {
  busy: number;
  /** Frames in the log. */
  log: number;
  /** Frames that are in the file. */
  checkpointed: number;
}

/** Handles that are never closed: closing the last one of a file checkpoints its log and removes it. */
const leftOpen = new Set<DatabaseSync>();

/** Keeps a handle open until its process ends, which leaves the log as a kill does. */
export function leaveOpen(db: DatabaseSync): void {
  leftOpen.add(db);
}

/**
 * A file beside the database that stays open: by its path each look would take some 20 µs in a process with Node's
 * permissions. SQLite takes no lock on a log, so closing one releases none; of the file and its index it would.
 */
class OpenBeside {
  readonly #path: string;
  #descriptor: number | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  /** Bytes of the file; 0 when there is none, or the disk does not say. */
  get size(): number {
    try {
      const { size, nlink } = fstatSync(this.#open());
      if (nlink > 0) return size;
      this.close();
      return fstatSync(this.#open()).size;
    } catch {
      return 0;
    }
  }

  /** Bytes from `at`, in latin1 or hex; null when the file is shorter. Throws the system's error when there is none. */
  read(at: number, length: number, as: 'latin1' | 'hex'): string | null {
    const bytes = Buffer.alloc(length);
    return readSync(this.#open(), bytes, 0, length, at) === length ? bytes.toString(as) : null;
  }

  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }

  #open(): number {
    this.#descriptor ??= openSync(this.#path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    return this.#descriptor;
  }
}

export class ShippedLog {
  readonly #db: DatabaseSync;
  readonly #log: OpenBeside;
  readonly #mark: OpenBeside;
  readonly #openBeside: () => DatabaseSync;
  readonly #limits: typeof LIMITS;
  /** The handle that checkpoints while `#db` keeps others from committing; opened by the first one. */
  #beside: DatabaseSync | null = null;
  /** Of the log after the last commit of this handle. */
  #bytes = 0;
  /** A mark that was compared with the log: one that was not all of it then never is. */
  #compared = '';
  /** Bytes of the log above which the next commit waits. */
  #waitsAbove: number;
  #waitedMs = 0;

  /** `db` has `file` (absolute) open for writing, as the handles have that `openBeside` makes. */
  constructor(db: DatabaseSync, file: string, openBeside: () => DatabaseSync, limits = LIMITS) {
    this.#db = db;
    this.#log = new OpenBeside(`${file}-wal`);
    this.#mark = new OpenBeside(file + SHIPPED_SUFFIX);
    this.#openBeside = openBeside;
    this.#limits = limits;
    this.#waitsAbove = limits.waitedForBytes;
  }

  /** Before a transaction begins: checkpoints a long log where the server has confirmed all of it. Throws nothing. */
  beforeBegin(): void {
    if (this.#bytes > KEPT_BYTES) this.#checkpointConfirmed();
  }

  /** After a commit: where the log is very long, waits until it can be checkpointed. Throws nothing. */
  afterCommit(): void {
    this.#bytes = this.#log.size;
    if (this.#bytes > this.#waitsAbove) this.#wait();
    if (this.#bytes > KEPT_BYTES) return;
    this.#waitsAbove = this.#limits.waitedForBytes;
    this.#waitedMs = 0;
  }

  /** Whether anything was committed to it, shipped or not. */
  get hasFrames(): boolean {
    return checkpoint(this.#db, 'NOOP').log > 0;
  }

  /** Closes what it has opened; the next commit may open it again. */
  close(): void {
    this.#beside?.close();
    this.#beside = null;
    this.#log.close();
    this.#mark.close();
  }

  #wait(): void {
    const started = performance.now();
    const until = started + this.#limits.mostWaitMs - this.#waitedMs;
    while (!this.#checkpointConfirmed() && performance.now() < until) pauseNow(WAIT_STEP_MS);
    this.#waitedMs += performance.now() - started;
    this.#waitsAbove = this.#bytes + this.#limits.waitedForBytes;
  }

  /** Whether the server has confirmed all of the log: then it is in the file, but for what a reader holds back. */
  #checkpointConfirmed(): boolean {
    try {
      const mark = this.#mark.read(0, MARK_BYTES, 'latin1') ?? '';
      if (mark === this.#compared || !IS_MARK.test(mark)) return false;
      this.#beside ??= this.#openBeside();
      const isWhole = this.#isWhole(mark, this.#beside) && this.#checkpointWhole(mark, this.#beside);
      this.#compared = mark;
      return isWhole;
    } catch {
      // Another process commits, or the disk fails: the log has everything.
      return false;
    }
  }

  /** Compares once more and checkpoints, while nobody can commit. */
  #checkpointWhole(mark: string, beside: DatabaseSync): boolean {
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      if (!this.#isWhole(mark, beside)) return false;
      checkpoint(beside, 'PASSIVE');
      return true;
    } finally {
      this.#db.exec('ROLLBACK');
    }
  }

  /** Whether a mark is of all of the log. */
  #isWhole(mark: string, beside: DatabaseSync): boolean {
    const salts = this.#log.read(SALTS_AT, SALTS_BYTES, 'hex');
    return salts !== null && mark === confirmationOf({ salts, frames: checkpoint(beside, 'NOOP').log });
  }
}

function checkpoint(db: DatabaseSync, how: 'NOOP' | 'PASSIVE'): Checkpoint {
  return db.prepare(`PRAGMA wal_checkpoint(${how})`).get() as unknown as Checkpoint;
}

const nothing = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
/** The globals of this name, and `performance`, are refused to whoever runs within a script of the shell. */
const { wait } = Atomics;

function pauseNow(ms: number): void {
  wait(nothing, 0, 0, ms);
}

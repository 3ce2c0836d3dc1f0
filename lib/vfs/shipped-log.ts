/**
 * The log (`-wal`) of a live file whose commits the server ships elsewhere. What is in it is written over only after
 * the server has confirmed it, so this checkpoints by itself, and only what is confirmed: SQLite writes over a log once
 * all of it is in the file. Several processes may have the file open, each with one of these. Knows nothing of where
 * commits are shipped to.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import type { DatabaseSync, StatementSync } from 'node:sqlite';

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

/**
 * Of a log that is empty again, what stays of its file: to make a file longer costs a commit as much again as its bytes
 * do. Shorter than a log of which the server thinks that its writer may wait for it.
 */
export const SHIPPED_FILE_BYTES = 24 * MIB;
/** Before each page of a log. */
const FRAME_HEADER_BYTES = 24;

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

  /** Fills `bytes` from `at`; false when the file is shorter. Throws the system's error when there is none. */
  read(at: number, bytes: Buffer): boolean {
    return readSync(this.#open(), bytes, 0, bytes.length, at) === bytes.length;
  }

  /** Closes it where its name is gone: what has that name now is another file. */
  closeIfGone(): void {
    if (this.#descriptor !== null && fstatSync(this.#descriptor).nlink === 0) this.close();
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
  readonly #frameBytes: number;
  /**
   * Asks how many frames there are. The file is not asked for its size: a file whose times were read gets a new one
   * with the next write, which costs a commit another write to the disk (of Linux, from 6.13 on).
   */
  readonly #count: StatementSync;
  /** The handle that checkpoints while `#db` keeps others from committing; opened by the first one. */
  #beside: DatabaseSync | null = null;
  /** Of the log after the last commit of this handle. */
  #bytes = 0;
  readonly #markNow = Buffer.alloc(MARK_BYTES);
  readonly #salts = Buffer.alloc(SALTS_BYTES);
  /** A mark that was compared with the log: one that was not all of it then never is. */
  readonly #compared = Buffer.alloc(MARK_BYTES);
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
    this.#frameBytes = FRAME_HEADER_BYTES + Number(db.prepare('PRAGMA page_size').get()?.page_size);
    this.#count = prepareCheckpoint(db, 'NOOP');
  }

  /** Before a transaction begins: checkpoints a long log where the server has confirmed all of it. Throws nothing. */
  beforeBegin(): void {
    if (this.#bytes > KEPT_BYTES) this.#checkpointConfirmed();
  }

  /** After a commit: where the log is very long, waits until it can be checkpointed. Throws nothing. */
  afterCommit(): void {
    try {
      this.#bytes = this.#frames() * this.#frameBytes;
    } catch {
      // What was committed is; the next commit asks again.
    }
    if (this.#bytes > this.#waitsAbove) this.#wait();
    if (this.#bytes > KEPT_BYTES) return;
    this.#waitsAbove = this.#limits.waitedForBytes;
    this.#waitedMs = 0;
  }

  /** Whether anything was committed to it, shipped or not. */
  get hasFrames(): boolean {
    return this.#frames() > 0;
  }

  /** Closes what it has opened; the next commit may open it again. */
  close(): void {
    this.#beside?.close();
    this.#beside = null;
    this.#log.close();
    this.#mark.close();
  }

  /** Frames of the log as this handle sees it. */
  #frames(): number {
    return (this.#count.get() as unknown as Checkpoint).log;
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
      if (!this.#mark.read(0, this.#markNow) || this.#markNow.equals(this.#compared)) return false;
      const mark = this.#markNow.toString('latin1');
      if (!IS_MARK.test(mark)) return false;
      this.#beside ??= this.#openBeside();
      const isWhole = this.#isWhole(mark, this.#beside) && this.#checkpointWhole(mark, this.#beside);
      this.#compared.write(mark, 'latin1');
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
    this.#log.closeIfGone();
    if (!this.#log.read(SALTS_AT, this.#salts)) return false;
    return mark === confirmationOf({ salts: this.#salts.toString('hex'), frames: checkpoint(beside, 'NOOP').log });
  }
}

function checkpoint(db: DatabaseSync, how: 'NOOP' | 'PASSIVE'): Checkpoint {
  return prepareCheckpoint(db, how).get() as unknown as Checkpoint;
}

function prepareCheckpoint(db: DatabaseSync, how: 'NOOP' | 'PASSIVE'): StatementSync {
  return db.prepare(`PRAGMA wal_checkpoint(${how})`);
}

const nothing = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
/** The globals of this name, and `performance`, are refused to whoever runs within a script of the shell. */
const { wait } = Atomics;

function pauseNow(ms: number): void {
  wait(nothing, 0, 0, ms);
}

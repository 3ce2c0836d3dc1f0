/**
 * A small replica of files in memory: it follows logs as they are committed to, and says at each rest in which pages it
 * differs from the file. For tests of what the engine tells a replica.
 */
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { InstanceId } from '../../base/ids.ts';
import type { FileRecord, InstanceRow } from '../../registry/types.ts';
import type { AnswerBarrier } from '../../replication/promise/answer-barrier.ts';
import type { ReplicaOfFiles, ReplicaStatus } from '../../replication/replica-of-files.ts';
import { ShippedMark } from '../../storage/shipped-mark.ts';
import { type CommittedFrames, ReplicaPages, readLog } from '../../vfs/testing/log-frames.ts';

interface Followed {
  file: string;
  mark: ShippedMark | null;
  /** Null: the file was not there when a process was about to open it. */
  pages: ReplicaPages | null;
  last: CommittedFrames | null;
  second: string | null;
}

export class ReplicaRecorder implements ReplicaOfFiles {
  /** What was told, as `verb id`, in order. */
  readonly told: string[] = [];
  /** Nothing waits for it. */
  readonly answers: AnswerBarrier = {
    isInStep: () => true,
    whenInStep: async () => undefined,
    requireStore: async () => undefined,
    requireStoreFor: () => undefined,
    whenRecorded: async () => undefined,
  };
  /** Of each rest, in order: the pages in which the replica differs; null: nothing was shipped for it. */
  readonly rests: { id: string; differences: number[] | null; record: FileRecord | null }[] = [];
  /** Set: that one fails. */
  failing: keyof ReplicaOfFiles | null = null;
  /** Called once `closing` has done its work. */
  onClosing = () => {};
  /** Whether `closing` gives the log a second name. */
  keepsLogs = true;
  readonly #dataFolder: string;
  readonly #spool: string;
  readonly #followed = new Map<string, Followed>();

  constructor(dataFolder: string) {
    this.#dataFolder = dataFolder;
    this.#spool = join(dataFolder, 'spool');
    mkdirSync(this.#spool, { recursive: true });
  }

  describe({ id }: InstanceRow): ReplicaStatus {
    if (this.failing === 'describe') this.#note('describe', id);
    return { replicate: '1s', isFromNextWake: false, atMs: null, behindMs: null, as: 'live' };
  }

  async taken(id: string): Promise<void> {
    this.#note('taken', id);
  }

  async flush(id: string): Promise<void> {
    this.#note('flush', id);
  }

  reclassified({ id }: InstanceRow): void {
    this.#note('reclassified', id);
  }

  ships({ id }: InstanceRow): boolean {
    if (this.failing === 'ships') this.#note('ships', id);
    return true;
  }

  opening({ id }: InstanceRow, file: string, { isNew }: { isNew: boolean }): void {
    this.#note('opening', id);
    const pages = isNew ? null : new ReplicaPages(readFileSync(file));
    this.#followed.set(id, { file, mark: new ShippedMark(file), pages, last: null, second: null });
  }

  opened(id: InstanceId): void {
    this.#note('opened', id);
    const followed = this.#followed.get(id);
    if (followed === undefined) return;
    // The whole file, as it lies: nothing is written into it before a confirmation.
    followed.pages ??= new ReplicaPages(readFileSync(followed.file));
  }

  closing(id: InstanceId): void {
    this.#note('closing', id);
    const followed = this.#followed.get(id);
    if (followed === undefined || followed.second !== null || !this.keepsLogs) return;
    const second = join(this.#spool, `${id}-wal`);
    if (!existsSync(`${followed.file}-wal`)) return;
    linkSync(`${followed.file}-wal`, second);
    followed.second = second;
    this.onClosing();
  }

  secondName(id: InstanceId): string | null {
    return this.#followed.get(id)?.second ?? null;
  }

  /** Takes what was committed since the last time, and confirms it. */
  ship(id: string): void {
    const followed = this.#followed.get(id);
    if (followed === undefined) return;
    const log = readLog(`${followed.file}-wal`) ?? (followed.second === null ? null : readLog(followed.second));
    if (log === null) return;
    followed.pages?.add(log);
    followed.last = log;
    followed.mark?.confirm(log);
  }

  async landed({ id }: InstanceRow): Promise<void> {
    this.#note('landed', id);
    const file = join(this.#dataFolder, 'live', id, 'vfs.sqlite');
    // A process of an earlier server had it open.
    if (!this.#followed.has(id) && existsSync(file))
      this.#followed.set(id, {
        file,
        mark: null,
        pages: new ReplicaPages(readFileSync(file)),
        last: null,
        second: null,
      });
    this.ship(id);
  }

  rested({ id }: InstanceRow, address: string, record: FileRecord | null): void {
    this.#note('rested', id);
    const followed = this.#followed.get(id);
    this.#forget(id);
    const path = join(this.#dataFolder, address);
    const isPlain = record !== null && !address.endsWith('.zst') && existsSync(path);
    const differences = isPlain ? (followed?.pages?.differencesTo(readFileSync(path)) ?? null) : null;
    this.rests.push({ id, differences, record });
  }

  async whenRested(): Promise<void> {}

  goesOn(id: InstanceId): void {
    this.#note('goesOn', id);
    const followed = this.#followed.get(id);
    if (followed === undefined) return;
    if (followed.second !== null) rmSync(followed.second);
    followed.second = null;
  }

  replaced(id: InstanceId): void {
    this.#note('replaced', id);
    this.#forget(id);
  }

  async dropped(id: InstanceId): Promise<void> {
    this.#note('dropped', id);
    this.#forget(id);
  }

  #forget(id: string): void {
    const followed = this.#followed.get(id);
    followed?.mark?.close();
    if (followed != null && followed.second !== null) rmSync(followed.second, { force: true });
    this.#followed.delete(id);
  }

  #note(verb: keyof ReplicaOfFiles, id: string): void {
    this.told.push(`${verb} ${id}`);
    if (this.failing === verb) throw new Error(`The recorder was told to fail when ${verb}.`);
  }
}

/**
 * The rescue of a live file that was removed, moved or replaced under its process: acknowledged data is then only in
 * files without a name. The file is copied through the open descriptors of the stopped process, as a crash at that
 * moment would have left it, and put back. Needs /proc; without it nothing is found and nothing done.
 */

import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { giveToNow, makeFolder, renameFile, syncFile, syncFolder, unlinkFile } from '../../base/effects.ts';
import { WinterdockError } from '../../base/errors.ts';
import type { InstanceId } from '../../base/ids.ts';
import { copyRegular } from '../../base/strangers-file.ts';
import { ledgerEntry } from '../../registry/ledger-entry.ts';
import type { InstanceRow } from '../../registry/types.ts';
import { fileOnDisk } from '../../storage/disk.ts';
import { stagingFor, stampOf } from '../../storage/files.ts';
import { firstNamesIn } from '../../storage/landing-folder.ts';
import type { InstanceProcess } from '../../workers/protocol/instance.ts';
import { absolutePath, type Engine, livePath, systemAudit } from '../engine.ts';
import { fileAt, moveToOrphans } from '../files/file-locations.ts';
import { land, mostBytes, mostOf } from '../moves/live-folder-landing.ts';
import { tellReplica } from '../shipping.ts';
import { settleFile } from './settle-file.ts';

/** The name that the kernel gives to an open live file; a deleted file is marked. */
const OPEN_FILE = /\/vfs\.sqlite(-wal)?(?: \(deleted\))?$/;

const PARTS = ['', '-wal', '-shm'] as const;
/** A process of a sandbox has some forty descriptors. */
const MOST_DESCRIPTORS = 4096;

interface OpenDescriptor {
  /** A path that opens the file even when its name is gone. */
  path: string;
  /** Its name in the kernel. */
  name: string;
  inode: string;
}

/** The live file and its log, as a process has them open. */
function openDescriptorsOf(pid: number): { main: OpenDescriptor | null; log: OpenDescriptor | null } {
  const open: { main: OpenDescriptor | null; log: OpenDescriptor | null } = { main: null, log: null };
  const folder = `/proc/${pid}/fd`;
  try {
    for (const descriptor of firstNamesIn(folder, MOST_DESCRIPTORS)) {
      const path = join(folder, descriptor);
      const name = readlinkSync(path);
      const match = OPEN_FILE.exec(name);
      if (match === null) continue;
      const inode = String(statSync(path, { bigint: true }).ino);
      open[match[1] === undefined ? 'main' : 'log'] = { path, name, inode };
    }
  } catch {
    // There is no /proc, or the process is gone, which its exit reports.
  }
  return open;
}

/** Whether a process has its live file, or the log of it, open under another name or none. */
export function isLost(engine: Engine, id: InstanceId, process: InstanceProcess): boolean {
  const file = absolutePath(engine, livePath(id));
  const { main, log } = openDescriptorsOf(process.pid);
  return (
    (main !== null && hasOtherName(main, file)) || (main !== null && log !== null && hasOtherName(log, `${file}-wal`))
  );
}

/** Some filesystems change inodes at every look: the file is right when either the name or the inode is. */
function hasOtherName({ name, inode }: OpenDescriptor, path: string): boolean {
  return name !== path && stampOf(path)?.inode !== inode;
}

/**
 * Puts a lost live file back, clean and durable, and ends its process. Returns the mark of the file; false when the
 * file is not lost. The caller holds the file exclusively. Throws what the disk throws: until the file is copied the
 * process goes on then, afterwards the copy is an orphan.
 */
export async function rescue(
  engine: Engine,
  row: Pick<InstanceRow, 'id' | 'tenant' | 'bytes'>,
  worker: InstanceProcess,
): Promise<{ identity: string | null } | false> {
  if (!isLost(engine, row.id, worker)) return false;
  // All of them: what one commits while the log is copied would be half in it.
  for (const member of worker.members) member.signal('SIGSTOP');
  const file = absolutePath(engine, livePath(row.id));
  const staging = stagingFor(engine.config.dataFolder, file);
  const saved = join(staging, randomUUID());
  let identity: string | null;
  let isCopied = false;
  try {
    const open = openDescriptorsOf(worker.pid);
    try {
      await makeFolder(staging);
      await copyOpenFile(engine, row, worker.pid, open, saved);
    } catch (error) {
      // One that is paused is continued by the next request.
      for (const member of worker.members)
        if (member.pid !== worker.pid || worker.thermal === 'hot') member.signal('SIGCONT');
      throw error;
    }
    isCopied = true;
    await worker.kill('killed');
    await land(engine, row);
    await putBack(engine, row, saved, open.main?.inode ?? null);
    tellReplica(engine, row.id, (replica) => replica.replaced(row.id));
    identity = await settleFile(engine, row);
  } catch (error) {
    // The process has ended, and nobody has the data but this copy.
    if (isCopied && stampOf(saved) !== null)
      await moveToOrphans(engine, row, fileOnDisk(engine.config.dataFolder, relative(engine.config.dataFolder, saved)));
    throw error;
  } finally {
    if (!isCopied) for (const suffix of PARTS) await unlinkFile(saved + suffix);
  }
  const reason = `${livePath(row.id)} was removed or replaced under its process, and was saved from what the process had open`;
  await engine.registry.ledger.append([ledgerEntry(engine, row, systemAudit('reconcile'), 'file.rescued', { reason })]);
  return { identity };
}

/** Copies the file and its log, as the process has them open, durably. */
async function copyOpenFile(
  engine: Engine,
  row: Pick<InstanceRow, 'id' | 'tenant' | 'bytes'>,
  pid: number,
  { main, log }: ReturnType<typeof openDescriptorsOf>,
  saved: string,
): Promise<void> {
  const [owner, group] = userOf(pid);
  if (main === null) throw new Error('A process whose file was lost no longer has it open.');
  for (const [part, suffix] of [
    [main, ''],
    [log, '-wal'],
  ] as const) {
    if (part === null) continue;
    // A process that was taken over has open what it likes, a pipe or what it may not read itself.
    const most = mostOf(suffix, mostBytes(engine, row));
    await copyRegular(part.path, saved + suffix, 0, ({ uid, size }) => {
      if (uid === owner && size <= most) return;
      throw new WinterdockError(
        'corrupt',
        `The process of "${row.id}" has open under the name of its file what is not.`,
      );
    });
    if (process.getuid?.() === 0) giveToNow(saved + suffix, owner, group);
    await syncFile(saved + suffix);
  }
}

/** The user and the group of a process. */
function userOf(pid: number): [uid: number, gid: number] {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const id = (field: string) => Number(new RegExp(`^${field}:\\t(\\d+)`, 'm').exec(status)?.[1]);
  return [id('Uid'), id('Gid')];
}

/** Puts what was saved in the place of the lost file. Another file there moves to `orphans/`. */
async function putBack(
  engine: Engine,
  row: Pick<InstanceRow, 'id' | 'tenant'>,
  saved: string,
  lostInode: string | null,
): Promise<void> {
  const file = absolutePath(engine, livePath(row.id));
  const there = stampOf(file);
  if (there !== null && there.inode !== lostInode)
    await moveToOrphans(engine, row, fileAt(engine, row.id, livePath(row.id)));
  await makeFolder(dirname(file));
  for (const suffix of ['-wal', '-shm']) await unlinkFile(file + suffix);
  const hasLog = stampOf(`${saved}-wal`) !== null;
  // The log first: the file without it would lack commits.
  if (hasLog) await renameFile(`${saved}-wal`, `${file}-wal`);
  try {
    await renameFile(saved, file);
  } catch (error) {
    if (hasLog) await renameFile(`${file}-wal`, `${saved}-wal`);
    throw error;
  }
  await syncFolder(dirname(file));
  await syncFolder(dirname(dirname(file)));
}

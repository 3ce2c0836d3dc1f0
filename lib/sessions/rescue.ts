/**
 * The rescue of a live file that was removed, moved or replaced under its process: acknowledged data is then only in
 * files without a name. The file is copied through the open descriptors of the stopped process, as a crash at that
 * moment would have left it, and put back. Needs /proc; without it nothing is found and nothing done.
 */

import { randomUUID } from 'node:crypto';
import { readdirSync, readlinkSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { copyFile, makeFolder, renameFile, syncFile, syncFolder, unlinkFile } from '../base/effects.ts';
import type { InstanceId } from '../base/ids.ts';
import type { InstanceProcess } from '../instance/instance.ts';
import type { InstanceRow } from '../registry/types.ts';
import { stagingFor, stampOf } from '../storage/files.ts';
import { absolutePath, type Engine, ledgerEntry, livePath, systemAudit } from './engine.ts';
import { fileAt, moveToOrphans } from './file-locations.ts';

/** The name that the kernel gives to an open live file; a deleted file is marked. */
const OPEN_FILE = /\/vfs\.sqlite(-wal)?(?: \(deleted\))?$/;

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
    for (const descriptor of readdirSync(folder)) {
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
 * file is not lost. The caller holds the file exclusively. Throws what the disk throws; then the process goes on.
 */
export async function rescue(
  engine: Engine,
  row: Pick<InstanceRow, 'id' | 'tenant'>,
  worker: InstanceProcess,
): Promise<{ identity: string | null } | false> {
  if (!isLost(engine, row.id, worker)) return false;
  // All of them: what one commits while the log is copied would be half in it.
  for (const { pid } of worker.members) process.kill(pid, 'SIGSTOP');
  let identity: string | null;
  try {
    identity = await recoverOpenFile(
      engine,
      row,
      openDescriptorsOf(worker.pid),
      absolutePath(engine, livePath(row.id)),
    );
  } catch (error) {
    // One that is paused is continued by the next request.
    for (const { pid } of worker.members)
      if (pid !== worker.pid || worker.thermal === 'hot') process.kill(pid, 'SIGCONT');
    throw error;
  }
  await worker.kill('killed');
  const reason = `${livePath(row.id)} was removed or replaced under its process, and was saved from what the process had open`;
  await engine.registry.ledger.append([ledgerEntry(engine, row, systemAudit('reconcile'), 'file.rescued', { reason })]);
  return { identity };
}

async function recoverOpenFile(
  engine: Engine,
  row: Pick<InstanceRow, 'id' | 'tenant'>,
  { main, log }: ReturnType<typeof openDescriptorsOf>,
  file: string,
): Promise<string | null> {
  if (main === null) throw new Error('A process whose file was lost no longer has it open.');
  const staging = stagingFor(engine.config.dataFolder, file);
  await makeFolder(staging);
  const saved = join(staging, randomUUID());
  try {
    await copyFile(main.path, saved);
    if (log !== null) await copyFile(log.path, `${saved}-wal`);
    const identity = await engine.readers.settle(saved);
    await syncFile(saved);
    const there = stampOf(file);
    if (there !== null && there.inode !== main.inode)
      await moveToOrphans(engine, row, fileAt(engine, row.id, livePath(row.id)));
    await makeFolder(dirname(file));
    await renameFile(saved, file);
    // Not earlier: until the file is back, its log is all that is left. Then the log holds nothing that the file lacks.
    for (const suffix of ['-wal', '-shm']) await unlinkFile(file + suffix);
    await syncFolder(dirname(file));
    await syncFolder(dirname(dirname(file)));
    return identity;
  } catch (error) {
    for (const suffix of ['', '-wal', '-shm']) await unlinkFile(saved + suffix);
    throw error;
  }
}

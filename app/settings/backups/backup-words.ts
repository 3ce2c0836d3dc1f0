/** Backups in sentences. Pure. */
import { sizeInWords, tookInWords } from '#components/ui/durations.ts';
import type { Backup, BackupRestore, BackupSettingsAnswer } from '#lib/contract/schema.ts';

const counted = (count: number, one: string, many: string) =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`;

/** What the headline says beside the word: whether they are made by themselves, and whether that goes well. */
export function backupsInWords({ enabled, target, fault }: BackupSettingsAnswer): string {
  if (fault !== null) return 'need someone';
  if (target === null) return 'are made nowhere yet';
  return enabled ? 'are made by themselves' : 'are made when somebody asks';
}

/** The state of one, with what is not sound in it. */
export function backupStateInWords({ state, progress, wrong }: Backup): { says: string; isBad: boolean } {
  if (state === 'running' && progress !== null && progress.all > 0) {
    return { says: `${progress.done.toLocaleString('en')} of ${progress.all.toLocaleString('en')}`, isBad: false };
  }
  if (state === 'made' && wrong !== null && wrong > 0) return { says: `made, ${wrong} not sound`, isBad: true };
  return { says: state === 'asked' ? 'waits its turn' : state, isBad: state === 'failed' };
}

/** What it would restore: `12 sandboxes of 3.1 GB`; empty when it is not made. */
export function holdsInWords({ sandboxes, bytes }: Pick<Backup, 'sandboxes' | 'bytes'>): string {
  if (sandboxes === null || bytes === null) return '';
  return `${counted(sandboxes, 'sandbox', 'sandboxes')} of ${sizeInWords(bytes)}`;
}

/** What it cost: `4 objects of 3.1 MB, in 2 s`; empty when it is not made. */
export function costInWords({ added_objects: objects, added_bytes: bytes, took_ms: took }: Backup): string {
  if (objects === null || bytes === null) return '';
  const added = objects === 0 ? 'nothing new' : `${counted(objects, 'object', 'objects')} of ${sizeInWords(bytes)}`;
  return took === null ? added : `${added}, in ${tookInWords(took)}`;
}

/** What the whole of a backup would restore, a sentence each. */
export function planInWords({ holds }: BackupRestore): string[] {
  const { states, copies, bytes, memory, missing, unsound, keys } = holds;
  const each = Object.entries(states).map(([state, count]) => `${count.toLocaleString('en')} ${state}`);
  return [
    `Sandboxes: ${each.join(', ') || 'none'}; ${counted(copies, 'snapshot or blueprint', 'snapshots and blueprints')}; ${sizeInWords(bytes)}.`,
    ...(memory === 0 ? [] : [`${counted(memory, 'sandbox', 'sandboxes')} lived in memory alone, and would be gone.`]),
    ...(missing === 0 ? [] : [`${counted(missing, 'sandbox', 'sandboxes')} had no file then, and would be missing.`]),
    ...(unsound === 0 ? [] : [`${counted(unsound, 'file', 'files')} were not sound when they were copied.`]),
    keys ? 'The key files are in it, encrypted with the passphrase.' : 'The key files are not in it.',
  ];
}

/** What bringing one sandbox back would do. */
export function oneInWords({ one }: BackupRestore): string {
  if (one === null) return '';
  const was = `${one.instance} was ${one.was}, ${sizeInWords(one.bytes)}`;
  if (one.refusal !== null) return `${was}. As things are it is refused: ${one.refusal}`;
  if (one.now === null) return `${was}. It would be made as ${one.as}, which is not there now.`;
  return `${was}. It is ${one.now} now: what it has would be kept aside, and be replaced.`;
}

/** Numbers of the fields of the form, which the schema checks. */
export function keptCount(text: string | undefined): number {
  return /^\d{1,6}$/.test(text ?? '') ? Number(text) : Number.NaN;
}

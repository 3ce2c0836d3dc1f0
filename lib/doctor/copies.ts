/** Snapshots and blueprints against their files. */
import { isOfCopy } from '../storage/inventory.ts';
import type { Examination } from './examination.ts';

/** Finds rows without their file, files without a row, and with readers bytes that are not those of their name. */
export async function examineCopies({
  drawers,
  registry,
  files,
  readers,
  examined,
  onlyOf,
  find,
}: Examination): Promise<void> {
  const hashed = new Set<string>();
  for (const { kind, name, hash, file, isStored } of (await registry?.copies()) ?? []) {
    const kept = drawers[kind].at(hash);
    const path = kept.address;
    const about = { about: name, path, way: null } as const;
    const stat = await kept.stat();
    // The store brings it back to whoever asks for it; another host may have made it.
    if (stat === null && (isStored || onlyOf !== null)) continue;
    if (stat === null) {
      find({
        ...about,
        kind: 'copy.missing',
        weight: 'wrong',
        says: `the file of the ${kind} is not there: restore it from a backup`,
      });
    } else if (stat.size !== file.size) {
      find({
        ...about,
        kind: 'copy.changed',
        weight: 'wrong',
        says: `the file of the ${kind} has ${stat.size} bytes, ${file.size} were kept`,
      });
    } else if (readers !== null && !hashed.has(path)) {
      hashed.add(path);
      const found = await kept.read((copy) => readers.check(copy));
      examined.looked.hashed += 1;
      if (found.sha256 !== hash)
        find({
          ...about,
          kind: 'copy.changed',
          weight: 'wrong',
          says: `the bytes of the ${kind} are not those of its name`,
        });
    }
  }
  const marks = (await registry?.marks()) ?? new Set<string>();
  for (const { drawer, key, path } of files.kept.filter(isOfCopy)) {
    if ((await registry?.needsCopy(path, key)) === true) continue;
    const isMarked = marks.has(path);
    if (!isMarked) examined.adoptable.push({ drawer, key, path });
    find({
      kind: isMarked ? 'copy.marked' : 'copy.unnamed',
      weight: isMarked ? 'note' : 'wrong',
      way: isMarked ? null : 'adopt',
      about: key,
      path,
      says: isMarked ? 'no row needs it any more: the next start removes it' : 'no row names this file',
    });
  }
}

/** Dropped or chosen files, including those in folders. In the browser only. */

interface ChosenFile {
  file: File;
  /** The path below the target folder: `a.txt`, or `photos/a.txt` from a folder. */
  relativePath: string;
}

/** What was chosen or dropped, as far as it is taken. */
export interface Chosen {
  files: ChosenFile[];
  /** Whether there was more than is taken at once. */
  more: boolean;
}

/** The most files of one drop. */
export const MAX_CHOSEN = 2000;

function taken(found: readonly ChosenFile[]): Chosen {
  return { files: found.slice(0, MAX_CHOSEN), more: found.length > MAX_CHOSEN };
}

function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  return new Promise((resolve, reject) => {
    const more = () =>
      reader.readEntries((some) => {
        all.push(...some);
        if (some.length === 0 || all.length > MAX_CHOSEN) resolve(all);
        else more();
      }, reject);
    more();
  });
}

async function walk(entry: FileSystemEntry, above: string, found: ChosenFile[]): Promise<void> {
  // One more than is taken tells that there was more.
  if (found.length > MAX_CHOSEN) return;
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    found.push({ file, relativePath: above + entry.name });
  } else if (entry.isDirectory) {
    for (const inner of await entriesOf(entry as FileSystemDirectoryEntry)) {
      await walk(inner, `${above}${entry.name}/`, found);
    }
  }
}

/** The files of a drop, including those in dropped folders. */
export async function droppedFiles(data: DataTransfer): Promise<Chosen> {
  // Entries are only there while the event is handled, so they are all taken before the first wait.
  const entries = [...data.items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  if (entries.length === 0) return chosenFiles(data.files);
  const found: ChosenFile[] = [];
  for (const entry of entries) await walk(entry, '', found);
  return taken(found);
}

/** The files of a file input; those of a chosen folder keep their path below it. */
export function chosenFiles(files: Iterable<File> | null): Chosen {
  return taken(Array.from(files ?? [], (file) => ({ file, relativePath: file.webkitRelativePath || file.name })));
}

/** Dropped or chosen files, including those in folders. In the browser only. */

export interface ChosenFile {
  file: File;
  /** The path below the target folder: `a.txt`, or `photos/a.txt` from a folder. */
  relativePath: string;
}

/** The most files of one drop. */
const MAX_CHOSEN = 2000;

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
  if (found.length >= MAX_CHOSEN) return;
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    found.push({ file, relativePath: above + entry.name });
  } else if (entry.isDirectory) {
    for (const inner of await entriesOf(entry as FileSystemDirectoryEntry)) {
      await walk(inner, `${above}${entry.name}/`, found);
    }
  }
}

/** The files of a drop, including those in dropped folders, at most 2 000. */
export async function droppedFiles(data: DataTransfer): Promise<ChosenFile[]> {
  // Entries are only there while the event is handled, so they are all taken before the first wait.
  const entries = [...data.items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  if (entries.length === 0) return chosenFiles(data.files);
  const found: ChosenFile[] = [];
  for (const entry of entries) await walk(entry, '', found);
  return found;
}

/** The files of a file input; those of a chosen folder keep their path below it. */
export function chosenFiles(files: FileList | null): ChosenFile[] {
  return [...(files ?? [])]
    .slice(0, MAX_CHOSEN)
    .map((file) => ({ file, relativePath: file.webkitRelativePath || file.name }));
}

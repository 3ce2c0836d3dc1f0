'use client';
/**
 * The tree of a volume. Without scripts it is a list of links, with the folders above the open one. With scripts it is
 * a WAI-ARIA tree that loads a folder when it is opened; moving the focus loads nothing.
 */
import Link from 'next/link';
import { type KeyboardEvent, type MouseEvent, useEffect, useMemo, useRef, useState } from 'react';
import { sizeInWords } from '../ui/durations.ts';
import { type ActionOutcome, Outcome } from '../ui/outcome.tsx';
import { type FilesPage, fileAddress, type VolumeName } from './file-address.ts';
import { FOLDER_PAGE, readFolder } from './file-calls.ts';
import {
  type Folder,
  foldersAbove,
  mergeReread,
  type TreeLine,
  treeStep,
  typeAhead,
  visibleLines,
} from './file-tree.ts';
import { useFiles } from './files-provider.tsx';

const DEEPEST = 8;
const TYPING_MS = 600;

type Folders = ReadonlyMap<string, Folder>;

function merged(known: Folders, fresh: readonly Folder[]): Folders {
  return new Map([
    ...known,
    ...fresh.map((folder) => [folder.path, mergeReread(known.get(folder.path), folder)] as const),
  ]);
}

/** The loaded folders, at first those from the server, and functions that load more. */
function useFolders(place: FilesPage, volume: VolumeName, given: readonly Folder[], openPath: string) {
  const { change } = useFiles();
  const [folders, setFolders] = useState<Folders>(() => merged(new Map(), given));
  const [open, setOpen] = useState<ReadonlySet<string>>(() => new Set(foldersAbove(openPath)));
  const [refusal, setRefusal] = useState<ActionOutcome | null>(null);
  const [seen, setSeen] = useState({ given, openPath, change });
  if (seen.given !== given || seen.openPath !== openPath || seen.change !== change) {
    setSeen({ given, openPath, change });
    if (seen.given !== given) setFolders((known) => merged(known, given));
    if (seen.openPath !== openPath) setOpen((known) => new Set([...known, ...foldersAbove(openPath)]));
    if (seen.change !== change && change?.volume === volume) {
      const stale = new Set(change.folders);
      setFolders((known) => new Map([...known].filter(([path]) => path === '/' || !stale.has(path))));
    }
  }
  const reading = useRef(new Set<string>());

  const read = async (path: string, before: Folder | null) => {
    if (reading.current.has(path)) return;
    reading.current.add(path);
    const answer = await readFolder(place, volume, path, before);
    reading.current.delete(path);
    if ('items' in answer) {
      setRefusal(null);
      setFolders((known) => merged(known, [answer]));
    } else {
      setRefusal(answer);
      setOpen((known) => new Set([...known].filter((one) => one !== path)));
    }
  };
  const latest = useRef(read);
  latest.current = read;
  useEffect(() => {
    const shown = new Set(visibleLines(folders, open).map(({ path }) => path));
    for (const path of open) if (shown.has(path) && !folders.has(path)) void latest.current(path, null);
  }, [folders, open]);

  return {
    folders,
    open,
    refusal,
    toggle(path: string, wanted: boolean) {
      setOpen((known) => new Set(wanted ? [...known, path] : [...known].filter((one) => one !== path)));
    },
    more(path: string) {
      const before = folders.get(path);
      if (before !== undefined) void read(path, before);
    },
  };
}

function words(line: TreeLine): string {
  if (line.kind === 'more') return `Show more: ${line.left.toLocaleString('en')} are left`;
  return line.name;
}

export function FileBrowser({
  place,
  volume,
  folders: given,
  openPath,
}: {
  place: FilesPage;
  volume: VolumeName;
  /** The folders above the open path, from the root. */
  folders: readonly Folder[];
  /** The open folder or file; a folder's path ends with a slash. */
  openPath: string;
}) {
  const { ready } = useFiles();
  const { folders, open, refusal, toggle, more } = useFolders(place, volume, given, openPath);
  const lines = useMemo(() => visibleLines(folders, open), [folders, open]);
  const [focused, setFocused] = useState(openPath);
  const list = useRef<HTMLUListElement>(null);
  const typed = useRef({ text: '', at: 0 });
  /** Where the focus goes once more items are loaded: to the first new one. */
  const awaited = useRef<{ within: string; index: number } | null>(null);
  const entry = lines.some(({ path }) => path === focused) ? focused : lines[0]?.path;

  const focus = (path: string) => {
    setFocused(path);
    list.current?.querySelector<HTMLElement>(`[data-path="${CSS.escape(path)}"]`)?.focus();
  };

  const goOn = useRef(focus);
  goOn.current = focus;
  useEffect(() => {
    const item = awaited.current && folders.get(awaited.current.within)?.items[awaited.current.index];
    if (!awaited.current || item === undefined || item === null) return;
    const path = `${awaited.current.within}${item.name}${item.kind === 'dir' ? '/' : ''}`;
    awaited.current = null;
    goOn.current(path);
  }, [folders]);

  const onKeyDown = (event: KeyboardEvent) => {
    const { key } = event;
    if (entry === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    if (key === ' ') {
      event.preventDefault();
      (event.target as HTMLElement).click();
      return;
    }
    const step = treeStep(lines, entry, key, open);
    if (step !== null) {
      event.preventDefault();
      typed.current.text = '';
      if ('focus' in step) focus(step.focus);
      else if ('open' in step) toggle(step.open, true);
      else toggle(step.close, false);
      return;
    }
    if (key.startsWith('Arrow')) event.preventDefault();
    if (key.length !== 1) {
      typed.current.text = '';
      return;
    }
    event.preventDefault();
    const now = event.timeStamp;
    typed.current = { text: now - typed.current.at < TYPING_MS ? typed.current.text + key : key, at: now };
    const found = typeAhead(lines, entry, typed.current.text);
    if (found !== null) focus(found);
  };

  const onClick = (event: MouseEvent, line: TreeLine) => {
    setFocused(line.path);
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    if (line.kind === 'more') {
      event.preventDefault();
      awaited.current = { within: line.within, index: folders.get(line.within)?.items.length ?? 0 };
      more(line.within);
    } else if (line.kind === 'dir') {
      if (line.path === openPath) event.preventDefault();
      toggle(line.path, line.path !== openPath || !open.has(line.path));
    }
  };

  if (lines.length === 0) return <p className="py-2 text-ink-2">No files.</p>;
  return (
    <>
      <ul
        ref={list}
        className="tree max-h-[22rem] overflow-y-auto overflow-x-hidden lg:max-h-[46rem]"
        aria-label={`Files in ${volume}`}
        role={ready ? 'tree' : undefined}
        onKeyDown={onKeyDown}
      >
        {lines.map((line) => {
          const { path, kind, level, size, within } = line;
          const folder = kind === 'dir';
          const shown = (folders.get(within)?.items.length ?? 0) + FOLDER_PAGE;
          return (
            <li key={path} role={ready ? 'none' : undefined}>
              <Link
                href={
                  kind === 'more' ? fileAddress(place, volume, within, { shown }) : fileAddress(place, volume, path)
                }
                prefetch={false}
                scroll={false}
                role={ready ? 'treeitem' : undefined}
                aria-level={ready ? level : undefined}
                aria-expanded={ready && folder ? open.has(path) : undefined}
                aria-current={path === openPath ? 'true' : undefined}
                tabIndex={ready && path !== entry ? -1 : undefined}
                data-path={path}
                className={`level-${Math.min(level, DEEPEST)}`}
                title={kind === 'more' ? undefined : path}
                onClick={(event) => onClick(event, line)}
                onFocus={() => setFocused(path)}
              >
                <span className="twist" aria-hidden="true">
                  {folder ? (open.has(path) ? '▾' : '▸') : ''}
                </span>
                <span className="name">
                  {words(line)}
                  {folder && '/'}
                </span>
                {kind === 'file' && <span className="text-small text-ink-3">{sizeInWords(size)}</span>}
                {kind === 'link' && <span className="text-small text-ink-3">link</span>}
              </Link>
            </li>
          );
        })}
      </ul>
      <Outcome outcome={refusal} />
    </>
  );
}

'use client';
import { useRouter } from 'next/navigation';
import { createContext, type ReactNode, use, useEffect, useMemo, useRef, useState } from 'react';
/**
 * The context of a sandbox's file pages: it uploads dropped files, keeps deleted ones for undo until the page is left,
 * and tells the tree which folders changed. It stays mounted while the visitor moves between files.
 */
import { callMark } from '../calls/call-mark.ts';
import { type ActionOutcome, Outcome } from '../ui/outcome.tsx';
import { type Chosen, droppedFiles } from './dropped-files.ts';
import { type FilesPage, fileAddress, type VolumeName } from './file-address.ts';
import { type DeletedFile, deleteWithUndo, undoDelete } from './file-calls.ts';
import { folderOf, foldersAbove } from './file-tree.ts';
import { UploadList, useUploads } from './uploads.tsx';

/** Tells the tree to reload these folders. A new object for each change. */
interface Change {
  volume: VolumeName;
  folders: readonly string[];
}

interface FilesContextValue {
  /** False until the page's scripts run; until then plain forms are used. */
  ready: boolean;
  change: Change | null;
  remove(volume: VolumeName, path: string): Promise<void>;
  upload(volume: VolumeName, folder: string, chosen: Chosen): void;
}

const DeskContext = createContext<FilesContextValue>({
  ready: false,
  change: null,
  remove: async () => {},
  upload: () => {},
});

/** The context's value. Throws outside the provider. */
export function useFiles(): FilesContextValue {
  return use(DeskContext);
}

interface Deleted {
  key: number;
  deletedFile: DeletedFile;
  /** The outcome of the undo. */
  outcome: ActionOutcome | null;
  busy: boolean;
}

const KEPT = 5;

/** `blocked`: nothing can be written now. `folder`: where dropped files go. */
export function FilesProvider({
  place,
  volume,
  folder,
  blocked,
  bar,
  children,
}: {
  place: FilesPage;
  volume: VolumeName;
  folder: string;
  blocked: boolean;
  /** Shown above the files. */
  bar: ReactNode;
  children: ReactNode;
}) {
  const router = useRouter();
  const [ready, setReady] = useState(false);
  const [change, setChange] = useState<Change | null>(null);
  const [deleted, setDeleted] = useState<readonly Deleted[]>([]);
  const [outcome, setOutcome] = useState<ActionOutcome | null>(null);
  const [over, setOver] = useState(false);
  const count = useRef(0);
  const box = useRef<HTMLDivElement>(null);
  const { id } = place;
  useEffect(() => setReady(true), []);

  const changed = (where: VolumeName, paths: readonly string[]) => {
    const folders = new Set(paths.map(folderOf));
    // A new folder changes the folder above it too.
    setChange({ volume: where, folders: [...new Set([...folders].flatMap(foldersAbove))] });
    router.refresh();
  };
  const uploads = useUploads(place, changed);
  const target = useRef({ volume, folder, add: uploads.add });
  target.current = { volume, folder, add: uploads.add };

  useEffect(() => {
    if (blocked) return;
    const files = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
    const onOver = (event: DragEvent) => {
      if (!files(event)) return;
      event.preventDefault();
      if (event.dataTransfer !== null) event.dataTransfer.dropEffect = 'copy';
      setOver(true);
    };
    const onLeave = (event: DragEvent) => {
      // Out of the window.
      if (event.relatedTarget === null) setOver(false);
    };
    const onDrop = async (event: DragEvent) => {
      if (!files(event) || event.dataTransfer === null) return;
      event.preventDefault();
      setOver(false);
      const { volume: into, folder: below, add } = target.current;
      try {
        add(into, below, await droppedFiles(event.dataTransfer));
      } catch {
        setOutcome({ ok: false, says: 'What was dropped could not be read.', hint: 'Choose the files with “Upload”.' });
      }
    };
    // Anywhere on the page, and before the guard that keeps other drops from leaving the console.
    document.addEventListener('dragover', onOver);
    document.addEventListener('dragleave', onLeave);
    document.addEventListener('drop', onDrop);
    return () => {
      document.removeEventListener('dragover', onOver);
      document.removeEventListener('dragleave', onLeave);
      document.removeEventListener('drop', onDrop);
    };
  }, [blocked]);

  const remove = async (where: VolumeName, path: string) => {
    setOutcome(null);
    const result = await deleteWithUndo(id, where, path);
    if (!('content' in result)) {
      setOutcome(result);
      return;
    }
    count.current += 1;
    const fresh = { key: count.current, deletedFile: result, outcome: null, busy: false };
    setDeleted((before) => [...before, fresh].slice(-KEPT));
    changed(where, [path]);
    router.push(fileAddress(place, where, folderOf(path)), { scroll: false });
  };

  // The delete button is gone with its file: the focus moves to Undo.
  const newest = deleted.at(-1)?.key;
  useEffect(() => {
    if (newest !== undefined) box.current?.querySelector<HTMLElement>(`[data-undo="${newest}"]`)?.focus();
  }, [newest]);

  const undo = async ({ key, deletedFile }: Deleted) => {
    const mark = (how: Partial<Deleted>) =>
      setDeleted((all) => all.map((one) => (one.key === key ? { ...one, ...how } : one)));
    mark({ busy: true, outcome: null });
    const became = await undoDelete(id, deletedFile);
    if (!became.ok) {
      mark({ busy: false, outcome: became });
      return;
    }
    setDeleted((all) => all.filter((one) => one.key !== key));
    setOutcome(became);
    box.current?.focus({ preventScroll: true });
    changed(deletedFile.volume, [deletedFile.path]);
    router.push(fileAddress(place, deletedFile.volume, deletedFile.path), { scroll: false });
  };

  const act = useRef({ remove, upload: uploads.add });
  act.current = { remove, upload: uploads.add };
  const desk = useMemo<FilesContextValue>(
    () => ({
      ready,
      change,
      remove: (where, path) => act.current.remove(where, path),
      upload: (where, below, chosen) => act.current.upload(where, below, chosen),
    }),
    [ready, change],
  );

  return (
    <DeskContext value={desk}>
      <div ref={box} tabIndex={-1} className={over ? 'desk desk-over' : 'desk'}>
        {bar}
        <div aria-live="polite">
          {deleted.map((one) => (
            <div key={one.key} className="mt-4 grid gap-1">
              <p className="flex flex-wrap items-center gap-3">
                <span className="min-w-0 [overflow-wrap:anywhere]">{`/${one.deletedFile.volume}${one.deletedFile.path} is deleted.`}</span>
                <button
                  type="button"
                  className="button button-quiet"
                  {...callMark({
                    name: 'putFile',
                    path: { id, volume: one.deletedFile.volume, path: one.deletedFile.path },
                    headers: { 'if-none-match': '*' },
                  })}
                  data-undo={one.key}
                  aria-label={`Undo: put ${one.deletedFile.path} back`}
                  aria-busy={one.busy}
                  onClick={() => {
                    if (!one.busy) void undo(one);
                  }}
                >
                  {one.busy ? 'Putting it back…' : 'Undo'}
                </button>
                <span className="text-small text-ink-3">Possible until you leave this page.</span>
              </p>
              <Outcome outcome={one.outcome} />
            </div>
          ))}
        </div>
        {outcome !== null && (
          <div className="mt-4">
            <Outcome outcome={outcome} />
          </div>
        )}
        <UploadList place={place} uploads={uploads} />
        {children}
      </div>
    </DeskContext>
  );
}

'use client';
import Link from 'next/link';
import { useEffect, useReducer, useRef, useState } from 'react';
/** Uploads files into a sandbox, two at a time: the queue and the state of each. */
import { callMark, type MarkedCall } from '../calls/call-mark.ts';
import { sizeInWords } from '../ui/durations.ts';
import { useUnsavedQuestion } from '../ui/use-unsaved-question.ts';
import { type Chosen, MAX_CHOSEN } from './dropped-files.ts';
import { bytesAddress, type FilesPage, fileAddress, type VolumeName } from './file-address.ts';
import { sendFile } from './file-calls.ts';
import { type QueuedUpload, queueInWords, toBegin, uploadQueue } from './upload-queue.ts';

export interface Uploads {
  queue: readonly QueuedUpload[];
  /** Whether the last drop held more than is taken at once. */
  more: boolean;
  add(volume: VolumeName, folder: string, chosen: Chosen): void;
  stop(key: string): void;
  again(key: string): void;
  replace(key: string): void;
  dismiss(key: string): void;
  clear(): void;
}

/** Whether an address is another part of the files that are shown: what is on its way goes on. */
function isOfFiles(to: URL | null): boolean {
  return to?.pathname === location.pathname && (to.searchParams.get('tab') ?? 'files') === 'files';
}

/** Calls `onChanged` with the paths of the new files of each volume once the queue is empty. */
export function useUploads(
  place: FilesPage,
  onChanged: (volume: VolumeName, paths: readonly string[]) => void,
): Uploads {
  const [queue, act] = useReducer(uploadQueue, []);
  const [more, setMore] = useState(false);
  const files = useRef(new Map<string, File>());
  const running = useRef(new Map<string, AbortController>());
  const written = useRef<{ volume: VolumeName; path: string }[]>([]);
  const count = useRef(0);
  const changed = useRef(onChanged);
  changed.current = onChanged;

  const busy = queue.some(({ state }) => state === 'waiting' || state === 'sending');
  useUnsavedQuestion((to) => busy && !isOfFiles(to), 'Files are still on their way. Leave them unsent?');

  useEffect(() => {
    for (const upload of toBegin(queue)) {
      const { key, address, replace, volume, path } = upload;
      const file = files.current.get(key);
      if (file === undefined || running.current.has(key)) continue;
      const stop = new AbortController();
      running.current.set(key, stop);
      act({ type: 'start', key });
      const onSent = (bytes: number) => act({ type: 'sent', key, bytes });
      void sendFile(address, file, { replace, signal: stop.signal, onSent }).then((end) => {
        running.current.delete(key);
        if (end.state === 'done') {
          files.current.delete(key);
          written.current.push({ volume, path });
        }
        act({ type: 'end', key, end });
      });
    }
    if (!busy && written.current.length > 0) {
      const all = written.current.splice(0);
      for (const volume of new Set(all.map((one) => one.volume))) {
        const here = all.filter((one) => one.volume === volume);
        changed.current(
          volume,
          here.map(({ path }) => path),
        );
      }
    }
  }, [queue, busy]);
  useEffect(() => {
    const all = running.current;
    return () => {
      for (const stop of all.values()) stop.abort();
    };
  }, []);

  return {
    queue,
    more,
    add(volume, folder, chosen) {
      setMore(chosen.more);
      const waiting = chosen.files.map(({ file, relativePath }) => {
        count.current += 1;
        const key = String(count.current);
        const path = folder + relativePath;
        files.current.set(key, file);
        const page = fileAddress(place, volume, path);
        return { key, volume, path, page, address: bytesAddress(place, volume, path), size: file.size };
      });
      act({ type: 'add', files: waiting });
    },
    stop(key) {
      const stop = running.current.get(key);
      if (stop === undefined) act({ type: 'end', key, end: { state: 'stopped' } });
      else stop.abort();
    },
    again: (key) => act({ type: 'again', key }),
    replace: (key) => act({ type: 'replace', key }),
    dismiss(key) {
      files.current.delete(key);
      act({ type: 'dismiss', key });
    },
    clear() {
      setMore(false);
      act({ type: 'clear' });
    },
  };
}

function Button({ name, path, call, onClick }: { name: string; path: string; call?: MarkedCall; onClick: () => void }) {
  return (
    <button
      type="button"
      className="button button-quiet"
      aria-label={`${name}: ${path}`}
      {...(call === undefined ? {} : callMark(call))}
      onClick={onClick}
    >
      {name}
    </button>
  );
}

function Line({ place, upload, uploads }: { place: FilesPage; upload: QueuedUpload; uploads: Uploads }) {
  const { key, volume, path, page, size, sent, state, says, replace } = upload;
  const put = (over: boolean): MarkedCall => ({
    name: 'putFile',
    path: { id: place.id, volume, path },
    headers: over ? {} : { 'if-none-match': '*' },
  });
  return (
    <li className="grid gap-1 border-b border-rule py-2">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
        <code className="min-w-0 text-[0.8125rem] [overflow-wrap:anywhere]">
          {state === 'done' ? (
            <Link href={page} prefetch={false} scroll={false}>
              {path}
            </Link>
          ) : (
            path
          )}
        </code>
        <span className="flex items-center gap-2 text-small text-ink-2">
          {state === 'waiting' && 'waits'}
          {state === 'sending' && `${sizeInWords(sent)} of ${sizeInWords(size)}`}
          {state === 'done' && `there, ${sizeInWords(size)}`}
          {state === 'stopped' && 'broken off'}
          {(state === 'waiting' || state === 'sending') && (
            <Button name="Break off" path={path} onClick={() => uploads.stop(key)} />
          )}
          {(state === 'failed' || state === 'stopped') && (
            <>
              <Button name="Try again" path={path} call={put(replace)} onClick={() => uploads.again(key)} />
              <Button name="Leave it" path={path} onClick={() => uploads.dismiss(key)} />
            </>
          )}
        </span>
      </div>
      {state === 'sending' && (
        <progress className="progress" aria-label={`Sent of ${path}`} max={Math.max(1, size)} value={sent} />
      )}
      {state === 'failed' && <p className="complaint">{says}</p>}
      {state === 'exists' && (
        <div className="flex flex-wrap items-center gap-2 text-small">
          <span>There is a file of that name already.</span>
          <Button name="Replace it" path={path} call={put(true)} onClick={() => uploads.replace(key)} />
          <Button name="Leave it" path={path} onClick={() => uploads.dismiss(key)} />
        </div>
      )}
    </li>
  );
}

/** Lines shown; those that need a decision come first. */
const SHOWN = 50;
const URGENCY: Readonly<Record<QueuedUpload['state'], number>> = {
  exists: 0,
  failed: 0,
  sending: 1,
  waiting: 2,
  stopped: 3,
  done: 3,
};

export function UploadList({ place, uploads }: { place: FilesPage; uploads: Uploads }) {
  const { queue, more } = uploads;
  const lines = [...queue].sort((a, b) => URGENCY[a.state] - URGENCY[b.state]).slice(0, SHOWN);
  return (
    <>
      <p role="status" className={queue.length === 0 ? 'sr-only' : 'mt-4 text-small text-ink-2'}>
        {queueInWords(queue)}
      </p>
      {more && (
        <p role="alert" className="complaint">
          Only the first {MAX_CHOSEN.toLocaleString('en')} files are taken at once. Send the others by themselves.
        </p>
      )}
      {queue.length > 0 && (
        <div className="mb-4">
          <ul aria-label="Files on their way" className="border-t border-rule">
            {lines.map((upload) => (
              <Line key={upload.key} place={place} upload={upload} uploads={uploads} />
            ))}
          </ul>
          <div className="mt-2 flex flex-wrap items-center gap-4 text-small text-ink-3">
            {queue.length > SHOWN && <span>{(queue.length - SHOWN).toLocaleString('en')} more.</span>}
            {queue.some(({ state }) => state === 'done' || state === 'stopped') && (
              <button type="button" className="button button-quiet" onClick={uploads.clear}>
                Clear what is done
              </button>
            )}
          </div>
        </div>
      )}
    </>
  );
}
